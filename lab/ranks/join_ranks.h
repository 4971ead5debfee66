#pragma once
// Whether this process is one of several that simulate one world together, as `mpirun` starts them.

#include <memory>

#include "sim/rank_link.h"

namespace mrclab::lab {

/// The ranks that this process is one of; null if it was not started by `mpirun`, or alone. Throws
/// std::runtime_error if it was, and this build cannot take part.
std::unique_ptr<RankLink> join_ranks();

}  // namespace mrclab::lab
