#pragma once
// The schedule of effects on its way to the daemons: a file with one line per effect
// (fabric/effect_text.h) that is replaced as a whole, so that whoever reads it reads one version. A
// first line "settled PS" says that only states still in force are left of what happened up to there.

#include <filesystem>
#include <vector>

#include "fabric/effect.h"
#include "fabric/topology.h"

namespace mrclab::netio {

struct Schedule {
  std::vector<ScheduledEffect> effects;  ///< sorted by (at, sequence)
  /// Every process has committed so far. Of the effects up to there only those are left whose state
  /// is still in force: a process that starts later needs no others.
  FabricTime settled = FabricTime::from_ps(-1);
};

/// Throws SystemError or std::filesystem::filesystem_error.
void write_schedule_file(const Schedule& schedule, const std::filesystem::path& file);
/// Throws SystemError (cannot read) or std::runtime_error (no such effect in this fabric).
Schedule read_schedule_file(const Topology& topology, const std::filesystem::path& file);

}  // namespace mrclab::netio
