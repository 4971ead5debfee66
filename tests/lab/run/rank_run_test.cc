// One simulation over several ranks, which here are threads (tests/ranks/run_ranks starts processes by
// mpirun): the same history, and an end for all of them when one cannot go on.

#include "lab/run/rank_run.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <thread>

#include "analysis/judge/analyze.h"
#include "fabric/topology/fabric_file.h"
#include "lab/run/scenario_run.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/parallel.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/lab/support/thread_ranks.h"
#include "tests/support/nightly.h"
#include "tests/support/no_observer.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

namespace fs = std::filesystem;

/// Trims, marks, losses on a wire and retransmissions, between all planes.
constexpr const char* kIncast = R"(
name: incast
fabric: octet
end: 60us
seed: 3
workload:
  - incast: {from: "h[1-7]", to: h0, load: 60%, message: 100001B}
faults:
  - {at: 20us, wire_loss: {link: "p1.t0-1:u2", direction: up, loss: 20%, carrier: keep}}
expect:
  - no_qp_error
  - accounted
  - memory_intact
)";

Scenario incast(CaptureScope captures) {
  ScenarioOverrides overrides;
  overrides.captures = captures;
  return parse_scenario(read_yaml_text(kIncast, "incast.yaml"), {}, overrides);
}

/// The ranks behind rank 0, each a thread that takes jobs until it is dismissed.
class OtherRanks {
 public:
  OtherRanks(test::ThreadRanks& ranks, uint32_t count) : ranks_(ranks) {
    for (uint32_t rank = 1; rank < count; ++rank) {
      threads_.emplace_back([&ranks, rank] { take_rank_jobs(ranks.link(rank)); });
    }
  }
  ~OtherRanks() { dismiss_ranks(ranks_.link(0)); }
  OtherRanks(const OtherRanks&) = delete;
  OtherRanks& operator=(const OtherRanks&) = delete;

 private:
  test::ThreadRanks& ranks_;
  std::vector<std::jthread> threads_;
};

RunResult run_over(uint32_t count, const Scenario& scenario, RunOptions options) {
  if (count == 1) return run_scenario(scenario, options);
  test::ThreadRanks ranks(count);
  const OtherRanks others(ranks, count);
  options.ranks = &ranks.link(0);
  return run_scenario(scenario, options);
}

std::string events_of_run(const RunResult& result) {
  return netio::read_file(result.folder.path / "events.jsonl", size_t{1} << 26);
}

TEST_CASE("any number of ranks, and of threads of a rank: one history, the same verdict" *
          doctest::test_suite(test::kWholeRun)) {
  const test::TemporaryRuns runs;
  const Scenario scenario = incast(CaptureScope::kHosts);
  const RunResult alone = runs.run(scenario);
  REQUIRE(alone.verdict.metrics.trimmed > 0);
  REQUIRE(alone.verdict.metrics.lost > 0);
  struct Split {
    uint32_t ranks, threads;
  };
  for (const Split split : {Split{1, 3}, Split{2, 1}, Split{3, 1}, Split{2, 2}, Split{11, 1}}) {
    CAPTURE(split.ranks);
    CAPTURE(split.threads);
    RunOptions options = runs.options(World::kSim);
    options.threads = split.threads;
    const RunResult result = run_over(split.ranks, scenario, options);
    const analysis::Metrics& metrics = result.verdict.metrics;
    CHECK(metrics.history_sha256 == alone.verdict.metrics.history_sha256);
    CHECK(metrics.delivered == alone.verdict.metrics.delivered);
    CHECK(metrics.lost == alone.verdict.metrics.lost);
    CHECK(metrics.trimmed == alone.verdict.metrics.trimmed);
    CHECK(metrics.retransmitted == alone.verdict.metrics.retransmitted);
    CHECK(metrics.delivered_bytes == alone.verdict.metrics.delivered_bytes);
    CHECK(metrics.capture_records == alone.verdict.metrics.capture_records);
    CHECK(events_of_run(result) == events_of_run(alone));
    REQUIRE(result.verdict.checks.size() == alone.verdict.checks.size());
    for (size_t i = 0; i < result.verdict.checks.size(); ++i) {
      CAPTURE(result.verdict.checks[i].name);
      CHECK(result.verdict.checks[i].result == alone.verdict.checks[i].result);
      CHECK(result.verdict.checks[i].measured == alone.verdict.checks[i].measured);
      CHECK(result.verdict.checks[i].note == alone.verdict.checks[i].note);
    }
    CHECK(fs::is_empty(result.folder.reports()));
  }
}

