#include "job/graph/op_graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/input_error.h"

namespace mrclab::job {
namespace {

void check_most(std::string_view what, uint64_t found, uint64_t most) {
  if (found <= most) return;
  throw InputError(fmt::format("{} {}: a job has at most {}", found, what, most));
}

}  // namespace

std::string_view name_of(OpKind kind) {
  switch (kind) {
    case OpKind::kCompute: return "compute";
    case OpKind::kSend: return "send";
    case OpKind::kReceive: return "receive";
    case OpKind::kCollective: return "collective";
  }
  return "unknown";
}

std::string_view name_of(Collective collective) {
  switch (collective) {
    case Collective::kAllReduce: return "all_reduce";
    case Collective::kReduceScatter: return "reduce_scatter";
    case Collective::kAllGather: return "all_gather";
    case Collective::kAllToAll: return "all_to_all";
    case Collective::kBroadcast: return "broadcast";
    case Collective::kBarrier: return "barrier";
  }
  return "unknown";
}

OpGraph::OpGraph(uint32_t ranks, const Limits& limits) : ranks_(ranks), limits_(limits) {
  if (ranks == 0) throw InputError("0 ranks: a job has at least one");
  check_most("ranks", ranks, kMaxRanks);
}

uint32_t OpGraph::add(Op op, std::span<const Dependency> dependencies) {
  check_most("operations", ops_.size() + 1, limits_.ops);
  check_most("dependencies of one operation", dependencies.size(), kMaxDependencies);
  if (op.kind == OpKind::kSend || op.kind == OpKind::kReceive) {
    check_most("bytes in one message", op.bytes, limits_.message);
  }
  op.first_dependency = static_cast<uint32_t>(dependencies_.size());
  op.dependencies = static_cast<uint32_t>(dependencies.size());
  dependencies_.insert(dependencies_.end(), dependencies.begin(), dependencies.end());
  ops_.push_back(op);
  return static_cast<uint32_t>(ops_.size() - 1);
}

uint32_t OpGraph::add_group(std::string name, std::vector<uint32_t> ranks) {
  const auto [known, is_new] =
      group_of_ranks_.emplace(ranks, static_cast<uint32_t>(groups_.size()));
  if (!is_new) return known->second;
  check_most("groups", groups_.size() + 1, kMaxGroups);
  name.resize(std::min(name.size(), kMaxLabel));
  groups_.push_back({std::move(name), std::move(ranks)});
  return known->second;
}

uint32_t OpGraph::add_shares(std::vector<uint32_t> shares) {
  const auto [known, is_new] = known_shares_.emplace(shares, static_cast<uint32_t>(shares_.size()));
  if (is_new) shares_.push_back(std::move(shares));
  return known->second;
}

std::string OpGraph::text_of(uint32_t index) const {
  const Op& op = ops_.at(index);
  std::string what;
  switch (op.kind) {
    case OpKind::kCompute:
      what = fmt::format("compute {} in rank {}", to_string(op.duration), op.rank);
      break;
    case OpKind::kSend:
      what = fmt::format("send {} B from rank {} to rank {}", op.bytes, op.rank, op.peer);
      break;
    case OpKind::kReceive:
      what = fmt::format("receive {} B in rank {}", op.bytes, op.rank);
      if (op.peer != kAnyPeer) what += fmt::format(" from rank {}", op.peer);
      break;
    case OpKind::kCollective:
      what = fmt::format("{} of {} B in rank {}", name_of(op.collective), op.bytes, op.rank);
      break;
  }
  const std::string line = op.line > 0 ? fmt::format(", line {}", op.line) : "";
  return fmt::format("op {} ({}{})", index, what, line);
}

}  // namespace mrclab::job
