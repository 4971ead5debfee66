#pragma once
// The records of a single step: what some nodes of this process did, kept as JSON while a user
// steps through a lab. A watch exists only then; a run without one pays for one comparison per
// record.

#include <atomic>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "fabric/node/node.h"

namespace mrclab {

/// Which records count; all of them if every member is empty.
struct RecordFilter {
  /// One end of a connection: what it gets names its own number, what it sends the peer's.
  struct QueuePair {
    Qpn local;
    Qpn peer;
    Ipv6Address peer_address{};
    bool operator==(const QueuePair&) const = default;
  };
  std::optional<NodeId> node;
  std::optional<PortId> port;   ///< port of that node
  std::optional<QueuePair> qp;  ///< queue pair of that node
  bool operator==(const RecordFilter&) const = default;
};
nlohmann::json to_json(const RecordFilter& filter);
/// Throws nlohmann::json::exception.
RecordFilter record_filter_from(const nlohmann::json& value);

/// {"t_ps", "node", "port", "direction", "event", "cause"?, "bytes", "packet", "qp"?, "psn"?,
/// "ev"?, "path"?, "from"?, "to"?, "retransmission"?}: `packet` is the opcode's name, or "other"
/// for what is no MRC packet; `qp` the destination's; `bytes` the length on the wire.
nlohmann::json describe_packet(const Topology& topology, NodeId node, const PacketRecord& record);
/// {"t_ps", "node", "port"?, "kind", "qp"?, "ev"?, "path"?, "psn"?, "cause"?, "detail"?}.
nlohmann::json describe_event(const Topology& topology, NodeId node, const EventRecord& record);

class RecordWatch {
 public:
  /// Records kept; more are only counted.
  static constexpr size_t kMaxRecords = 512;

  /// `matches` is counted up with every matching record, before its process reports that it is done.
  RecordWatch(const Topology& topology, const RecordFilter& filter, std::atomic<uint64_t>& matches);

  void packet(NodeId node, const PacketRecord& record);
  void event(NodeId node, const EventRecord& record);
  const RecordFilter& filter() const { return filter_; }
  /// {"records": [...], "left_out": n}: what matched since the last call, in commit order per node.
  nlohmann::json take_records();

 private:
  bool matches(NodeId node, const PacketRecord& record) const;
  /// Counts one more; false if there is no room for it.
  bool count();

  const Topology& topology_;
  RecordFilter filter_;
  std::atomic<uint64_t>& matches_;
  nlohmann::json records_ = nlohmann::json::array();
  uint64_t left_out_ = 0;
};

}  // namespace mrclab