/// What was joined from the captures of a run.
analysis::PacketHistory packets_of(const Topology& topology,
                                   const std::function<void(analysis::Evidence&)>& read) {
  analysis::Evidence evidence(topology, {}, FabricTime::from_us(60));
  read(evidence);
  evidence.absent(analysis::Witness::kEvents, "none");
  evidence.absent(analysis::Witness::kRecords, "none");
  evidence.finish();
  return evidence.packets();
}

TEST_CASE("the captures of several shards are one history, read in turn or at once" *
          doctest::test_suite(test::kWholeRun)) {
  const test::TemporaryRuns runs;
  const Scenario scenario = incast(CaptureScope::kAll);
  RunOptions options = runs.options(World::kSim);
  options.threads = 3;
  const RunResult result = run_scenario(scenario, options);
  const std::vector<fs::path> files = analysis::captures_in(result.folder.captures());
  REQUIRE(files.size() == 3);
  const analysis::PacketHistory in_turn =
      packets_of(scenario.topology, [&](analysis::Evidence& evidence) {
        for (const fs::path& file : files) evidence.add_capture(file);
      });
  const analysis::PacketHistory at_once =
      packets_of(scenario.topology, [&](analysis::Evidence& evidence) {
        evidence.add_captures(files, [](size_t count, const std::function<void(size_t)>& work) {
          netio::in_parallel(count, 3, work);
        });
      });
  REQUIRE(in_turn.packets().size() > 1000);
  REQUIRE(at_once.packets().size() == in_turn.packets().size());
  bool same = true;
  for (size_t i = 0; i < in_turn.packets().size(); ++i) {
    const analysis::Packet &one = in_turn.packets()[i], &other = at_once.packets()[i];
    same = same && one.psn == other.psn && one.delivered == other.delivered &&
           one.acknowledged == other.acknowledged && one.attempts == other.attempts &&
           one.nacks == other.nacks;
    const bool placed = one.placement != analysis::Attempt::kNone;
    REQUIRE(placed == (other.placement != analysis::Attempt::kNone));
    if (placed) same = same && in_turn.placement(one) == at_once.placement(other);
  }
  CHECK(same);
  CHECK(at_once.counters().records == in_turn.counters().records);
  CHECK(at_once.counters().passing == in_turn.counters().passing);
  CHECK(at_once.counters().passing > 0);
  CHECK(at_once.counters().sacks == in_turn.counters().sacks);
  CHECK(at_once.counters().trimmed == in_turn.counters().trimmed);
  CHECK(at_once.control().size() == in_turn.control().size());
  // And a file that was cut shortens what is covered either way.
  fs::resize_file(files[1], fs::file_size(files[1]) / 2);
  analysis::Evidence cut(scenario.topology, {}, FabricTime::from_us(60));
  cut.add_captures(files, [](size_t count, const std::function<void(size_t)>& work) {
    for (size_t i = count; i-- > 0;) work(i);
  });
  cut.finish();
  CHECK(cut.coverage().until(analysis::Witness::kPackets) == FabricTime::zero());
}

TEST_CASE("several ranks run one scenario after the other, and end early together") {
  const test::TemporaryRuns runs;
  const Scenario scenario = incast(CaptureScope::kNone);
  test::ThreadRanks ranks(3);
  const OtherRanks others(ranks, 3);
  RunOptions options = runs.options(World::kSim);
  options.ranks = &ranks.link(0);
  const RunResult whole = run_scenario(scenario, options);
  options.interrupted = [] { return true; };
  const RunResult early = run_scenario(scenario, options);
  CHECK(early.interrupted.find("judged that far") != std::string::npos);
  options.interrupted = nullptr;
  const RunResult again = run_scenario(scenario, options);
  CHECK(again.verdict.metrics.history_sha256 == whole.verdict.metrics.history_sha256);
  Scenario half = scenario;
  half.until = FabricTime::from_us(30);
  const RunResult shorter = run_scenario(half, options);
  CHECK(shorter.verdict.metrics.history_sha256 == runs.run(half).verdict.metrics.history_sha256);
  CHECK(shorter.verdict.metrics.history_sha256 != whole.verdict.metrics.history_sha256);
  CHECK(early.verdict.metrics.history_sha256 != whole.verdict.metrics.history_sha256);
}

