// The graph that a `job:` entry becomes, against what is worked out by hand.

#include "job/plan/plan_job.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "job/measure/job_measures.h"
#include "job/plan/compute_time.h"
#include "job/plan/job_groups.h"
#include "job/plan/job_keys.h"
#include "job/plan/phase_order.h"
#include "job/plan/placement.h"
#include "job/run/ideal_run.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::job;

namespace {

constexpr IdealNetwork kPlanNetwork{BitRate::from_gbps(8),
                                    FabricTime::from_ns(100)};  // a byte a nanosecond

JobSpec job_entry(const std::string& body) {
  const Topology topology = test::octet();
  NameResolver names(topology, 1);
  return read_job(read_yaml_text(body, "a.yaml"), names);
}

FabricTime planned_time(const JobSpec& spec) {
  const PlannedJob job = plan_job(spec, 1);
  FabricTime last;
  for (const OpTime& time : ideal_times(JobProgram(job.graph), kPlanNetwork)) {
    REQUIRE(time.end != FabricTime::never());
    last = std::max(last, time.end);
  }
  return last;
}

/// "f0 f1 b0" of a rank's computing, in the order of the graph: the phases' first letters and how often they were there.
std::string computing_of(const PlannedJob& job, uint32_t rank) {
  std::map<std::string, int> seen;
  std::string text;
  for (uint32_t i = 0; i < job.graph.ops().size(); ++i) {
    const Op& op = job.graph.op(i);
    const std::string& label = job.labels[job.label_of[i]].text;
    if (op.rank != rank || op.kind != OpKind::kCompute || label == "step") continue;
    text += (text.empty() ? "" : " ") + label.substr(0, 1) + std::to_string(seen[label]++);
  }
  return text;
}

}  // namespace

TEST_CASE("groups stand inner to outer, and several dimensions are one group") {
  JobSpec spec;
  spec.hosts = {0, 1, 2, 3, 4, 5, 6, 7};
  spec.groups = {{"tp", 2}, {"pp", 2}, {"dp", 2}, {"pairs", 0, {{7, 0}}}};
  JobGroups groups(spec);
  using Ranks = std::vector<uint32_t>;
  CHECK(groups.named("tp").groups[1] == Ranks{2, 3});
  CHECK(groups.named("pp").groups[1] == Ranks{1, 3});
  CHECK(groups.named("dp").groups[3] == Ranks{3, 7});
  CHECK(groups.named("tp+dp").groups[0] == Ranks{0, 1, 4, 5});
  CHECK(groups.named("all").groups[0].size() == 8);
  CHECK(groups.named("pairs").place_of[0] == 1);
  CHECK(groups.named("pairs").group_of[3] == NamedGroups::kNone);
  CHECK(groups.place_in("pp", 6) == 1);
}

TEST_CASE("a stage runs stages - 1 - stage passes ahead, then one forward and one backward") {
  const auto text = [](uint32_t stage, uint32_t stages, uint32_t microbatches) {
    std::string turns;
    for (const PassTurn& turn : one_forward_one_backward(stage, stages, microbatches)) {
      turns += (turn.pass == Pass::kForward ? "f" : "b") + std::to_string(turn.microbatch);
    }
    return turns;
  };
  CHECK(text(3, 4, 2) == "f0b0f1b1");
  CHECK(text(1, 4, 4) == "f0f1f2b0f3b1b2b3");
  CHECK(text(0, 4, 2) == "f0f1b0b1");
}

TEST_CASE(
    "a step of tensor, pipeline and data parallel ranks has every exchange where it belongs") {
  const JobSpec spec = job_entry(
      "{hosts: all, groups: {tp: 2, pp: 2, dp: 2}, microbatches: 2, phases: ["
      "{forward: {compute: 10us, each: microbatch}},"
      "{sum: {all_reduce: {group: tp, size: 8KiB}, each: microbatch}},"
      "{acts: {send: {group: pp, to: next, size: 4KiB}, each: microbatch}},"
      "{backward: {compute: 20us, each: microbatch, pass: backward}},"
      "{back: {send: {group: pp, to: prev, size: 4KiB}, each: microbatch, pass: backward}},"
      "{grads: {reduce_scatter: {group: dp, size: 16KiB, parts: 2}, beside: backward}}]}");
  const PlannedJob job = plan_job(spec, 1);
  CHECK(computing_of(job, 0) == "f0 f1 b0 b1 b2");  // the last backward pass in two parts
  CHECK(computing_of(job, 2) == "f0 b0 f1 b1 b2");
  uint32_t sends = 0, receives = 0, sums = 0, grads = 0;
  for (const Op& op : job.graph.ops()) {
    if (op.rank != 0) continue;
    sends += op.kind == OpKind::kSend && op.peer == 2;
    receives += op.kind == OpKind::kReceive && op.peer == 2;
    if (op.kind != OpKind::kCollective) continue;
    const std::string& group = job.graph.groups()[op.group].name;
    sums += group == "tp";
    grads += group == "dp" && op.bytes == 8192;
  }
  CHECK(sends == 2);
  CHECK(receives == 2);
  CHECK(sums == 2);
  CHECK(grads == 2);
  CHECK(job.label_of.size() == job.graph.ops().size());
  CHECK(job.step_of.size() == job.graph.ops().size());
}

