#pragma once
// When each operation of a job began and ended: of an ideal network or of a run.

#include <cstdint>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::job {

inline constexpr uint32_t kNoOp = 0xFFFF'FFFF;

/// Of one operation.
struct OpTime {
  FabricTime begin = FabricTime::never();
  FabricTime end = FabricTime::never();  ///< never: it did not end
  /// The operation that was last before `begin`: its dependency, or who had its lane; kNoOp: none, it began at once.
  uint32_t begun_by = kNoOp;
  /// Of a receive: its send, if the message came after `begin`; kNoOp: it lay there.
  uint32_t ended_by = kNoOp;
};

/// By operation.
using OpTimes = std::vector<OpTime>;

}  // namespace mrclab::job
