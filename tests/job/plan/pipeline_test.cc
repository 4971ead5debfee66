// Interleaved pipelines and parameters in parts, against the formulas of those who described them.

#include <doctest/doctest.h>

#include <algorithm>

#include "job/measure/op_spans.h"
#include "job/plan/job_keys.h"
#include "job/plan/model_shape.h"
#include "job/plan/phase_order.h"
#include "job/plan/plan_job.h"
#include "job/run/ideal_run.h"
#include "tests/support/errors.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::job;

namespace {

/// Messages take next to nothing.
constexpr IdealNetwork kNoWay{BitRate::from_gbps(100'000'000), FabricTime::zero()};

JobSpec pipeline_entry(const std::string& body) {
  const Topology topology = test::octet();
  NameResolver names(topology, 1);
  return read_job(read_yaml_text(body, "a.yaml"), names);
}

/// Eight micro-batches, 12 us forward and 24 us backward.
JobSpec pipeline_of(uint32_t stages, uint32_t chunks) {
  return pipeline_entry(
      "{hosts: \"h[0-" + std::to_string(stages - 1) + "]\", groups: {pp: " +
      std::to_string(stages) + "}, microbatches: 8, virtual_stages: " + std::to_string(chunks) +
      ", phases: [{forward: {compute: 12us, each: microbatch}},"
      "{acts: {send: {size: 4KiB}, each: microbatch}},"
      "{backward: {compute: 24us, each: microbatch, pass: backward}},"
      "{back: {send: {to: prev, size: 4KiB}, each: microbatch, pass: backward}}]}");
}

FabricTime ideal_end(const PlannedJob& job, const IdealNetwork& network) {
  FabricTime last;
  for (const OpTime& time : ideal_times(JobProgram(job.graph), network)) {
    REQUIRE(time.end != FabricTime::never());
    last = std::max(last, time.end);
  }
  return last;
}

uint64_t sent_by(const PlannedJob& job, uint32_t rank) {
  uint64_t bytes = 0;
  for (const Op& op : job.graph.ops()) {
    if (op.kind == OpKind::kSend && op.rank == rank) bytes += op.bytes;
  }
  return bytes;
}

JobSpec sharded(const std::string& zero, uint32_t ranks = 4) {
  return pipeline_entry(
      "{hosts: \"h[0-" + std::to_string(ranks - 1) + "]\", groups: {dp: " + std::to_string(ranks) +
      "}, scale: 1/1000, microbatches: 2, model: {preset: llama3-8b, blocks: 3, " + zero + "}}");
}

/// Bytes of a collective in rank 0, and how often.
std::pair<uint64_t, uint32_t> collectives_of(const PlannedJob& job, Collective which) {
  std::pair<uint64_t, uint32_t> found;
  for (const Op& op : job.graph.ops()) {
    if (op.rank != 0 || op.kind != OpKind::kCollective || op.collective != which) continue;
    found.first += op.bytes;
    ++found.second;
  }
  return found;
}

}  // namespace

TEST_CASE("virtual stages take micro-batches in turns, as Megatron-LM's schedule has them") {
  const auto text = [](uint32_t stage, uint32_t stages, uint32_t microbatches, uint32_t chunks) {
    std::string turns;
    for (const PassTurn& turn : interleaved_turns(stage, stages, microbatches, chunks)) {
      turns += (turn.pass == Pass::kForward ? " f" : " b") + std::to_string(turn.microbatch) + "." +
               std::to_string(turn.chunk);
    }
    return turns;
  };
  CHECK(text(0, 2, 4, 1) == " f0.0 f1.0 b0.0 f2.0 b1.0 f3.0 b2.0 b3.0");
  CHECK(text(1, 2, 4, 2) ==
        " f0.0 f1.0 f0.1 b0.1 f1.1 b1.1 f2.0 b0.0 f3.0 b1.0 f2.1 b2.1 f3.1 b3.1 b2.0 b3.0");
  CHECK(text(0, 2, 2, 2) == " f0.0 f1.0 f0.1 f1.1 b0.1 b1.1 b0.0 b1.0");
}

TEST_CASE("the bubble of a pipeline is (pp - 1) / (m v) of its computing") {
  const FabricTime turn = FabricTime::from_us(36);
  for (const uint32_t stages : {2u, 4u}) {
    for (const uint32_t chunks : {1u, 2u, 3u, 4u}) {
      CAPTURE(stages);
      CAPTURE(chunks);
      const FabricTime end = ideal_end(plan_job(pipeline_of(stages, chunks), 1), kNoWay);
      const FabricTime bubble = turn * (stages - 1) / chunks;
      CHECK(end >= turn * 8 + bubble);
      CHECK(end - turn * 8 - bubble < FabricTime::from_ns(100));
    }
  }
}

TEST_CASE("every boundary of virtual stages is crossed, so that v times the bytes are sent") {
  // Four stages have three boundaries; v times as many have 4 v - 1, there and back.
  for (const uint32_t chunks : {1u, 2u, 4u}) {
    const PlannedJob job = plan_job(pipeline_of(4, chunks), 1);
    uint64_t all = 0;
    for (uint32_t rank = 0; rank < 4; ++rank) all += sent_by(job, rank);
    CHECK(all == uint64_t{4096} * 8 * 2 * (4 * chunks - 1));
    CHECK(sent_by(job, 1) == uint64_t{4096} * 8 * 2 * chunks);
  }
}

