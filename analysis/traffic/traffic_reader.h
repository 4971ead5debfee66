#pragma once
// Capture files from anywhere -> Traffic. Files are merged by time as they are read; nothing of
// them stays in memory but what traffic_analyzer.h keeps.
//
// Time: where the frames of a file carry our trailer (fabric/packet/trailer.h) it is the trailer's;
// otherwise the capture's own, and then counted from its first record, unless that is fabric time
// already (which begins at zero, as no clock of a machine does).

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "analysis/capture/side_by_side.h"
#include "analysis/traffic/traffic_analyzer.h"

namespace mrclab::analysis {

struct TrafficInput {
  std::vector<std::filesystem::path> files;
  TrafficFilter filter;  ///< its times count from the origin of the result
  /// Called now and then with the number of records read; may be empty.
  std::function<void(uint64_t records)> progress;
  /// Asked while a pipe is read: is it to end? Empty: never.
  std::function<bool()> interrupted = {};
  /// Called while a pipe is read, in place of `progress`, with the bytes that have come; may be empty.
  std::function<void(uint64_t bytes)> arrived = {};
  GivenFormat format = {};  ///< what the user states about foreign packets
  DscpMap dscps = {};       ///< classes of the fabric that was captured
  /// To decode what comes next while the frames before are analyzed; empty: one after the other.
  /// What is found is the same.
  SideBySide side_by_side = {};
  size_t batch = 0;  ///< frames of a file that are decoded at a time; 0: as many as suit
};

/// Throws CaptureError if a file cannot be opened or is no capture. A broken tail is a note.
Traffic analyze_traffic(const TrafficInput& input);

/// The same of one capture in memory.
Traffic analyze_traffic(std::span<const uint8_t> capture, const TrafficFilter& filter = {},
                        const SideBySide& side_by_side = {});

}  // namespace mrclab::analysis
