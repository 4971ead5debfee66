// Jobs as others publish them (samples/README.md), each against what its own documentation states.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "job/graph/graph_check.h"
#include "job/import/trace_file.h"

using namespace mrclab;
using namespace mrclab::job;

namespace {

const std::filesystem::path kSamples =
    std::filesystem::path(MRCLAB_SOURCE_DIR) / "tests/job/samples";

size_t count_of(const OpGraph& graph, OpKind kind, uint32_t rank) {
  return static_cast<size_t>(
      std::count_if(graph.ops().begin(), graph.ops().end(),
                    [&](const Op& op) { return op.kind == kind && op.rank == rank; }));
}

}  // namespace

TEST_CASE("htsim's serial all-to-all: 240 flows, 16 of which wait for nothing") {
  const Trace trace = read_trace(kSamples / "htsim-alltoall_serial_16n.cm", {});
  CHECK(trace.format == TraceFormat::kCm);
  CHECK(trace.graph.ranks() == 16);
  REQUIRE(trace.graph.ops().size() == 480);
  size_t free = 0;
  std::set<std::pair<uint32_t, uint32_t>> pairs;
  for (const Op& op : trace.graph.ops()) {
    CHECK(op.bytes == 2'000'000);
    if (op.kind != OpKind::kSend) continue;
    pairs.insert({op.rank, op.peer});
    free += op.dependencies == 0;
    for (const Dependency& dependency : trace.graph.dependencies(op)) {
      const Op& cause = trace.graph.op(dependency.op);
      CHECK(cause.kind == OpKind::kSend);  // send_done
      CHECK(cause.rank == op.rank);
    }
  }
  CHECK(free == 16);
  CHECK(pairs.size() == 240);
}

TEST_CASE(
    "SimAI's Llama 7B with two tensor-parallel ranks: 65 layers with two all-reduces of 16 MiB") {
  TraceOptions options;
  options.ranks = 8;
  const Trace trace = read_trace(kSamples / "simai-llama7b-tp2.txt", options);
  CHECK(trace.format == TraceFormat::kSimAi);
  std::vector<Op> large;
  for (const Op& op : trace.graph.ops()) {
    if (op.rank == 0 && op.kind == OpKind::kCollective && op.bytes == 16'777'216)
      large.push_back(op);
  }
  CHECK(large.size() == 130);
  for (const Op& op : large) {
    CHECK(op.collective == Collective::kAllReduce);
    CHECK(trace.graph.groups()[op.group].ranks == std::vector<uint32_t>{0, 1});
  }
  // The gradients of weights go over the data-parallel ranks.
  const auto reduced = std::find_if(
      trace.graph.ops().begin(), trace.graph.ops().end(),
      [](const Op& op) { return op.rank == 3 && op.collective == Collective::kReduceScatter; });
  REQUIRE(reduced != trace.graph.ops().end());
  CHECK(trace.graph.groups()[reduced->group].ranks == std::vector<uint32_t>{1, 3, 5, 7});
  CHECK(reduced->bytes == 13'509'853'184);
}

TEST_CASE(
    "Chakra's ring all-reduce of eight ranks: 14 sends, 14 receives and 7 computations each") {
  const Trace trace = read_trace(kSamples / "chakra/custom_allreduce", {});
  CHECK(trace.format == TraceFormat::kChakra);
  REQUIRE(trace.graph.ranks() == 8);
  for (uint32_t rank = 0; rank < 8; ++rank) {
    CAPTURE(rank);
    CHECK(count_of(trace.graph, OpKind::kSend, rank) == 14);
    CHECK(count_of(trace.graph, OpKind::kReceive, rank) == 14);
    CHECK(count_of(trace.graph, OpKind::kCompute, rank) == 7);
  }
  const std::vector<uint32_t> partner = message_partners(trace.graph);
  for (uint32_t i = 0; i < partner.size(); ++i) {
    const Op& op = trace.graph.op(i);
    if (op.kind != OpKind::kSend) continue;
    CHECK(op.peer == (op.rank + 1) % 8);
    CHECK(trace.graph.op(partner[i]).rank == op.peer);
  }
  CHECK(trace.notes == std::vector<std::string>{"224 of 280 operations communicate"});
}
