#pragma once
// The schedule of effects on its way to the daemons: a file with one line per effect
// (fabric/node/effect_text.h) that is replaced as a whole, so that a reader always has one version. A
// first line "settled PS" means that the file leaves out effects up to that instant which are no
// longer in force. The last line has the number of lines before it and their CRC-32, so that no
// part of the file is taken for a schedule.

#include <filesystem>
#include <vector>

#include "fabric/node/effect.h"
#include "fabric/topology/topology.h"

namespace mrclab::netio {

struct Schedule {
  std::vector<ScheduledEffect> effects;  ///< sorted by (at, sequence)
  /// Every process has committed this instant. Of the effects up to it, only those remain whose
  /// state is still in force, because a process that starts later needs no others.
  FabricTime settled = FabricTime::from_ps(-1);
};

/// Throws SystemError or std::filesystem::filesystem_error.
void write_schedule_file(const Schedule& schedule, const std::filesystem::path& file);
/// Throws SystemError (cannot read) or std::runtime_error (no such effect in this fabric, or not
/// the file as it was written).
Schedule read_schedule_file(const Topology& topology, const std::filesystem::path& file);

}  // namespace mrclab::netio