/// Throws when its only event comes.
class Worn : public Node {
 public:
  explicit Worn(FabricTime at) : at_(at) {}
  void receive(PortId, Arrival&&) override {}
  void apply(const ScheduledEffect&) override {}
  FabricTime next_event() const override { return at_; }
  void run_until(FabricTime committed, FrameSink&) override {
    if (at_ <= committed) throw std::runtime_error("worn out");
  }

 private:
  FabricTime at_;
};

TEST_CASE("where a node of one rank throws, the other ranks end with it, and say who it was") {
  const Topology topology = read_fabric_file(find_fabric("octet"));
  for (const uint32_t threads : {1u, 2u}) {
    test::ThreadRanks ranks(3);
    test::NoObserver silence;
    std::vector<std::string> said(3);
    const auto simulate = [&](uint32_t rank) {
      try {
        run_on_all_ranks(&ranks.link(rank), [&] {
          SimWorld world(
              topology, {.threads = threads, .ranks = &ranks.link(rank)},
              [&](const NodeEnvironment& environment) -> std::unique_ptr<Node> {
                const bool last = environment.self == topology.host(topology.host_count() - 1);
                return std::make_unique<Worn>(last ? FabricTime::from_us(3) : FabricTime::never());
              },
              [&](NodeId) -> NodeObserver& { return silence; });
          world.run_until(FabricTime::from_us(10));
        });
      } catch (const std::exception& error) {
        said[rank] = error.what();
      }
    };
    {
      std::vector<std::jthread> others;
      for (const uint32_t rank : {1u, 2u}) others.emplace_back(simulate, rank);
      simulate(0);
    }
    CHECK(said == std::vector<std::string>{"rank 2 on test: worn out", "rank 2 on test: worn out",
                                           "worn out"});
  }
}

TEST_CASE("ranks that are to end at different instants do not wait for each other for ever") {
  const Topology topology = read_fabric_file(find_fabric("pair"));
  test::ThreadRanks ranks(2);
  test::NoObserver silence;
  std::vector<std::string> said(2);
  const auto simulate = [&](uint32_t rank) {
    SimWorld world(
        topology, {.ranks = &ranks.link(rank)},
        [&](const NodeEnvironment&) { return std::make_unique<Worn>(FabricTime::never()); },
        [&](NodeId) -> NodeObserver& { return silence; });
    try {
      world.run_until(FabricTime::from_us(10 + rank));
    } catch (const std::logic_error& error) {
      said[rank] = error.what();
    }
  };
  {
    const std::jthread other(simulate, 1);
    simulate(0);
  }
  CHECK(said == std::vector<std::string>(2, "the ranks have different ends"));
}

/// Ranks of which one sees another folder than rank 0, as on a machine without a shared file system.
class Elsewhere : public RankLink {
 public:
  explicit Elsewhere(RankLink& link) : link_(link) {}
  uint32_t rank() const override { return link_.rank(); }
  uint32_t count() const override { return link_.count(); }
  std::string machine() const override { return "elsewhere"; }
  WindowVote agree(const WindowVote& own) override { return link_.agree(own); }
  const std::vector<Bytes>& exchange(const std::vector<Bytes>& to) override {
    return link_.exchange(to);
  }
  std::vector<std::string> gather(const std::string& own) override {
    std::vector<std::string> texts = link_.gather(own);
    const size_t at = texts.front().find("/mrclab-test-");
    if (at != std::string::npos) texts.front().insert(at + 1, "other-");
    return texts;
  }

 private:
  RankLink& link_;
};

TEST_CASE("a rank that does not see the run folder says so, and nobody simulates") {
  const test::TemporaryRuns runs;
  test::ThreadRanks ranks(2);
  std::jthread other([&] {
    Elsewhere link(ranks.link(1));
    take_rank_jobs(link);
  });
  RunOptions options = runs.options(World::kSim);
  options.ranks = &ranks.link(0);
  std::string said;
  try {
    run_scenario(incast(CaptureScope::kNone), options);
  } catch (const std::runtime_error& error) {
    said = error.what();
  }
  dismiss_ranks(ranks.link(0));
  CHECK(said.find("rank 1 on elsewhere: it does not see the run folder of rank 0, ") == 0);
  CHECK(said.find("expected --out with a folder that all machines share") != std::string::npos);
}

}  // namespace
