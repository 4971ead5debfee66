#pragma once
// The bounds of a queue pair's set of entropy values (ev_set.h).

#include <cstdint>

#include "fabric/base/random.h"
#include "fabric/base/units.h"

namespace mrclab::endpoint {

/// Who chooses the next value of a plane.
enum class PathChoice : uint8_t {
  kMrc,        ///< a rotation that marks and losses take values out of (MRC paper §2.1)
  kOblivious,  ///< a rotation that no answer changes
  kReps,       ///< values that were answered without a mark are used again (recycled_values.h)
};

/// How many values are in use at once, and how few may be left.
struct EvSetLimits {
  uint32_t active = 128;  ///< over all planes, but at least one in each
  /// No value is assumed bad if fewer than this many active ones would be left (ev_min_active of
  /// the MRC API); 0: this share of the active values of usable planes, but at least one.
  uint32_t min_active = 0;
  Probability min_active_share{250'000'000};
  FabricTime skip_age_out = FabricTime::never();  ///< a mark older than this costs no turn
  bool skip = true;                               ///< off: a mark costs no turn at all
  /// Over zero: marks cost a value a share of its turns, which grows by such periods (ev_turns.cc). Zero: a
  /// mark costs one turn.
  FabricTime turn_period = {};
  bool avoid_lost = true;  ///< off: a loss is held against no value
  PathChoice choice = PathChoice::kMrc;
  FabricTime frozen = {};  ///< kReps: so long a cache is frozen after a loss
};

}  // namespace mrclab::endpoint
