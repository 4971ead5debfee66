#include "fabric/history/history_record.h"

#include <libdeflate.h>

#include <algorithm>

#include "fabric/base/byte_order.h"
#include "fabric/packet/header_fields.h"

namespace mrclab {
namespace {

constexpr std::array<uint8_t, 8> kHistoryMagic{'m', 'r', 'c', 'h', 'i', 's', 't', '\n'};

/// Where the digest's record holds the fields that are kept (fabric/history/history.h).
constexpr size_t kEvent = 8, kCause = 9, kQueue = 10, kTrafficClass = 11, kWireLength = 12;
constexpr size_t kHosts = 32, kHostsBytes = 32;
constexpr size_t kBth = 64, kQpnInBth = 5, kPsn = 77, kEv = 80;

/// In the octet of the queue: the event, and whether the packet is a retransmission.
constexpr uint8_t kEventBits = 7, kAgain = 8;

bool is_sent_again(const HistoryBytes& record) {
  constexpr FieldPlace kRtx = place_of<kBthTable>("rtx");
  return is_write(static_cast<Opcode>(record[kBth])) &&
         load_bits<kRtx.bit, kRtx.width>(&record[kBth]) != 0;
}

}  // namespace

uint32_t first_stream(const Topology& topology, NodeId node) {
  uint32_t ports = 0;
  for (uint32_t i = 0; i < node.value; ++i) {
    ports += static_cast<uint32_t>(topology.nodes[i].ports.size());
  }
  return 2 * ports;
}

uint32_t stream_count(const Topology& topology) {
  return first_stream(topology, NodeId{static_cast<uint32_t>(topology.nodes.size())});
}

std::vector<std::string> stream_names(const Topology& topology) {
  std::vector<std::string> names;
  names.reserve(stream_count(topology));
  for (const NodeSite& site : topology.nodes) {
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const std::string port = topology.port_name({site.id, PortId{i}});
      names.push_back(port + "/in");
      names.push_back(port + "/out");
    }
  }
  return names;
}

CompactBytes compact_bytes(const HistoryBytes& record, uint32_t stream) {
  CompactBytes out;
  std::copy_n(record.begin(), 8, out.begin());
  store_be<uint32_t>(&out[8], stream);
  out[12] = static_cast<uint8_t>(record[kQueue] << 4 | (is_sent_again(record) ? kAgain : 0) |
                                 record[kEvent]);
  out[13] = record[kCause];
  out[14] = record[kTrafficClass];
  out[15] = record[kBth];
  const uint32_t wire_length = load_be<uint32_t>(&record[kWireLength]);
  store_be<uint16_t>(&out[16], static_cast<uint16_t>(std::min<uint32_t>(wire_length, UINT16_MAX)));
  std::copy_n(&record[kPsn], 3, &out[18]);
  std::copy_n(&record[kBth + kQpnInBth], 3, &out[21]);
  std::copy_n(&record[kEv], 4, &out[24]);
  store_be<uint32_t>(&out[28], ::libdeflate_crc32(0, record.data(), record.size()));
  store_be<uint32_t>(&out[32], ::libdeflate_crc32(0, &record[kHosts], kHostsBytes));
  return out;
}

uint32_t peers_of(const Ipv6Address& source, const Ipv6Address& destination) {
  std::array<uint8_t, kHostsBytes> hosts;
  std::copy(source.begin(), source.end(), hosts.begin());
  std::copy(destination.begin(), destination.end(), hosts.begin() + source.size());
  return ::libdeflate_crc32(0, hosts.data(), hosts.size());
}

namespace {

/// Bits of a file may be no value of the enum.
bool is_one(PacketEvent event) {
  switch (event) {
    case PacketEvent::kPassed:
    case PacketEvent::kTrimmed:
    case PacketEvent::kDropped: return true;
  }
  return false;
}

bool is_one(QueueClass queue) {
  switch (queue) {
    case QueueClass::kNone:
    case QueueClass::kData:
    case QueueClass::kControl:
    case QueueClass::kTrimmed:
    case QueueClass::kLossless:
    case QueueClass::kPause: return true;
  }
  return false;
}

}  // namespace

