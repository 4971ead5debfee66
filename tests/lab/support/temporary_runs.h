#pragma once
// Runs of scenarios in a folder that goes away with the test.

#include <doctest/doctest.h>
#include <stdlib.h>

#include <filesystem>
#include <string>

#include "lab/run/scenario_run.h"

namespace mrclab::test {

class TemporaryRuns {
 public:
  TemporaryRuns() {
    std::string name = (std::filesystem::temp_directory_path() / "mrclab-test-XXXXXX").string();
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    path_ = name;
  }
  ~TemporaryRuns() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryRuns(const TemporaryRuns&) = delete;
  TemporaryRuns& operator=(const TemporaryRuns&) = delete;

  const std::filesystem::path& path() const { return path_; }
  lab::RunOptions options(lab::World world) const {
    lab::RunOptions options;
    options.world = world;
    options.runs_root = path_;
    options.programs = MRCLAB_BINARY_DIR;
    return options;
  }
  lab::RunResult run(const lab::Scenario& scenario, lab::World world = lab::World::kSim) const {
    return lab::run_scenario(scenario, options(world));
  }

 private:
  std::filesystem::path path_;
};

}  // namespace mrclab::test
