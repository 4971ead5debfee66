#include "job/run/critical_path.h"

#include <algorithm>

namespace mrclab::job {

std::vector<PathPiece> critical_path(const MessageGraph& job, const OpTimes& times, uint32_t last,
                                     FabricTime from) {
  std::vector<PathPiece> path;
  if (last == kNoOp) {
    for (uint32_t i = 0; i < times.size(); ++i) {
      const bool later = last == kNoOp || times[i].end > times[last].end;
      if (times[i].end != FabricTime::never() && later) last = i;
    }
  }
  if (last == kNoOp || times[last].end == FabricTime::never()) return path;
  FabricTime until = times[last].end;
  const auto add = [&](PathPiece::Kind kind, uint32_t op, FabricTime begin) {
    begin = std::max(begin, from);
    if (begin >= until) return;
    path.push_back({kind, op, begin, until});
    until = begin;
  };
  // Each turn goes to an operation that began earlier, or at once and is a dependency: as many as there are, at most.
  uint32_t at = last;
  for (size_t turns = 0; turns < times.size() && at != kNoOp && until > from; ++turns) {
    const Op& op = job.graph.op(at);
    if (op.kind == OpKind::kReceive && times[at].ended_by != kNoOp) {
      at = times[at].ended_by;
      add(PathPiece::Kind::kMessage, at, times[at].begin);
    } else {
      add(op.kind == OpKind::kCompute ? PathPiece::Kind::kCompute : PathPiece::Kind::kMessage, at,
          times[at].begin);
    }
    const uint32_t before = times[at].begun_by;
    // Behind a send that is still under way only its begin counts: the wire was busy from there.
    const FabricTime released = before == kNoOp ? FabricTime::zero() : times[before].end;
    if (released < until) add(PathPiece::Kind::kWait, at, released);
    at = before;
  }
  add(PathPiece::Kind::kWait, last, from);
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace mrclab::job
