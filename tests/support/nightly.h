#pragma once

#include <cstdlib>

namespace mrclab::test {

/// Does this run have the time for everything?
inline bool nightly() { return std::getenv("MRCLAB_NIGHTLY") != nullptr; }

}  // namespace mrclab::test
