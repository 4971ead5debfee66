#pragma once
// The packet history as a digest: whether two runs had the same history, to the
// picosecond, is one comparison of `history_sha256`.
//
// A record is 84 bytes, network byte order: t_ps 8 | event 1 | cause 1 | queue 1 | outer traffic class (DSCP/ECN) 1 |
// wire length 4 | carrier 16 | inner source 16 | inner destination 16 | BTH 12 | PSN 4 | EV 4.
// No payload, ICRC, MAC or trailer. Fields that a frame does not have are zero. Of a pause frame
// (fabric/packet/pause_frame.h) the 16 bytes behind the ethertype stand in place of the carrier, and the quanta for
// RoCE's data in place of the EV.
//
// Per port and direction a node hashes records in commit order, each with what the ones before gave: h(0) is 16 zero
// bytes, h(n) is XXH3's 128-bit hash of h(n-1), the first 32 bytes of record n, and XXH3's 64-bit hash of its content:
// hosts, BTH and EV (both canonical, seed 0; the PSN is in the BTH). No switch changes the content, so a packet of the
// simulated world has it hashed once, not at every port (Frame::content). XXH3 is no cryptographic hash: a person could
// make two histories with one digest on purpose, and mrclab does not guard against that.
//
// That is version 3. In version 2 all 84 bytes were hashed at every port; version 1 had SHA-256 over all records of a
// stream. Digests of different versions cannot be compared.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/cache_line.h"
#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/node/node.h"
#include "fabric/topology/topology.h"

namespace mrclab {

inline constexpr size_t kHistoryRecordBytes = 84;
using HistoryBytes = std::array<uint8_t, kHistoryRecordBytes>;
/// The rule by which the digests of this build are made: `history_version` of a verdict.
inline constexpr uint32_t kHistoryVersion = 3;
/// Of HistoryStream::hash: the version in one byte, then the hash. In version 2 it was a hash of 16 bytes, in version 1
/// one of 32, without their version.
inline constexpr size_t kStreamHashBytes = 17;

/// The record of one packet.
HistoryBytes history_record(const PacketRecord& record);

/// The digest of one port in one direction: how many records, and the hash over them.
struct HistoryStream {
  std::string name;  ///< "p0.t0-0:d1/in", "h3:p2/out"
  uint64_t count = 0;
  std::vector<uint8_t> hash{};  ///< kStreamHashBytes, or what a run of an earlier version left
  bool operator==(const HistoryStream&) const = default;
};

/// The streams of a run, one by one, take some 200 bytes each, and twice that while their digest is computed. A fabric
/// with more is reported by node (our choice: 1,024 hosts on eight planes have 65,536 streams, 131,072 have 8,388,608).
inline constexpr uint64_t kMostStreams = 1u << 20;

/// Digests the packet records of one node. Called for every packet at every hop: it reads fields at
/// fixed offsets, parses nothing and allocates nothing after the node's first record.
class HistoryDigest {
 public:
  /// Records later than `end` are ignored, so that runs which stop at different instants compare.
  HistoryDigest(const Topology& topology, NodeId self, FabricTime end);
  /// To be called in commit order, from NodeObserver::packet. Flat, since it is short and called at every hop.
  [[gnu::flatten]] void packet(const PacketRecord& record);
  /// Likewise, with the record's bytes, which the caller has for its own purposes.
  void packet(const PacketRecord& record, const HistoryBytes& bytes);

  /// Loads into the cache what packet() reads.
  void fetch() const { fetch_lines(streams_.data(), streams_.size() * sizeof(Stream)); }

  /// All streams of the node, also the empty ones, in port order. May be called in between.
  std::vector<HistoryStream> streams() const;
  /// What a run of this fabric reports of the node: its streams; where the fabric has more than kMostStreams, one for
  /// all of them, which has the node's name, their records, and XXH3's 128-bit hash over each one's count u64 and hash.
  std::vector<HistoryStream> reported() const;

  /// The state of the digests as text; another process can go on with it.
  std::string saved() const;
  /// The inverse of saved(); false for any other text.
  bool restore(std::string_view saved);

 private:
  static constexpr size_t kHashBytes = 16;
  struct Stream {
    std::array<uint8_t, kHashBytes> hash{};
    uint64_t count = 0;
  };
  /// A stream's hash, and what of a record it is to be hashed with.
  using ChainedRecord = std::array<uint8_t, kHashBytes + 32 + 8>;
  void append(const PacketRecord& record, ChainedRecord& chained);
  [[gnu::noinline]] void keep_stream(size_t index);
  size_t stream_count() const { return 2 * topology_.node(self_).ports.size(); }

  const Topology& topology_;
  NodeId self_;
  FabricTime end_;
  std::vector<Stream>
      streams_;  // port 0 in, port 0 out, port 1 in, ...; without those at the end that have no record
};

/// SHA-256 in lower-case hex over the streams of all nodes, sorted by name: for each the length of
/// its name u16, name, count u64, hash.
std::string history_sha256(std::vector<HistoryStream> streams);

/// One line per stream, "name count hexhash\n": how a daemon reports its streams.
std::string history_to_text(std::span<const HistoryStream> streams);
/// Inverse of history_to_text for any text at all; empty if a line is malformed, or the hashes are of
/// more than one version.
std::optional<std::vector<HistoryStream>> history_from_text(std::string_view text);
/// By which rule the hashes were made. Without streams: kHistoryVersion.
uint32_t history_version(std::span<const HistoryStream> streams);

}  // namespace mrclab
