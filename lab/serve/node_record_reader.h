#pragma once
// Adds the records that nodes wrote (history/*.bin, events.jsonl) to a recording. Hostile until parsed.

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "fabric/history/history_record.h"
#include "session/recording/recording.h"

namespace mrclab::lab {

/// Both hosts of a packet, from the checksum of their addresses that its record holds.
class HostPairs {
 public:
  explicit HostPairs(const Topology& topology);
  /// Sender and receiver; SeenPacket::kNoHost for a checksum that no two hosts have, or that two pairs share.
  std::pair<uint32_t, uint32_t> find(uint32_t peers) const;

 private:
  struct Entry {
    uint32_t peers = 0;
    uint32_t source = 0, destination = 0;
  };
  std::vector<Entry> entries_;  // by checksum
};

class NodeRecordReader {
 public:
  /// Both outlive it.
  NodeRecordReader(const Topology& topology, Recording& recording);

  /// In the order in which the record's node wrote them.
  void append_record(const CompactRecord& record);
  /// A line of events.jsonl without its end. One that no node of this fabric can have written is counted.
  void take_line(const std::string& line);
  uint64_t malformed() const { return malformed_; }
  uint32_t streams() const { return 2 * static_cast<uint32_t>(ports_.size()); }

 private:
  const Topology& topology_;
  Recording& recording_;
  HostPairs pairs_;
  /// Distinguishes frames with equal records that are in one switch at once: they leave in the order of arrival.
  Recording::FrameKey key_of(const CompactRecord& record, NodeId node, bool arrives);

  struct Alike {
    uint32_t came = 0, left = 0;
  };
  std::vector<PortRef> ports_;                 // of two streams each
  std::unordered_map<uint64_t, Alike> alike_;  // bounded by kMaxAlike
  uint64_t malformed_ = 0;
};

}  // namespace mrclab::lab
