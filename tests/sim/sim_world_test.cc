// The simulated world: what may not change its history, and what it does not touch.

#include "sim/sim_world.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <numeric>
#include <stdexcept>

#include "fabric/node/arrival_queue.h"
#include "fabric/topology/fabric_file.h"
#include "lab/run/scenario_run.h"
#include "lab/run/simulated_run.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/shipped_files.h"
#include "tests/support/nightly.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

/// A run folder root that goes away.
struct Scratch {
  fs::path path = fs::temp_directory_path() / ("mrclab-sim-test-" + std::to_string(::getpid()));
  Scratch() { fs::create_directories(path); }
  ~Scratch() { fs::remove_all(path); }
};

struct Story {
  const char* name;
  const char* text;
};

/// Between them: trims, tail drops, marks, random losses, dead wires and ports, retransmissions,
/// probes, NACKs, several queue pairs, messages that are no multiple of anything.
const std::vector<Story> kStories = {
    {"incast with trims and losses",
     "name: a\nfabric: octet\nend: 120us\nworkload:\n"
     "  - incast: {from: \"h[1-7]\", to: h0, load: 60%, message: 100001B}\n"
     "faults:\n  - {at: 40us, wire_loss: {link: \"p1.t0-0:u2\", direction: up, loss: 20%, carrier: "
     "keep}}\n"},
    {"an incast with trims, without carriers: headers are shorter than a trimmed frame",
     "name: e\nfabric: ecmp-octet\nend: 120us\nworkload:\n"
     "  - incast: {from: \"h[1-7]\", to: h0, load: 90%, message: 100001B}\n"},
    {"the same over IPv4",
     "name: f\nfabric: ecmp-octet-ipv4\nend: 120us\nworkload:\n"
     "  - incast: {from: \"h[1-7]\", to: h0, load: 90%, message: 100001B}\n"},
    {"all-reduce through an optic's glitch, no trims, a fixed window",
     "name: b\nfabric: {name: f, planes: 4, t0: 2, t1: 2, hosts_per_t0: 2, trim: off}\nend: 250us\n"
     "seed: 7\ntransport: {congestion_control: fixed, window_percent: 800}\n"
     "workload:\n  - all_reduce: {hosts: all, size: 1MiB, until: end}\n"
     "faults:\n  - {at: 100us, optic_glitch: {optic: \"p0.t0-0:o0\", down: 30us, stagger: 5us}}\n"},
    {"two queue pairs each over a flapping link",
     "name: c\nfabric: hall\nend: 90us\nworkload:\n"
     "  - permutation: {hosts: all, load: 95%, message: 70000B, shift: 5, qps: 2}\n"
     "faults:\n  - {at: 30us, link_down: {link: \"p1.t0-0:u2\", for: 25us}}\n"},
    {"hosts that lose their power, and their memory, while packets of theirs are under way",
     "name: d\nfabric: octet\nend: 90us\nworkload:\n"
     "  - permutation: {hosts: all, load: 20%, message: 64KiB, shift: 4}\n"
     "  - ping_pong: {from: h0, to: h4, size: 64B, until: end}\n"
     "faults:\n  - {at: 2us, host_restart: {host: h0, down: 10us}}\n"}};

ScenarioOverrides payload(bool elided, std::optional<CaptureScope> captures = {}) {
  ScenarioOverrides overrides;
  overrides.payload_elided = elided;
  overrides.captures = captures;
  return overrides;
}

analysis::Verdict run(const Story& story, const Scratch& scratch,
                      const ScenarioOverrides& overrides, uint32_t threads = 1) {
  const bool real = overrides.payload_elided == false;
  const std::string text = std::string(story.text) + (real ? "expect: [memory_intact]\n" : "");
  const Scenario scenario = parse_scenario(read_yaml_text(text, "f.yaml"), {}, overrides);
  RunOptions options;
  options.world = World::kSim;
  options.runs_root = scratch.path;
  options.threads = threads;
  options.history_bytes = 0;
  return run_scenario(scenario, options).verdict;
}

std::string events_of_latest(const Scratch& scratch) {
  return netio::read_file(scratch.path / "latest" / "events.jsonl", size_t{1} << 26);
}

/// The verdict's counts of the bytes that hosts compared.
std::string memory_intact(const analysis::Verdict& verdict) {
  for (const analysis::CheckResult& check : verdict.checks) {
    if (check.unit != "bytes wrong") continue;
    return std::to_string(*check.measured) + ": " +
           (check.looked ? to_string(*check.looked) : check.note);
  }
  return "not asked";
}

