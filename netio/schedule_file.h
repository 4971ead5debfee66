#pragma once
// The schedule of effects on its way to the daemons: a file with one line per effect
// (fabric/effect_text.h) that is replaced as a whole, so that whoever reads it reads one version. The
// last line says how many effects there are, and their CRC-32: a part of it is no schedule.

#include <filesystem>
#include <vector>

#include "fabric/effect.h"
#include "fabric/topology.h"

namespace mrclab::netio {

/// Throws SystemError or std::filesystem::filesystem_error.
void write_schedule_file(const std::vector<ScheduledEffect>& schedule,
                         const std::filesystem::path& file);
/// Throws SystemError (cannot read) or std::runtime_error (no such effect in this fabric,
/// or not the file as it was written).
std::vector<ScheduledEffect> read_schedule_file(const Topology& topology,
                                                const std::filesystem::path& file);

}  // namespace mrclab::netio