TEST_CASE("a pipeline takes m + p - 1 turns of a forward and a backward pass") {
  // Two stages, three micro-batches, 10 + 20 us a turn: (3 + 1) * 30 us, and what a message takes from stage to stage.
  const JobSpec spec = job_entry(
      "{hosts: [h0, h1], groups: {pp: 2}, microbatches: 3, phases: ["
      "{forward: {compute: 10us, each: microbatch}},"
      "{acts: {send: {size: 100B}, each: microbatch}},"
      "{backward: {compute: 20us, each: microbatch, pass: backward}},"
      "{back: {send: {to: prev, size: 100B}, each: microbatch, pass: backward}}]}");
  const FabricTime time = planned_time(spec);
  CHECK(time >= FabricTime::from_us(120));
  CHECK(time <= FabricTime::from_us(122));
}

TEST_CASE("what goes beside computing is hidden but for its last part") {
  // 4000 B over two ranks: a reduce-scatter of a part of 1000 B takes 500 ns and 100 ns on the way.
  const auto time = [](const char* grads) {
    return planned_time(job_entry(
        "{hosts: [h0, h1], phases: [{b: {compute: 100us}}, {g: {reduce_scatter: {size: 4000B" +
        std::string(grads) + "}]}"));
  };
  const FabricTime ack = FabricTime::from_ns(100);
  CHECK(time("}, after: b}") == FabricTime::from_us(100) + FabricTime::from_ns(2100) + ack);
  CHECK(time(", parts: 4}, beside: b}") ==
        FabricTime::from_us(100) + FabricTime::from_ns(600) + ack);
  CHECK(time("}, after: []}") == FabricTime::from_us(100));
}

TEST_CASE("what goes once beside micro-batches goes with the last of them") {
  const FabricTime time = planned_time(job_entry(
      "{hosts: [h0, h1], microbatches: 3, phases: [{b: {compute: 100us, each: microbatch}},"
      "{g: {reduce_scatter: {size: 4000B, parts: 4}, beside: b}}]}"));
  CHECK(time == FabricTime::from_us(300) + FabricTime::from_ns(600) + FabricTime::from_ns(100));
}

TEST_CASE("messages to the right go round, those to the next end at the last rank") {
  const auto sends = [](const char* to) {
    const PlannedJob job = plan_job(
        job_entry("{hosts: \"h[0-3]\", phases: [{s: {send: {group: all, to: " + std::string(to) +
                  ", size: 8B}}}]}"),
        1);
    return std::count_if(job.graph.ops().begin(), job.graph.ops().end(),
                         [](const Op& op) { return op.kind == OpKind::kSend; });
  };
  CHECK(sends("right") == 4);
  CHECK(sends("left") == 4);
  CHECK(sends("next") == 3);
  CHECK(sends("prev") == 3);
}

