#pragma once
// Packet records short enough to be kept: what is needed to find the first difference between two
// runs whose digests differ. The live and the simulated world write the same files.
//
// history/<process>.bin: a header of 48 bytes and records of 36, in commit
// order per stream, network byte order:
//
//   header  "mrchist\n" 8 | version 4 | record size 4 | streams 4 | zero 4 | records 8 |
//           left out 8 | complete_ps 8
//   record  t_ps 8 | stream 4 | queue 4 bits, retransmitted 1 bit, event 3 bits | cause 1 | outer traffic class 1 |
//           opcode 1 | wire length 2 | PSN 3 | QPN 3 | EV 4 | CRC-32 of the digest's record 4 |
//           CRC-32 of the hosts' addresses 4
//
//   seal    the text of fabric/history/evidence_seal.h; its checksum covers all records, then the header
//
// A file is bounded and holds a prefix of its nodes' history: the first record that found no room
// is the first of all that are left out. A file that was not closed, or whose writer was not given
// its nodes, has no seal.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fabric/history/evidence_seal.h"
#include "fabric/history/history.h"

namespace mrclab {

inline constexpr uint32_t kHistoryFileVersion = 3;
inline constexpr size_t kHistoryHeaderBytes = 48;
inline constexpr size_t kCompactRecordBytes = 36;
/// What the records of one run may take on disk by default: a demo takes half of it.
inline constexpr uint64_t kHistoryBytesDefault = uint64_t{128} << 20;

/// The number of a node's first stream. Streams are numbered through the whole fabric: node by
/// node, port by port, in before out.
uint32_t first_stream(const Topology& topology, NodeId node);
uint32_t stream_count(const Topology& topology);
/// The name of each stream by its number: "p0.t0-0:d1/in".
std::vector<std::string> stream_names(const Topology& topology);

/// One packet at one port, as it is kept. Fields that the frame does not have are zero.
struct CompactRecord {
  FabricTime t;
  uint32_t stream = 0;
  PacketEvent event = PacketEvent::kPassed;
  DropCause cause = DropCause::kNone;
  QueueClass queue = QueueClass::kNone;
  bool again = false;         ///< a retransmission by its own header (MRC's writes only)
  uint8_t traffic_class = 0;  ///< of the outer header: DSCP << 2 | ECN
  uint8_t opcode = 0;         ///< 0: no MRC packet
  uint16_t wire_length = 0;   ///< bytes
  Psn psn;
  Qpn qpn;
  EntropyValue ev;
  uint32_t fingerprint = 0;  ///< CRC-32 of all 84 bytes of the digest's record
  uint32_t peers = 0;        ///< CRC-32 of both hosts' addresses: a probe's QPN names neither
  bool operator==(const CompactRecord&) const = default;
};

/// CompactRecord::peers of two hosts' addresses.
uint32_t peers_of(const Ipv6Address& source, const Ipv6Address& destination);

using CompactBytes = std::array<uint8_t, kCompactRecordBytes>;
CompactBytes compact_bytes(const HistoryBytes& record, uint32_t stream);
/// Empty for a value that no record has, or a stream beyond `streams`.
std::optional<CompactRecord> parse_compact(std::span<const uint8_t, kCompactRecordBytes> bytes,
                                           uint32_t streams);

struct HistoryFileHeader {
  static constexpr uint64_t kUnfinished = UINT64_MAX;
  uint32_t streams = 0;
  uint64_t records = kUnfinished;  ///< kUnfinished: the writer did not come to close the file
  uint64_t left_out = 0;
  /// Every record before this instant is in the file; never() if nothing was left out.
  FabricTime complete = FabricTime::zero();
  bool operator==(const HistoryFileHeader&) const = default;
};
using HistoryHeaderBytes = std::array<uint8_t, kHistoryHeaderBytes>;
HistoryHeaderBytes header_bytes(const HistoryFileHeader& header);
/// Empty, with the reason in `problem`, if it is no header of this version.
std::optional<HistoryFileHeader> parse_history_header(
    std::span<const uint8_t, kHistoryHeaderBytes> bytes, std::string& problem);

/// The text behind the last record; `records` is the checksum of all records.
std::string seal_of_history(const EvidenceSeal& seal, uint32_t records,
                            const HistoryHeaderBytes& header);
/// Empty if the seal does not fit records and header.
std::optional<EvidenceSeal> parse_history_seal(std::string_view text, uint32_t records,
                                               const HistoryHeaderBytes& header);

}  // namespace mrclab
