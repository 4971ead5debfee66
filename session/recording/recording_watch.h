#pragma once
// Nodes of this process, watched for a recording: what they do goes there, and into the digest of their
// history. Of a recording of a part nothing else is watched. Never influences them. One thread.

#include <deque>
#include <string>

#include "fabric/history/history_record.h"
#include "session/recording/recording.h"

namespace mrclab::lab {

class RecordingWatch {
 public:
  /// Both outlive it. The digest is over what is not later than `end`.
  RecordingWatch(Recording& recording, const Topology& topology, FabricTime end);
  RecordingWatch(const RecordingWatch&) = delete;
  RecordingWatch& operator=(const RecordingWatch&) = delete;

  ~RecordingWatch();

  NodeObserver& observer(NodeId node);
  /// The history as far as it goes: as a run of the same scenario up to there has it. Throws InputError where only a part
  /// of the fabric is recorded.
  std::string history_sha256() const;

 private:
  class Watcher;
  bool whole_;
  std::deque<Watcher> watchers_;  // by node
};

/// A record of a packet that leaves or is dropped, as a page shows it; hosts stay unknown.
SeenPacket seen_packet(const CompactRecord& record);

}  // namespace mrclab::lab