std::optional<CompactRecord> parse_compact(std::span<const uint8_t, kCompactRecordBytes> bytes,
                                           uint32_t streams) {
  CompactRecord record;
  const auto t = static_cast<int64_t>(load_be<uint64_t>(&bytes[0]));
  record.t = FabricTime::from_ps(t);
  record.stream = load_be<uint32_t>(&bytes[8]);
  record.event = static_cast<PacketEvent>(bytes[12] & kEventBits);
  record.again = (bytes[12] & kAgain) != 0;
  record.queue = static_cast<QueueClass>(bytes[12] >> 4);
  record.cause = static_cast<DropCause>(bytes[13]);
  if (t < 0 || record.stream >= streams || !is_one(record.event) || !is_one(record.queue) ||
      name_of(record.cause) == "unknown") {
    return std::nullopt;
  }
  record.traffic_class = bytes[14];
  record.opcode = bytes[15];
  record.wire_length = load_be<uint16_t>(&bytes[16]);
  record.psn = Psn{load_be24(&bytes[18])};
  record.qpn = {load_be24(&bytes[21])};
  record.ev = {load_be<uint32_t>(&bytes[24])};
  record.fingerprint = load_be<uint32_t>(&bytes[28]);
  record.peers = load_be<uint32_t>(&bytes[32]);
  return record;
}

HistoryHeaderBytes header_bytes(const HistoryFileHeader& header) {
  HistoryHeaderBytes out{};
  std::copy(kHistoryMagic.begin(), kHistoryMagic.end(), out.begin());
  store_be<uint32_t>(&out[8], kHistoryFileVersion);
  store_be<uint32_t>(&out[12], kCompactRecordBytes);
  store_be<uint32_t>(&out[16], header.streams);
  store_be<uint64_t>(&out[24], header.records);
  store_be<uint64_t>(&out[32], header.left_out);
  store_be<uint64_t>(&out[40], static_cast<uint64_t>(header.complete.ps()));
  return out;
}

std::optional<HistoryFileHeader> parse_history_header(
    std::span<const uint8_t, kHistoryHeaderBytes> bytes, std::string& problem) {
  if (!std::equal(kHistoryMagic.begin(), kHistoryMagic.end(), bytes.begin())) {
    problem = "this is no file of history records";
    return std::nullopt;
  }
  if (const uint32_t version = load_be<uint32_t>(&bytes[8]); version != kHistoryFileVersion) {
    problem = "version " + std::to_string(version) + " of the records; this program reads " +
              std::to_string(kHistoryFileVersion);
    return std::nullopt;
  }
  HistoryFileHeader header;
  header.streams = load_be<uint32_t>(&bytes[16]);
  header.records = load_be<uint64_t>(&bytes[24]);
  header.left_out = load_be<uint64_t>(&bytes[32]);
  const auto complete = static_cast<int64_t>(load_be<uint64_t>(&bytes[40]));
  header.complete = FabricTime::from_ps(complete);
  if (load_be<uint32_t>(&bytes[12]) != kCompactRecordBytes || load_be<uint32_t>(&bytes[20]) != 0 ||
      complete < 0) {
    problem = "a header that contradicts its version";
    return std::nullopt;
  }
  return header;
}

std::string seal_of_history(const EvidenceSeal& seal, uint32_t records,
                            const HistoryHeaderBytes& header) {
  return to_text(seal, checksum(records, header));
}

std::optional<EvidenceSeal> parse_history_seal(std::string_view text, uint32_t records,
                                               const HistoryHeaderBytes& header) {
  return parse_seal(text, checksum(records, header));
}

}  // namespace mrclab
