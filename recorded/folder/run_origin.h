#pragma once
// command.txt of a run folder: when a run was started, and by which command.
//
//   # 2026-11-25 18:22:01 UTC
//   mrclab run optic-glitch --world sim

#include <filesystem>

#include "analysis/report/report.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

inline constexpr const char* kCommandFile = "command.txt";

/// A run of the scenario that this process starts now.
analysis::RunOrigin origin_of(const Scenario& scenario);
void write_command(const analysis::RunOrigin& origin, const std::filesystem::path& run);
/// Reads the origin from a run folder; older folders have no such file.
analysis::RunOrigin read_origin(const Scenario& scenario, const std::filesystem::path& run);

}  // namespace mrclab::lab