class Silence : public NodeObserver {
 public:
  void packet(const PacketRecord&) override {}
  void event(const EventRecord&) override {}
};

/// Has one event at a given instant, and counts how often it is run.
class Clockwork : public Node {
 public:
  Clockwork(FabricTime at, bool throws, uint64_t& runs) : at_(at), throws_(throws), runs_(runs) {}
  void receive(PortId, Arrival&&) override {}
  void apply(const ScheduledEffect&) override {}
  FabricTime next_event() const override { return at_; }
  void run_until(FabricTime committed, FrameSink&) override {
    ++runs_;
    if (at_ > committed) return;
    if (throws_) throw std::runtime_error("worn out");
    at_ = at_ + FabricTime::from_us(2);
  }

 private:
  FabricTime at_;
  bool throws_;
  uint64_t& runs_;
};

TEST_CASE("payload real and elided: the same history, captures and counts") {
  const Scratch scratch;
  uint64_t trimmed = 0, lost = 0, retransmitted = 0;
  for (const Story& story : kStories) {
    INFO(story.name);
    const analysis::Verdict real = run(story, scratch, payload(false));
    const std::string events = events_of_latest(scratch);
    // Nobody looks at bytes: payload stays where it is sent from until its receiver takes it.
    const analysis::Verdict lent = run(story, scratch, payload(false, CaptureScope::kNone));
    CHECK(lent.metrics.history_sha256 == real.metrics.history_sha256);
    CHECK(lent.metrics.delivered_bytes == real.metrics.delivered_bytes);
    CHECK(memory_intact(lent) == memory_intact(real));
    CHECK(memory_intact(lent).find(" bytes verified") != std::string::npos);
    CHECK(events_of_latest(scratch) == events);
    const analysis::Verdict elided = run(story, scratch, payload(true));
    CHECK(elided.metrics.history_sha256 == real.metrics.history_sha256);
    CHECK(elided.metrics.delivered == real.metrics.delivered);
    CHECK(elided.metrics.delivered_bytes == real.metrics.delivered_bytes);
    CHECK(events_of_latest(scratch) == events);
    CHECK(real.metrics.delivered > 1000);
    CHECK(nlohmann::json::parse(analysis::to_json(real))["payload"] == "real");
    CHECK(nlohmann::json::parse(analysis::to_json(elided))["payload"] == "elided");
    CHECK(analysis::to_table(elided).find("payload elided") != std::string::npos);
    const std::string_view text = story.text;
    if (text.find("incast") != text.npos) CHECK(elided.metrics.trimmed > 0);
    trimmed += elided.metrics.trimmed;
    lost += elided.metrics.lost;
    retransmitted += elided.metrics.retransmitted;
  }
  CHECK(trimmed > 0);  // or the stories prove less than they claim
  CHECK(lost > 0);
  CHECK(retransmitted > 0);
}

TEST_CASE("the number of threads changes neither history nor events" *
          doctest::test_suite(test::kWholeRun)) {
  const Scratch scratch;
  for (const Story& story : kStories) {
    for (const bool elided : {false, true}) {
      INFO(story.name);
      const ScenarioOverrides overrides = payload(elided, CaptureScope::kNone);
      const analysis::Verdict one = run(story, scratch, overrides);
      const std::string events = events_of_latest(scratch);
      for (const uint32_t threads : {2u, 3u, 7u}) {
        CAPTURE(threads);
        const analysis::Verdict many = run(story, scratch, overrides, threads);
        CHECK(many.metrics.history_sha256 == one.metrics.history_sha256);
        CHECK(events_of_latest(scratch) == events);
      }
    }
  }
}

