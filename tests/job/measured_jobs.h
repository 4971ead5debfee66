#pragma once
// Jobs to be measured, made by hand or drawn.

#include <algorithm>
#include <string>
#include <vector>

#include "fabric/base/random.h"
#include "job/graph/graph_check.h"
#include "job/measure/job_measures.h"
#include "job/run/ideal_run.h"

namespace mrclab::job::made {

inline constexpr IdealNetwork kByteANanosecond{BitRate::from_gbps(8), FabricTime::from_ns(100)};

/// A plan to which operations are added, each behind the one before it in its rank unless it says otherwise.
class PlanMaker {
 public:
  explicit PlanMaker(uint32_t ranks) : behind_(ranks) {
    plan_.name = "made";
    plan_.graph = OpGraph(ranks);
  }

  uint32_t compute(uint32_t rank, int64_t ns, uint32_t step = 0) {
    Op op;
    op.rank = rank;
    op.duration = FabricTime::from_ns(ns);
    return add(op, step, {"work", ""});
  }
  uint32_t collective(Collective kind, uint32_t rank, uint32_t group, uint64_t bytes,
                      uint32_t step = 0, const std::string& name = "dp") {
    Op op;
    op.kind = OpKind::kCollective;
    op.collective = kind;
    op.rank = rank;
    op.group = group;
    op.bytes = bytes;
    op.peer = plan_.graph.groups()[group].ranks.front();
    return add(op, step, {"grads", name});
  }
  /// The send's number; its receive is the next.
  uint32_t message(uint32_t from, uint32_t to, uint64_t bytes, uint32_t step = 0) {
    Op op;
    op.kind = OpKind::kSend;
    op.rank = from;
    op.peer = to;
    op.bytes = bytes;
    const uint32_t send = add(op, step, {"acts", "pp"});
    std::swap(op.rank, op.peer);
    op.kind = OpKind::kReceive;
    add(op, step, {"acts", "pp"});
    return send;
  }
  uint32_t group(std::vector<uint32_t> ranks) { return plan_.graph.add_group("dp", ranks); }
  /// What comes next in this rank waits for nothing.
  void beside(uint32_t rank) { behind_[rank] = kNoOp; }

  PlannedJob plan(uint32_t steps = 1) {
    check_graph(plan_.graph);
    plan_.steps = steps;
    return plan_;
  }

 private:
  uint32_t add(const Op& op, uint32_t step, const OpLabel& label) {
    std::vector<Dependency> waits;
    if (any_[op.rank] && behind_[op.rank] != kNoOp) waits.push_back({behind_[op.rank]});
    const uint32_t made = plan_.graph.add(op, waits);
    any_[op.rank] = true;
    behind_[op.rank] = made;
    plan_.step_of.push_back(step);
    auto found = std::find(plan_.labels.begin(), plan_.labels.end(), label);
    if (found == plan_.labels.end()) found = plan_.labels.insert(found, label);
    plan_.label_of.push_back(static_cast<uint16_t>(found - plan_.labels.begin()));
    return made;
  }

  PlannedJob plan_{.name = {}, .graph = OpGraph(1), .step_of = {}, .label_of = {}, .labels = {}};
  std::vector<uint32_t> behind_;
  std::vector<bool> any_ = std::vector<bool>(kMaxRanks);
};

/// Two ranks compute 500 ns and 300 ns, then reduce 2000 bytes together. On kByteANanosecond rank 1 sends its half at
/// 300 (there at 1400), rank 0 at 500 (there at 1600); the second halves follow at 1500 and 1600, when the wire is free
/// and the first half of the other is there; they arrive at 2600 and 2700, acknowledged at 2700 and 2800.
inline PlannedJob straggler_and_reduce() {
  PlanMaker maker(2);
  const uint32_t dp = maker.group({0, 1});
  maker.compute(0, 500);
  maker.compute(1, 300);
  maker.collective(Collective::kAllReduce, 0, dp, 2000);
  maker.collective(Collective::kAllReduce, 1, dp, 2000);
  return maker.plan();
}

/// Drawn from `seed`: 2 to 5 ranks, up to 4 steps of computing, messages and collectives, some beside others.
inline PlannedJob drawn_job(uint64_t seed) {
  uint64_t counter = 0;
  const auto below_of = [&](uint64_t bound) {
    return below(draw(seed, NodeId{0}, PortId{0}, DrawPurpose::kWorkload, counter++), bound);
  };
  const auto ranks = static_cast<uint32_t>(2 + below_of(4));
  const auto steps = static_cast<uint32_t>(1 + below_of(4));
  PlanMaker maker(ranks);
  std::vector<uint32_t> all, some;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    all.push_back(rank);
    if (rank % 2 == 0) some.push_back(rank);
  }
  const std::vector<std::vector<uint32_t>> groups{all, some};
  const std::vector<uint32_t> numbers{maker.group(all), maker.group(some)};
  for (uint32_t step = 0; step < steps; ++step) {
    const uint64_t things = 1 + below_of(12);
    for (uint64_t i = 0; i < things; ++i) {
      const auto rank = static_cast<uint32_t>(below_of(ranks));
      if (below_of(5) == 0) maker.beside(rank);
      const uint64_t kind = below_of(4);
      if (kind < 2) {
        maker.compute(rank, static_cast<int64_t>(below_of(3000)), step);
      } else if (kind == 2) {
        maker.message(rank, (rank + 1) % ranks, 1 + below_of(4000), step);
      } else {
        const size_t which = below_of(2);
        const auto collective = static_cast<Collective>(below_of(6));
        const uint64_t bytes = collective == Collective::kBarrier ? 0 : 4 + below_of(4000);
        for (const uint32_t member : groups[which]) {
          maker.collective(collective, member, numbers[which], bytes, step);
        }
      }
    }
  }
  return maker.plan(steps);
}

}  // namespace mrclab::job::made
