#include "fabric/history/history.h"

#include <openssl/sha.h>

// Header alone: a call into the library would cost as much as the hash of so short a record.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <cstring>
#include <tuple>

#include "fabric/base/byte_order.h"
#include "fabric/packet/headers.h"
#include "fabric/packet/pause_frame.h"

namespace mrclab {
namespace {

constexpr size_t kStreamsMax = 1u << 22;  // bound on what a report may hold
constexpr size_t kNameBytesMax = 255;

constexpr std::array<size_t, 2> kStreamHashBytesOf{32, kStreamHashBytes};  // by version, from 1

std::string to_hex(std::span<const uint8_t> hash) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  text.reserve(2 * hash.size());
  for (const uint8_t byte : hash) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 0xF];
  }
  return text;
}

/// True if `text` is exactly as many hex digits as `bytes` needs, which then has their values.
bool from_hex(std::string_view text, std::span<uint8_t> bytes) {
  if (text.size() != 2 * bytes.size()) return false;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char* const digits = text.data() + 2 * i;
    const auto [end, error] = std::from_chars(digits, digits + 2, bytes[i], 16);
    if (error != std::errc{} || end != digits + 2) return false;
  }
  return true;
}

/// "name count hexhash"
std::optional<HistoryStream> parse_line(std::string_view line) {
  const size_t first = line.find(' ');
  if (first == 0 || first == std::string_view::npos || first > kNameBytesMax) return std::nullopt;
  const size_t second = line.find(' ', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  HistoryStream stream;
  stream.name = line.substr(0, first);
  const auto [end, error] =
      std::from_chars(line.data() + first + 1, line.data() + second, stream.count);
  if (error != std::errc{} || end != line.data() + second) return std::nullopt;
  const std::string_view hash = line.substr(second + 1);
  const auto version =
      std::find(kStreamHashBytesOf.begin(), kStreamHashBytesOf.end(), hash.size() / 2);
  if (version == kStreamHashBytesOf.end()) return std::nullopt;
  stream.hash.resize(*version);
  if (!from_hex(hash, stream.hash)) return std::nullopt;
  return stream;
}

/// A record as it is written, and where its fields are (history.h).
using RecordPlace = uint8_t*;
constexpr size_t kTrafficClassAt = 11, kWireLengthAt = 12, kCarrierAt = 16, kHostsAt = 32,
                 kBthAt = 64, kPsnAt = 76, kEvAt = 80;

/// Writes the part of a record behind the IP header, for an MRC frame: its last 20 bytes.
inline void put_transport(std::span<const uint8_t> frame, Encapsulation kind, RecordPlace out) {
  const FrameLayout at = layout_of(kind);
  const uint8_t* const udp = frame.data() + at.udp;
  const uint16_t port = load_be<uint16_t>(udp + 2);
  if (port != kMrcUdpPort && port != kMrcUdpPortAlternate) return;
  const uint8_t* const bth = frame.data() + at.bth;
  std::memcpy(out + kBthAt, bth, kBthBytes);
  store_be<uint32_t>(out + kPsnAt, load_be<uint32_t>(bth + 8) & 0xFF'FFFF);
  store_be<uint32_t>(out + kEvAt, entropy_of(frame, kind).value);
}

/// Writes the addresses and transport of an IPv4 frame. It has one destination, which is written
/// where the carrier would stand and again as the host's, so the record says as much as SRv6's.
[[gnu::noinline]] void put_ipv4(std::span<const uint8_t> frame, RecordPlace out) {
  if (frame.size() < kEthernetBytes + kIpv4Bytes) return;
  const uint8_t* const ip = frame.data() + kEthernetBytes;
  out[kTrafficClassAt] = ip[1];
  const auto put_mapped = [out](size_t at, const uint8_t* address) {  // RFC 4291 §2.5.5.2
    out[at + 10] = out[at + 11] = 0xFF;
    std::memcpy(out + at + 12, address, 4);
  };
  const uint8_t *const source = ip + 12, *const destination = ip + 16;
  put_mapped(kCarrierAt, destination);
  put_mapped(kHostsAt, source);
  put_mapped(kHostsAt + 16, destination);
  const bool whole = frame.size() >= layout_of(Encapsulation::kIpv4).after_bth;
  if (whole && encapsulation_of(frame)) put_transport(frame, Encapsulation::kIpv4, out);
}

/// Writes what a record says of an IPv6 frame with at least `kInnerOffset` bytes.
inline void put_ipv6(std::span<const uint8_t> frame, RecordPlace out) {
  const uint8_t* const outer = frame.data() + kOuterOffset;
  out[kTrafficClassAt] = static_cast<uint8_t>(outer[0] << 4 | outer[1] >> 4);  // DSCP and ECN
  std::memcpy(out + kCarrierAt, outer + 24, 16);
  if (outer[6] == kNextHeaderUdp) {
    std::memcpy(out + kHostsAt, outer + 8, 32);
    const bool whole = frame.size() >= layout_of(Encapsulation::kIpv6).after_bth;
    if (whole) put_transport(frame, Encapsulation::kIpv6, out);
    return;
  }
  if (frame.size() < kUdpOffset || outer[6] != kNextHeaderIpv6) return;
  const uint8_t* const inner = frame.data() + kInnerOffset;
  std::memcpy(out + kHostsAt, inner + 8, 32);
  if (frame.size() < kAfterBthOffset || inner[6] != kNextHeaderUdp) return;
  put_transport(frame, Encapsulation::kSrv6, out);
}

/// Writes all bytes of a record.
inline void put_record(const PacketRecord& record, RecordPlace out) {
  store_be<uint64_t>(out, static_cast<uint64_t>(record.t.ps()));
  std::memset(out + 8, 0, kHistoryRecordBytes - 8);
  out[8] = static_cast<uint8_t>(record.event);
  out[9] = static_cast<uint8_t>(record.cause);
  out[10] = static_cast<uint8_t>(record.queue);
  if (!record.frame) return;
  store_be<uint32_t>(out + kWireLengthAt, static_cast<uint32_t>(record.frame.wire_length().value));
  const std::span<const uint8_t> bytes = record.frame.bytes();
  if (bytes.size() < kEthernetBytes) return;
  const uint16_t ethertype = load_be<uint16_t>(bytes.data() + 12);
  if (ethertype == kEthertypeIpv6) {
    if (bytes.size() >= kInnerOffset) put_ipv6(bytes, out);
  } else if (ethertype == kEthertypeIpv4) {
    put_ipv4(bytes, out);
  } else if (const std::optional<uint16_t> quanta = lossless_quanta(bytes)) {
    std::memcpy(out + kCarrierAt, bytes.data() + kEthernetBytes, 16);
    store_be<uint32_t>(out + kEvAt, *quanta);
  }
}

}  // namespace

HistoryBytes history_record(const PacketRecord& record) {
  HistoryBytes out;
  put_record(record, out.data());
  return out;
}

HistoryDigest::HistoryDigest(const Topology& topology, NodeId self, FabricTime end)
    : topology_(topology), self_(self), end_(end), streams_(2 * topology.node(self).ports.size()) {}

void HistoryDigest::packet(const PacketRecord& record) {
  if (record.t > end_) return;
  ChainedRecord chained;
  put_record(record, chained.data() + kStreamHashBytes);
  append(record, chained);
}

void HistoryDigest::packet(const PacketRecord& record, const HistoryBytes& bytes) {
  if (record.t > end_) return;
  ChainedRecord chained;
  std::memcpy(chained.data() + kStreamHashBytes, bytes.data(), kHistoryRecordBytes);
  append(record, chained);
}

void HistoryDigest::append(const PacketRecord& record, ChainedRecord& chained) {
  const size_t index = 2 * size_t{record.port.value} + (record.direction == Direction::kEgress);
  assert(index < streams_.size());
  Stream& stream = streams_[index];
  std::memcpy(chained.data(), stream.hash.data(), kStreamHashBytes);
  XXH128_canonical_t hash;
  ::XXH128_canonicalFromHash(&hash, ::XXH3_128bits(chained.data(), chained.size()));
  static_assert(sizeof hash.digest == kStreamHashBytes);
  std::memcpy(stream.hash.data(), hash.digest, kStreamHashBytes);
  ++stream.count;
}

std::vector<HistoryStream> HistoryDigest::streams() const {
  std::vector<HistoryStream> result;
  result.reserve(streams_.size());
  for (uint32_t i = 0; i < streams_.size(); ++i) {
    const std::string port = topology_.port_name({self_, PortId{i / 2}});
    const Stream& stream = streams_[i];
    result.push_back({port + (i % 2 == 0 ? "/in" : "/out"),
                      stream.count,
                      {stream.hash.begin(), stream.hash.end()}});
  }
  return result;
}

std::string HistoryDigest::saved() const { return history_to_text(streams()); }

bool HistoryDigest::restore(std::string_view saved) {
  const auto streams = history_from_text(saved);
  if (!streams || streams->size() != streams_.size()) return false;
  if (history_version(*streams) != kHistoryVersion) return false;
  for (size_t i = 0; i < streams_.size(); ++i) {
    streams_[i].count = (*streams)[i].count;
    std::copy_n((*streams)[i].hash.begin(), kStreamHashBytes, streams_[i].hash.begin());
  }
  return true;
}

std::string history_sha256(std::vector<HistoryStream> streams) {
  std::sort(streams.begin(), streams.end(), [](const HistoryStream& a, const HistoryStream& b) {
    return std::tie(a.name, a.count, a.hash) < std::tie(b.name, b.count, b.hash);
  });
  std::vector<uint8_t> bytes;
  for (const HistoryStream& stream : streams) {
    std::array<uint8_t, 2> name_length;
    std::array<uint8_t, 8> count;
    store_be<uint16_t>(name_length.data(), static_cast<uint16_t>(stream.name.size()));
    store_be<uint64_t>(count.data(), stream.count);
    bytes.insert(bytes.end(), name_length.begin(), name_length.end());
    bytes.insert(bytes.end(), stream.name.begin(), stream.name.end());
    bytes.insert(bytes.end(), count.begin(), count.end());
    bytes.insert(bytes.end(), stream.hash.begin(), stream.hash.end());
  }
  std::array<uint8_t, SHA256_DIGEST_LENGTH> hash;
  ::SHA256(bytes.data(), bytes.size(), hash.data());
  return to_hex(hash);
}

std::string history_to_text(std::span<const HistoryStream> streams) {
  std::string text;
  for (const HistoryStream& stream : streams) {
    text += stream.name + ' ' + std::to_string(stream.count) + ' ' + to_hex(stream.hash) + '\n';
  }
  return text;
}

std::optional<std::vector<HistoryStream>> history_from_text(std::string_view text) {
  std::vector<HistoryStream> streams;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    if (end == std::string_view::npos || streams.size() == kStreamsMax) return std::nullopt;
    std::optional<HistoryStream> stream = parse_line(text.substr(0, end));
    if (!stream) return std::nullopt;
    if (!streams.empty() && stream->hash.size() != streams.front().hash.size()) return std::nullopt;
    streams.push_back(std::move(*stream));
    text.remove_prefix(end + 1);
  }
  return streams;
}

uint32_t history_version(std::span<const HistoryStream> streams) {
  if (streams.empty()) return kHistoryVersion;
  const auto found =
      std::find(kStreamHashBytesOf.begin(), kStreamHashBytesOf.end(), streams.front().hash.size());
  return 1 + static_cast<uint32_t>(found - kStreamHashBytesOf.begin());
}

}  // namespace mrclab
