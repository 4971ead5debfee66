#pragma once
// Which frame of which capture shows a packet that a check names, as Wireshark counts frames: a
// second reading of the captures, up to there, for checks that failed.

#include <filesystem>
#include <span>

#include "analysis/checks/check_result.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// Adds file and frame to the packets in `where` of failed checks: where the packet leaves its host
/// for the first time. A packet that no capture shows, or a capture that cannot be read, adds
/// nothing.
void name_frames(const Topology& topology, std::span<const std::filesystem::path> captures,
                 std::span<CheckResult> checks);

}  // namespace mrclab::analysis
