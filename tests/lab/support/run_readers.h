#pragma once
// All who read the folder of a run that is over.

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "scenario/spec/scenario.h"

namespace mrclab::test {

/// A verb, and the files that its answer rests on.
struct RunReader {
  std::string verb;
  std::function<void(const std::filesystem::path& run)> read;
  std::vector<std::string> files;
};

/// `untouched`: a run of the same scenario, captured and recorded whole, to compare with.
std::vector<RunReader> run_readers(const lab::Scenario& scenario,
                                   const std::filesystem::path& untouched);

}  // namespace mrclab::test