TEST_CASE("jitter is drawn by seed, and a slow rank changes no other and no earlier step") {
  const std::string base =
      "{hosts: \"h[0-3]\", steps: 3, jitter: 10%, phases: [{c: {compute: 1ms}}]";
  const auto times = [](const JobSpec& spec, uint64_t seed) {
    std::vector<int64_t> all;
    const PlannedJob planned = plan_job(spec, seed);
    for (const Op& op : planned.graph.ops()) {
      if (op.lane != kNoLane) all.push_back(op.duration.ps());
    }
    return all;
  };
  const JobSpec even = job_entry(base + "}");
  const JobSpec slow = job_entry(base + ", slow: [{rank: 2, by: 50%, from_step: 1, steps: 1}]}");
  const std::vector<int64_t> first = times(even, 1), other = times(slow, 1);
  CHECK(first == times(even, 1));
  CHECK(first != times(even, 2));
  for (const int64_t time : first) CHECK(std::abs(time - 1'000'000'000) <= 100'000'000);
  for (size_t i = 0; i < first.size(); ++i) {
    const bool is_slow = i == 4 + 2;  // rank 2 of step 1
    CHECK(other[i] - first[i] == (is_slow ? 500'000'000 : 0));
  }
}

TEST_CASE("a scale divides bytes and computing, and packets are counted before a job is run") {
  const std::string phases = "phases: [{c: {compute: 1ms}}, {x: {all_reduce: {size: 64GiB}}}]}";
  const PlannedJob job = plan_job(job_entry("{hosts: [h0, h1], scale: 1/1000000, " + phases), 1);
  CHECK(job.graph.op(0).duration == FabricTime::from_ns(1));
  CHECK(job.graph.op(1).bytes == 68720);
  CHECK(packets_of(job.graph) == 2 * 2 * 9);
  CHECK_THROWS_WITH(plan_job(job_entry("{hosts: all, " + phases), 1),
                    doctest::Contains("million packets: expected at most 50 million"));
  CHECK_NOTHROW(plan_job(job_entry("{hosts: all, large: on, " + phases), 1));
}

TEST_CASE("collectives within a node take time and no packets") {
  const PlannedJob job = plan_job(
      job_entry("{hosts: all, groups: {tp: 4, dp: 2}, nodes: {size: 4, rate: 8Gb/s, latency: 1us}, "
                "phases: [{t: {all_reduce: {group: tp, size: 4000B}}}, "
                "{d: {all_reduce: {group: dp, size: 4000B}}}]}"),
      1);
  CHECK(job.graph.op(0).kind == OpKind::kCompute);
  CHECK(job.graph.op(0).duration == FabricTime::from_us(6) + FabricTime::from_us(6));
  CHECK(job.graph.op(1).kind == OpKind::kCollective);
  const JobProgram program(job.graph);
  const JobMeasures measures = measure_job(job, program, ideal_times(program, kPlanNetwork));
  REQUIRE(measures.groups == std::vector<std::string>{"tp", "dp"});
  CHECK(measures.exposed_by[0].mean == FabricTime::from_us(12));  // it is an exchange like others
  CHECK(measures.compute == FabricTime::zero());
}

TEST_CASE("experts are popular unevenly, and everybody knows which") {
  const PlannedJob job = plan_job(
      job_entry("{hosts: \"h[0-3]\", phases: [{x: {all_to_all: {size: 25000B, skew: zipf 1}}}]}"),
      1);
  REQUIRE(job.graph.share_lists() == 1);
  std::vector<uint32_t> shares = job.graph.shares(0);
  std::sort(shares.begin(), shares.end());
  CHECK(shares == std::vector<uint32_t>{250'000, 333'333, 500'000, 1'000'000});
  for (const OpTime& time : ideal_times(JobProgram(job.graph), kPlanNetwork)) {
    CHECK(time.end != FabricTime::never());
  }
}

TEST_CASE("a job is written as it was read") {
  for (
      const char* body :
      {"{hosts: [h3, h1], phases: [{c: {compute: 1us}}]}",
       "{name: moe, hosts: all, place: spread, groups: {tp: 2, ep: 4, odd: [[1, 3]]}, steps: 3, warmup: 1, "
       "microbatches: 2, scale: 1/100, jitter: 2%, skew: 1%, slow: [{rank: 1, by: 5%}], nodes: {size: 2, rate: 3.6Tb/s, "
       "latency: 2us}, collective: {all_reduce: tree, channels: 2}, phases: [{f: {compute: 4us, each: microbatch}}, "
       "{x: {all_to_all: {group: ep, size: 1MiB, skew: zipf 0.5}, each: microbatch, with: f}}, "
       "{g: {all_reduce: {size: 4MiB, parts: 4}, beside: f}}, {s: {send: {group: tp, to: left, size: 1KiB, parts: 2}, "
       "after: [g, f]}}, {end: {barrier: {group: odd}, after: []}}], on_error: nccl, large: on}",
       "{hosts: all, groups: {pp: 2, dp: 4}, model: {preset: llama3-70b, blocks: 3, peak: 2Pflop/s, zero: off}, "
       "on_error: {profile: pytorch, retries: 3, restart: 90s}}",
       "{hosts: all, trace: {file: /tmp/x.cm, format: cm, time_unit: ps}}"}) {
    const JobSpec spec = job_entry(body);
    CAPTURE(job_text(spec));
    CHECK(job_entry(job_text(spec)) == spec);
  }
  CHECK(job_entry("{hosts: [h3, h1], phases: [{c: {compute: 1us}}]}").hosts ==
        std::vector<uint32_t>{3, 1});
}

TEST_CASE("neighbouring ranks are spread over T0s, or stay in their node") {
  const Topology topology = test::octet();
  CHECK(placed({0, 1, 2, 3, 4, 5, 6, 7}, Placement::kSpread, topology) ==
        std::vector<uint32_t>{0, 4, 1, 5, 2, 6, 3, 7});
  CHECK(placed({5, 1}, Placement::kPacked, topology) == std::vector<uint32_t>{5, 1});
}

TEST_CASE("a file of another's job is repeated, each step behind the one before") {
  const std::string file = MRCLAB_SOURCE_DIR "/tests/job/samples/chakra/custom_allreduce";
  const auto planned = [&](const std::string& more) {
    return plan_job(job_entry("{hosts: all, trace: " + file + more + "}"), 1);
  };
  const PlannedJob once = planned(""), thrice = planned(", steps: 3, warmup: 1");
  CHECK(once.graph.ops().size() == 280 + 8);  // and the end of the step in each rank
  CHECK(thrice.graph.ops().size() == 3 * (280 + 8));
  CHECK(thrice.step_of.back() == 2);
  CHECK(once.notes.front() == "224 of 280 operations communicate");
  const auto end_of = [](const PlannedJob& job) {
    FabricTime last;
    for (const OpTime& time : ideal_times(JobProgram(job.graph), kPlanNetwork)) {
      last = std::max(last, time.end);
    }
    return last;
  };
  CHECK(end_of(thrice) == end_of(once) * 3);
  CHECK(planned(", scale: 1/100").graph.op(0).duration <=
        once.graph.op(0).duration / 100 + kPicosecond);
  CHECK_THROWS_WITH(plan_job(job_entry("{hosts: [h0, h1], trace: " + file + "}"), 1),
                    doctest::Contains("a job of 8 ranks, hosts are 2"));
}

TEST_CASE("a file that marks its steps has as many, each time that it is run") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("mrclab-steps-" + std::to_string(::getpid()));
  const auto event = [](const char* category, const char* name, int at, int took) {
    return std::string(R"(,{"ph":"X","cat":")") + category + R"(","name":")" + name + R"(","ts":)" +
           std::to_string(at) + R"(,"dur":)" + std::to_string(took) + "}";
  };
  std::ofstream(file) << R"({"traceEvents":[{"ph":"M"})"
                      << event("user_annotation", "ProfilerStep#1", 0, 9)
                      << event("user_annotation", "ProfilerStep#2", 20, 9)
                      << event("kernel", "a", 0, 10) << event("kernel", "b", 20, 30) << "]}";
  const PlannedJob job =
      plan_job(job_entry("{hosts: [h0, h1], steps: 3, trace: {file: " + file.string() +
                         ", format: kineto}}"),
               1);
  std::filesystem::remove(file);
  CHECK(job.steps == 6);
  CHECK(job.step_of.back() == 5);
  CHECK(job.notes.back() == "the file has 2 steps");
  const JobProgram program(job.graph);
  const JobMeasures measures = measure_job(job, program, ideal_times(program, kPlanNetwork));
  REQUIRE(measures.steps.size() == 6);
  CHECK(measures.steps[2].compute == FabricTime::from_us(20));  // up to the mark
  CHECK(measures.steps[3].compute == FabricTime::from_us(30));
}

TEST_CASE("of a file that is no trace nothing is shown, as a scenario may come from others") {
  const std::filesystem::path file =
      std::filesystem::temp_directory_path() / "mrclab-no-trace.goal";
  std::ofstream(file) << "num_ranks 2\nrank 0 { secret }\n";
  const auto text = [&] {
    try {
      plan_job(job_entry("{hosts: [h0, h1], trace: " + file.string() + "}"), 1);
    } catch (const InputError& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  }();
  std::filesystem::remove(file);
  CHECK(text ==
        file.string() +
            ": found no job of 2 ranks: expected one; \"mrclab job\" says what is wrong with it");
}
