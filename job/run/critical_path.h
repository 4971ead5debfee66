#pragma once
// What the end of a job waited for: from its last operation back, each time to the one that let it begin or end.

#include <vector>

#include "job/graph/message_graph.h"
#include "job/run/op_times.h"

namespace mrclab::job {

/// A stretch of the path. They follow each other without gap or overlap.
struct PathPiece {
  enum class Kind : uint8_t {
    kCompute,  ///< `op` computed
    kMessage,  ///< the message of send `op` was under way to its receive
    kWait,     ///< nothing of the job went on: until not_before, or behind a send before it
  } kind = Kind::kCompute;
  uint32_t op = 0;
  FabricTime begin, end;
};

/// The path to the end of `last`, the earliest piece first, from the job's start: the pieces sum to times[last].end.
/// Empty if it did not end. `last` kNoOp: the operation that ended last. Of the path only what lies behind `from`: the
/// pieces then sum to times[last].end - from.
std::vector<PathPiece> critical_path(const MessageGraph& job, const OpTimes& times,
                                     uint32_t last = kNoOp, FabricTime from = FabricTime::zero());

}  // namespace mrclab::job
