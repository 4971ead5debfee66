#pragma once
// From a job that is scaled down back to its size. A scenario moves and computes a share k of what the job does, but
// what a fault does has two parts: a reaction, which takes as long at any size (a loss is found, a path is left), and a
// part that grows with the work. So the delay of a run is reaction + k * work, and two runs with two factors give both:
//
//   work     = (delay at k2 - delay at k1) / (k2 - k1)
//   reaction = delay at k1 - k1 * work
//   real     = reaction + work
//
// How far off that may be, two runs cannot show: a range goes with it, from all of the delay being reaction to all of it
// growing with the work.

#include "fabric/base/units.h"

namespace mrclab::lab {

/// What a fault cost in a run of so much of the job.
struct ScaledDelay {
  Probability factor;  ///< of the job's bytes and computing: above zero, at most one
  FabricTime delay;
};

struct RealDelay {
  FabricTime reaction, work;  ///< the parts at the job's size
  FabricTime real;            ///< their sum
  FabricTime least, most;     ///< `real` is between them
  /// The delay fits two parts of which none is below zero. Else what is below counts as zero, and all of the delay as the
  /// other part: it shrinks as the work grows, or it grows faster than the work.
  bool fits = true;
};

/// Delays are at least zero. Throws InputError for factors that are equal or not in their range.
RealDelay real_delay(ScaledDelay a, ScaledDelay b);

}  // namespace mrclab::lab
