#pragma once
// What the project ships, for tests that go through all of it.

#include "lab/scenario/shipped_files.h"

namespace mrclab::test {

/// The names of topologies/<folder>/*.yaml, sorted.
inline std::vector<std::string> shipped(const char* folder) { return lab::shipped_names(folder); }

}  // namespace mrclab::test