TEST_CASE("what the options of a run contradict is said before anything is made") {
  const Scratch scratch;
  const auto refused = [&](const std::string& text, World world) -> std::string {
    const Scenario scenario = parse_scenario(read_yaml_text(text, "f.yaml"), {}, payload(true));
    RunOptions options;
    options.world = world;
    options.runs_root = scratch.path;
    try {
      run_scenario(scenario, options);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const std::string kernel =
      "name: a\ntiming: wall\ndilation: 5000\nend: 9us\n"
      "fabric: {name: f, planes: 2, t0: 2, t1: 1, hosts_per_t0: 1, forwarding: kernel}\n"
      "workload:\n  - incast: {from: h1, to: h0, load: 9%, message: 4096B}\n";
  const std::string program =
      "name: a\nfabric: pair\ntiming: wall\ndilation: 2000\nend: 800us\n"
      "workload:\n  - exec: {host: h0, command: 'true'}\n";
  const std::string found = "a: found \"payload: elided\" beside ";
  CHECK(refused(kernel, World::kLive) ==
        found + "\"forwarding: kernel\": expected real, or --world sim");
  CHECK(refused(program, World::kLive) == found + "\"exec\": expected real");
  CHECK(refused(program, World::kSim).find("expected --world live") != std::string::npos);
  CHECK(fs::is_empty(scratch.path));
}

/// Sends a frame out of each port every 2 ns, which takes a microsecond, and counts them.
class Chatter : public Node {
 public:
  Chatter(size_t ports, uint64_t& sent) : ports_(ports), sent_(sent) {}
  void receive(PortId, Arrival&&) override {}
  void apply(const ScheduledEffect&) override {}
  FabricTime next_event() const override { return at_; }
  void run_until(FabricTime committed, FrameSink& out) override {
    for (; at_ <= committed; at_ += FabricTime::from_ns(2)) {
      for (uint32_t port = 0; port < ports_; ++port) {
        Transmission transmission;
        transmission.port = PortId{port};
        transmission.start = transmission.end = at_;
        transmission.flight = FabricTime::from_us(1);
        out.transmit(std::move(transmission));
        ++sent_;
      }
    }
  }

 private:
  size_t ports_;
  uint64_t& sent_;
  FabricTime at_;
};

TEST_CASE(
    "a window of many nodes has frames for each, one between ranks no more than a message holds") {
  CHECK(SimWorld::frames_at_once(64, 1, kHeaderRoom) == 1u << 18);
  CHECK(SimWorld::frames_at_once(64, 2, kHeaderRoom) == 2u << 18);
  CHECK(SimWorld::frames_at_once(137'216, 1, kHeaderRoom) == 64 * 137'216);
  const uint64_t two = SimWorld::frames_at_once(137'216, 2, kHeaderRoom);
  CHECK(two < 64 * 137'216);
  CHECK(two / 2 * kHeaderRoom.frame <= 256u << 20);
}

TEST_CASE("however much happens in one lookahead, whether to go on is asked in between") {
  const Topology topology = read_fabric_file(lab::find_fabric("octet"));
  Silence silence;
  for (const uint32_t threads : {1u, 3u}) {
    std::vector<uint64_t> sent(topology.nodes.size());  // by node: threads share nothing
    constexpr uint64_t kAtOnce = 1000;                  // in a lookahead of octet are 90,000
    SimWorld world(
        topology, {.threads = threads, .frames_at_once = kAtOnce},
        [&](const NodeEnvironment& environment) -> std::unique_ptr<Node> {
          const NodeId node = environment.self;
          return std::make_unique<Chatter>(topology.node(node).ports.size(), sent[node.value]);
        },
        [&](NodeId) -> NodeObserver& { return silence; });
    uint64_t before = 0, most = 0;
    world.run_until(FabricTime::from_us(5), [&](FabricTime) {
      const uint64_t all = std::accumulate(sent.begin(), sent.end(), uint64_t{0});
      most = std::max(most, all - before);
      before = all;
      return true;
    });
    CHECK(before == 2501 * topology.all_wires().size());
    CHECK(most <= 2 * kAtOnce);
  }
}

TEST_CASE("where a run is stopped, all nodes have come equally far, and it can go on from there") {
  constexpr FabricTime kEnd = FabricTime::from_us(900);
  const Topology topology = read_fabric_file(lab::find_fabric("octet"));
  Silence silence;
  for (const uint32_t threads : {1u, 3u}) {
    std::vector<uint64_t> sent(topology.nodes.size());  // by node: threads share nothing
    SimWorld world(
        topology, {.threads = threads},
        [&](const NodeEnvironment& environment) -> std::unique_ptr<Node> {
          const NodeId node = environment.self;
          return std::make_unique<Chatter>(topology.node(node).ports.size(), sent[node.value]);
        },
        [&](NodeId) -> NodeObserver& { return silence; });
    for (int windows = 1; windows < 30; ++windows) {
      int left = windows;
      world.run_until(kEnd, [&](FabricTime) { return --left > 0; });
      const auto rounds = static_cast<uint64_t>(world.now().ps() / 2000 + 1);
      for (const NodeSite& site : topology.nodes) {
        CHECK(sent[site.id.value] == rounds * site.ports.size());
      }
    }
    CHECK(world.now() > FabricTime::from_us(20));
    CHECK(world.now() < kEnd);
  }
}

/// Has nothing to do until something arrives, which it counts.
class Listener : public Node {
 public:
  /// `shows`: the world may put arrivals into its queue itself.
  Listener(size_t ports, bool shows, FramePool& frames, uint64_t& heard)
      : arrivals_(ports, FabricTime::zero(), kHeaderBytes),
        shows_(shows),
        frames_(frames),
        heard_(heard) {}
  void receive(PortId port, Arrival&& arrival) override {
    arrivals_.push(port, std::move(arrival));
  }
  ArrivalQueue* arrivals() override { return shows_ ? &arrivals_ : nullptr; }
  void apply(const ScheduledEffect&) override {}
  FabricTime next_event() const override { return arrivals_.next_time(); }
  void run_until(FabricTime committed, FrameSink&) override {
    for (; arrivals_.next_time() <= committed; ++heard_) arrivals_.pop(frames_);
  }

 private:
  ArrivalQueue arrivals_;
  bool shows_;
  FramePool& frames_;
  uint64_t& heard_;
};

TEST_CASE("a node wakes when something arrives, whichever way it takes arrivals in") {
  const Topology topology = read_fabric_file(lab::find_fabric("octet"));
  Silence silence;
  for (const uint32_t threads : {1u, 3u}) {
    for (const bool shows : {false, true}) {
      std::vector<uint64_t> counts(topology.nodes.size());  // sent by hosts, received by switches
      SimWorld world(
          topology, {.threads = threads},
          [&](const NodeEnvironment& environment) -> std::unique_ptr<Node> {
            const NodeSite& site = topology.node(environment.self);
            uint64_t& count = counts[site.id.value];
            if (site.role == NodeRole::kHost) {
              return std::make_unique<Chatter>(site.ports.size(), count);
            }
            return std::make_unique<Listener>(site.ports.size(), shows, environment.frames, count);
          },
          [&](NodeId) -> NodeObserver& { return silence; });
      world.run_until(FabricTime::from_us(5));
      for (const NodeSite& site : topology.nodes) {
        if (site.role == NodeRole::kHost) continue;
        const auto from_hosts = std::count_if(
            site.ports.begin(), site.ports.end(),
            [&](const Port& p) { return topology.node(p.peer.node).role == NodeRole::kHost; });
        CHECK(counts[site.id.value] == 2001 * static_cast<uint64_t>(from_hosts));  // up to 4 us
      }
    }
  }
}

TEST_CASE("a node without an event is not touched, however long the others run") {
  const Topology topology = read_fabric_file(lab::find_fabric("octet"));
  Silence silence;
  std::vector<uint64_t> runs(topology.nodes.size());
  SimWorld world(
      topology, {},
      [&](const NodeEnvironment& environment) -> std::unique_ptr<Node> {
        const uint32_t node = environment.self.value;
        const FabricTime at = node == 3 ? FabricTime::zero() : FabricTime::never();
        return std::make_unique<Clockwork>(at, false, runs[node]);
      },
      [&](NodeId) -> NodeObserver& { return silence; });
  CHECK(world.run_until(FabricTime::from_us(199)));
  for (size_t node = 0; node < runs.size(); ++node) CHECK(runs[node] == (node == 3 ? 100 : 0));
}

TEST_CASE("what a node throws comes out of the world, from any thread") {
  const Topology topology = read_fabric_file(lab::find_fabric("octet"));
  Silence silence;
  for (const uint32_t threads : {1u, 4u}) {
    uint64_t runs = 0;
    SimWorld world(
        topology, {.threads = threads},
        [&](const NodeEnvironment& environment) -> std::unique_ptr<Node> {
          const bool broken = environment.self.value == 7;  // the last host: another thread's
          const FabricTime at = broken ? FabricTime::from_us(5) : FabricTime::never();
          return std::make_unique<Clockwork>(at, broken, runs);
        },
        [&](NodeId) -> NodeObserver& { return silence; });
    CHECK_THROWS_WITH(world.run_until(FabricTime::from_us(10)), "worn out");
  }
}

}  // namespace
}  // namespace mrclab::lab