TEST_CASE("a model computes and sums alike on any number of virtual stages") {
  const auto computed = [](uint32_t chunks) {
    FabricTime sum;
    uint64_t gradients = 0;
    const JobSpec spec = pipeline_entry(
        "{hosts: all, groups: {pp: 4, dp: 2}, microbatches: 4, scale: 1/1000, virtual_stages: " +
        std::to_string(chunks) + ", model: {preset: llama3-70b, blocks: 4}}");
    const PlannedJob job = plan_job(spec, 1);
    for (const Op& op : job.graph.ops()) {
      if (op.rank != 2) continue;
      if (op.kind == OpKind::kCompute) sum += op.duration;
      if (op.kind == OpKind::kCollective) gradients += op.bytes;
    }
    return std::pair(sum, gradients);
  };
  const auto one = computed(1), two = computed(2), four = computed(4);
  CHECK(one.first == two.first);
  CHECK(one.first == four.first);
  CHECK(std::max(one.second, four.second) - std::min(one.second, four.second) <= 64);
}

TEST_CASE(
    "parameters in parts are gathered in both passes, and gradients reduced, layer by layer") {
  const LayerCost cost =
      layer_cost(model_shape("llama3-8b"), *sharded("zero: parameters").model, {1, 1, 1, 1, 4});
  const PlannedJob job = plan_job(sharded("zero: parameters"), 1);
  const auto gathered = collectives_of(job, Collective::kAllGather);
  const auto reduced = collectives_of(job, Collective::kReduceScatter);
  // Two passes of two micro-batches through three layers, 2 bytes a parameter; gradients of 4 bytes in one of them.
  CHECK(gathered.second == 2 * 2 * 3);
  CHECK(reduced.second == 2 * 3);
  CHECK(gathered.first / 12 == (cost.dense_parameters * 2 + 3999) / 4000 * 4);
  CHECK(reduced.first / 6 == (cost.dense_parameters * 4 + 3999) / 4000 * 4);
  const PlannedJob whole = plan_job(sharded("zero: optimizer"), 1);
  CHECK(collectives_of(whole, Collective::kAllGather).second == 3);
  CHECK(collectives_of(whole, Collective::kReduceScatter).second == 3);
}

TEST_CASE("what is gathered ahead of its layer is hidden, but for the first") {
  // At this rate a layer is gathered while another one computes.
  constexpr IdealNetwork kFast{BitRate::from_gbps(3200), FabricTime::from_ns(10)};
  const FabricTime alone = ideal_end(plan_job(sharded("zero: parameters"), 1), kNoWay);
  const auto extra = [&](const std::string& more) {
    return ideal_end(plan_job(sharded("zero: parameters, " + more), 1), kFast) - alone;
  };
  const FabricTime none = extra("prefetch: 0"), one = extra("prefetch: 1");
  // Of 12 gathers the first of each of four passes is waited for, where one is fetched ahead.
  CHECK(one < none / 2);
  CHECK(one > none / 6);
}

TEST_CASE("a layer is gathered while the one before it computes, and no earlier") {
  constexpr IdealNetwork kFast{BitRate::from_gbps(3200), FabricTime::from_ns(10)};
  const PlannedJob job = plan_job(sharded("zero: parameters"), 1);
  const JobProgram program(job.graph);
  const OpSpans spans = op_spans(job, program, ideal_times(program, kFast));
  const auto begin_of = [&](const std::string& phase) {
    for (uint32_t i = 0; i < job.graph.ops().size(); ++i) {
      const bool found = job.graph.op(i).rank == 0 && job.labels[job.label_of[i]].text == phase;
      if (found) return spans.ops[i].begin;  // of the first micro-batch
    }
    return FabricTime::never();
  };
  CHECK(begin_of("f0-gather") == FabricTime::zero());
  CHECK(begin_of("f1-gather") == begin_of("f0"));
  CHECK(begin_of("f2-gather") == begin_of("f1"));
  CHECK(begin_of("b1-gather") == begin_of("b2"));
  CHECK(begin_of("b2-scatter") > begin_of("b1-gather"));
}

TEST_CASE("virtual stages that no schedule has are refused") {
  const std::string phases = ", phases: [{f: {compute: 1us, each: microbatch}}]}";
  for (
      const auto& row : std::vector<std::pair<std::string, std::string>>{
          {"{hosts: all, groups: {dp: 8}, virtual_stages: 2" + phases, "no group pp"},
          {"{hosts: all, groups: {pp: 8}, microbatches: 4, virtual_stages: 2" + phases,
           "4 microbatches: expected a multiple of pp, 8"},
          {"{hosts: all, groups: {pp: 8}, virtual_stages: 17" + phases, "1 to 16"},
          {"{hosts: all, groups: {pp: 8}, microbatches: 8, virtual_stages: 8, model: {preset: llama3-8b}}",
           "32 layers: pp is 8, each with 8 virtual stages"}}) {
    const std::string body = row.first, expected = row.second;
    CAPTURE(body);
    const std::string error = test::error_of([&] { plan_job(pipeline_entry(body), 1); });
    CAPTURE(error);
    CHECK(error.find(expected) != std::string::npos);
  }
}
