#pragma once
// Counts of records: by kind those that are not analyzed further, by flaw those that are.

#include "analysis/capture/capture_reader.h"
#include "analysis/traffic/frame_decoder.h"
#include "analysis/traffic/traffic.h"

namespace mrclab::analysis {

class RecordCounts {
 public:
  /// Every frame, whatever it is.
  void add_frame(const DecodedFrame& frame);
  /// One that became no sighting. `decoded`: what it is, which the frame alone may not show (kTooMany).
  void add_unread(Decoded decoded, const DecodedFrame& frame);
  void add_pause(const PauseSeenAt& seen, FabricTime t);
  /// A file that was read to its end.
  void add_file(const CaptureCounters& counters);
  const TrafficCounters& counters() const { return counters_; }
  /// Into what was found of MRC's packets.
  void move_into(Traffic& traffic);

 private:
  TrafficCounters counters_;  // those of single records
  std::map<PauseAsker, PauseRequests> pause_requests_;
};

}  // namespace mrclab::analysis
