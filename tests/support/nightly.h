#pragma once

#include <cstdlib>

namespace mrclab::test {

/// Does this run have the time for everything?
inline bool nightly() { return std::getenv("MRCLAB_NIGHTLY") != nullptr; }

/// The suite of tests that judge whole runs for seconds: not once more with sanitizers (run_tests).
inline constexpr const char* kWholeRun = "whole run";

}  // namespace mrclab::test
