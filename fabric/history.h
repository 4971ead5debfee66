#pragma once
// The packet history as a digest: whether two runs had the same history, to the
// picosecond, is one comparison of `history_sha256`.
//
// Per port and direction a node hashes fixed-size records in commit order. A record is 84 bytes,
// network byte order: t_ps 8 | event 1 | cause 1 | queue 1 | outer traffic class (DSCP/ECN) 1 |
// wire length 4 | carrier 16 | inner source 16 | inner destination 16 | BTH 12 | PSN 4 | EV 4.
// No payload, ICRC, MAC or trailer. Fields that a frame does not have are zero. Of a pause frame
// (fabric/pause_frame.h) the 16 bytes behind the ethertype stand in place of the carrier, and the quanta for
// RoCE's data in place of the EV.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/ids.h"
#include "fabric/node.h"
#include "fabric/topology.h"
#include "fabric/units.h"

namespace mrclab {

inline constexpr size_t kHistoryRecordBytes = 84;
using HistoryBytes = std::array<uint8_t, kHistoryRecordBytes>;
using Sha256 = std::array<uint8_t, 32>;

/// The record of one packet, as it is hashed.
HistoryBytes history_record(const PacketRecord& record);

/// The digest of one port in one direction: how many records, and the hash over them.
struct HistoryStream {
  std::string name;  ///< "p0.t0-0:d1/in", "h3:p2/out"
  uint64_t count = 0;
  Sha256 hash{};
  bool operator==(const HistoryStream&) const = default;
};

/// Digests the packet records of one node. Called for every packet at every hop: it reads fields at
/// fixed offsets, parses nothing and allocates nothing after construction.
class HistoryDigest {
 public:
  /// Records later than `end` are ignored, so that runs which stop at different instants compare.
  HistoryDigest(const Topology& topology, NodeId self, FabricTime end);
  HistoryDigest(HistoryDigest&&) noexcept;
  ~HistoryDigest();

  /// To be called in commit order, from NodeObserver::packet.
  void packet(const PacketRecord& record) { packet(record, history_record(record)); }
  /// Likewise, with the record's bytes, which the caller has for its own purposes.
  void packet(const PacketRecord& record, const HistoryBytes& bytes);

  /// All streams of the node, also the empty ones, in port order. May be called in between.
  std::vector<HistoryStream> streams() const;

  /// The state of the digests as text; another process of this build can go on with it.
  std::string saved() const;
  /// The inverse of saved(); false for any other text.
  bool restore(std::string_view saved);

 private:
  struct Stream;
  const Topology& topology_;
  NodeId self_;
  FabricTime end_;
  std::vector<Stream> streams_;  // port 0 in, port 0 out, port 1 in, ...
};

/// SHA-256 in lower-case hex over the streams of all nodes, sorted by name: for each the length of
/// its name u16, name, count u64, hash.
std::string history_sha256(std::vector<HistoryStream> streams);

/// One line per stream, "name count hexhash\n": how a daemon reports its streams.
std::string history_to_text(std::span<const HistoryStream> streams);
/// Inverse of history_to_text for any text at all; empty if a line is malformed.
std::optional<std::vector<HistoryStream>> history_from_text(std::string_view text);

}  // namespace mrclab
