#include "fabric/history/history.h"

// Header alone: a call into the library would cost as much as the hash of so short a record.
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <charconv>
#include <cstring>
#include <tuple>

#include "fabric/base/byte_order.h"
#include "fabric/base/sha256.h"
#include "fabric/history/content_hash.h"
#include "fabric/packet/headers.h"
#include "fabric/packet/pause_frame.h"

namespace mrclab {
namespace {

constexpr size_t kStreamsMax = 1u << 22;  // bound on what a report may hold
constexpr size_t kNameBytesMax = 255;

/// The version of a stream's hash; 0 for one that this program cannot compute.
uint32_t version_of(std::span<const uint8_t> hash) {
  if (hash.size() == 32) return 1;
  if (hash.size() == 16) return 2;
  return hash.size() == kStreamHashBytes && hash[0] == kHistoryVersion ? kHistoryVersion : 0;
}

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
  stream.hash.resize(std::min<size_t>(hash.size() / 2, 32));
  if (!from_hex(hash, stream.hash) || version_of(stream.hash) == 0) return std::nullopt;
  return stream;
}

// What is hashed is in two parts (history.h): what changes from port to port, and what does not. Where the fields are in
// their part, and where in the record the PSN is, which is not hashed apart:
constexpr size_t kHopBytes = 32, kContentBytes = 48;
constexpr size_t kEventAt = 8, kCarrierAt = 16;
constexpr size_t kHostsAt = 0, kBthAt = 32, kEvAt = 44;
constexpr size_t kPsnInRecord = 76, kEvInRecord = 80;
constexpr size_t kContentHashBytes = 8;
using ContentBytes = std::array<uint8_t, kContentBytes>;

/// Writes the part of the content behind the IP header, for an MRC frame: its last 16 bytes.
inline void put_transport(std::span<const uint8_t> frame, Encapsulation kind, uint8_t* out) {
  const FrameLayout at = layout_of(kind);
  const uint8_t* const udp = frame.data() + at.udp;
  const uint16_t port = load_be<uint16_t>(udp + 2);
  if (port != kMrcUdpPort && port != kMrcUdpPortAlternate) return;
  const uint8_t* const bth = frame.data() + at.bth;
  // In the pieces that the hash reads.
  std::memcpy(out + kBthAt, bth, 8);
  store_be<uint64_t>(out + kBthAt + 8,
                     uint64_t{load_be<uint32_t>(bth + 8)} << 32 | entropy_of(frame, kind).value);
}

void put_mapped(const uint8_t* ipv4_address, uint8_t* out) {  // RFC 4291 §2.5.5.2
  std::memset(out, 0, 10);
  out[10] = out[11] = 0xFF;
  std::memcpy(out + 12, ipv4_address, 4);
}

/// An IPv4 frame has one destination, which is written where the carrier would stand and again as the host's, so the
/// record holds as much as SRv6's.
[[gnu::noinline]] void put_ipv4(std::span<const uint8_t> frame, uint8_t* out) {
  if (frame.size() < kEthernetBytes + kIpv4Bytes) return;
  const uint8_t* const ip = frame.data() + kEthernetBytes;
  put_mapped(ip + 12, out + kHostsAt);
  put_mapped(ip + 16, out + kHostsAt + 16);
  const bool whole = frame.size() >= layout_of(Encapsulation::kIpv4).after_bth;
  if (whole && encapsulation_of(frame)) put_transport(frame, Encapsulation::kIpv4, out);
}

/// For an IPv6 frame with at least `kInnerOffset` bytes.
inline void put_ipv6(std::span<const uint8_t> frame, uint8_t* out) {
  const uint8_t* const outer = frame.data() + kOuterOffset;
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

std::span<const uint8_t> bytes_of(const Frame& frame) {
  return frame ? frame.bytes() : std::span<const uint8_t>();
}

/// The addresses and headers by which a packet is identified.
ContentBytes content_bytes(std::span<const uint8_t> frame) {
  ContentBytes out{};
  if (frame.size() < kEthernetBytes) return out;
  const uint16_t ethertype = load_be<uint16_t>(frame.data() + 12);
  if (ethertype == kEthertypeIpv6) {
    if (frame.size() >= kInnerOffset) put_ipv6(frame, out.data());
  } else if (ethertype == kEthertypeIpv4) {
    put_ipv4(frame, out.data());
  } else if (const std::optional<uint16_t> quanta = lossless_quanta(frame)) {
    store_be<uint32_t>(out.data() + kEvAt, *quanta);
  }
  return out;
}

/// The first part of a record of a frame that is not IPv6.
[[gnu::noinline]] void put_other_hop(std::span<const uint8_t> frame, uint8_t& traffic_class,
                                     uint8_t* carrier) {
  std::memset(carrier, 0, 16);
  if (frame.size() < kEthernetBytes) return;
  const uint8_t* const behind = frame.data() + kEthernetBytes;
  if (load_be<uint16_t>(frame.data() + 12) == kEthertypeIpv4) {
    if (frame.size() < kEthernetBytes + kIpv4Bytes) return;
    traffic_class = behind[1];
    put_mapped(behind + 16, carrier);
  } else if (load_be<uint16_t>(frame.data() + 12) == kLldpEthertype) {
    traffic_class = kDscpRouting << 2;  // a record keeps no ethertype: told as what speakers send
  } else if (lossless_quanta(frame)) {
    std::memcpy(carrier, behind, 16);
  }
}

/// Writes the first part of a record.
inline void put_hop(const PacketRecord& record, uint8_t* out) {
  store_be<uint64_t>(out, static_cast<uint64_t>(record.t.ps()));
  const std::span<const uint8_t> bytes = bytes_of(record.frame);
  const Bytes wire_length = record.frame ? record.frame.wire_length() : Bytes{};
  uint8_t traffic_class = 0;
  if (bytes.size() >= kInnerOffset && load_be<uint16_t>(bytes.data() + 12) == kEthertypeIpv6) {
    const uint8_t* const outer = bytes.data() + kOuterOffset;
    traffic_class = static_cast<uint8_t>(load_be<uint16_t>(outer) >> 4);  // DSCP and ECN
    std::memcpy(out + kCarrierAt, outer + 24, 16);
  } else {
    put_other_hop(bytes, traffic_class, out + kCarrierAt);
  }
  const uint32_t kind = static_cast<uint32_t>(record.event) << 24 |
                        static_cast<uint32_t>(record.cause) << 16 |
                        static_cast<uint32_t>(record.queue) << 8 | traffic_class;
  // In one piece, as the hash reads it: a processor waits for two stores before it can load both at once.
  store_be<uint64_t>(out + kEventAt,
                     uint64_t{kind} << 32 | static_cast<uint32_t>(wire_length.value));
}

uint64_t hash_of_content(const ContentBytes& content) {
  return ::XXH3_64bits(content.data(), content.size());
}

/// Hashes the content of a frame, and leaves the hash with it for its next ports.
[[gnu::noinline]] uint64_t find_content(const Frame& frame) {
  const std::span<const uint8_t> bytes = bytes_of(frame);
  const uint64_t hash = hash_of_content(content_bytes(bytes));
  // Without an inner header the destination of a packet may be its carrier, which switches change.
  const bool stays = bytes.size() >= kUdpOffset &&
                     load_be<uint16_t>(bytes.data() + 12) == kEthertypeIpv6 &&
                     bytes[kOuterOffset + 6] == kNextHeaderIpv6;
  if (stays) frame.set_content(hash);
  return hash;
}

inline uint64_t known_content(const Frame& frame) {
  return frame && frame.content() != 0 ? frame.content() : find_content(frame);
}

}  // namespace

uint64_t content_hash(const Frame& frame) { return known_content(frame); }

HistoryBytes history_record(const PacketRecord& record) {
  HistoryBytes out;
  put_hop(record, out.data());
  const ContentBytes content = content_bytes(bytes_of(record.frame));
  std::copy_n(content.begin(), kEvAt, out.begin() + kHopBytes);
  out[kPsnInRecord] = 0;
  std::copy_n(content.begin() + kBthAt + 9, 3, &out[kPsnInRecord + 1]);
  std::copy(content.begin() + kEvAt, content.end(), &out[kEvInRecord]);
  return out;
}

HistoryDigest::HistoryDigest(const Topology& topology, NodeId self, FabricTime end)
    : topology_(topology), self_(self), end_(end) {}

void HistoryDigest::packet(const PacketRecord& record) {
  if (record.t > end_) return;
  ChainedRecord chained;
  put_hop(record, chained.data() + kHashBytes);
  store_be<uint64_t>(chained.data() + kHashBytes + kHopBytes, known_content(record.frame));
  append(record, chained);
}

void HistoryDigest::packet(const PacketRecord& record, const HistoryBytes& bytes) {
  if (record.t > end_) return;
  ChainedRecord chained;
  std::copy_n(bytes.begin(), kHopBytes, chained.begin() + kHashBytes);
  ContentBytes content;
  std::copy_n(bytes.begin() + kHopBytes, kEvAt, content.begin());
  std::copy_n(bytes.begin() + kEvInRecord, kContentBytes - kEvAt, content.begin() + kEvAt);
  store_be<uint64_t>(chained.data() + kHashBytes + kHopBytes, hash_of_content(content));
  append(record, chained);
}

void HistoryDigest::append(const PacketRecord& record, ChainedRecord& chained) {
  const size_t index = 2 * size_t{record.port.value} + (record.direction == Direction::kEgress);
  if (index >= streams_.size()) [[unlikely]]
    keep_stream(index);
  Stream& stream = streams_[index];
  static_assert(kHashBytes + kHopBytes + kContentHashBytes == sizeof(ChainedRecord));
  std::memcpy(chained.data(), stream.hash.data(), kHashBytes);
  XXH128_canonical_t hash;
  ::XXH128_canonicalFromHash(&hash, ::XXH3_128bits(chained.data(), chained.size()));
  static_assert(sizeof hash.digest == kHashBytes);
  std::memcpy(stream.hash.data(), hash.digest, kHashBytes);
  ++stream.count;
}

void HistoryDigest::keep_stream(size_t index) {
  constexpr size_t kAtFirst = 128;  // streams
  assert(index < stream_count());
  streams_.resize(std::min(std::max(std::bit_ceil(index + 1), kAtFirst), stream_count()));
}

std::vector<HistoryStream> HistoryDigest::streams() const {
  std::vector<HistoryStream> result;
  result.reserve(stream_count());
  for (uint32_t i = 0; i < stream_count(); ++i) {
    const std::string port = topology_.port_name({self_, PortId{i / 2}});
    const Stream stream = i < streams_.size() ? streams_[i] : Stream{};
    result.push_back({port + (i % 2 == 0 ? "/in" : "/out"), stream.count, {kHistoryVersion}});
    std::vector<uint8_t>& hash = result.back().hash;
    hash.insert(hash.end(), stream.hash.begin(), stream.hash.end());
  }
  return result;
}

std::vector<HistoryStream> HistoryDigest::reported() const {
  if (2 * topology_.all_wires().size() <= kMostStreams) return streams();
  HistoryStream all{topology_.node(self_).name, 0, {kHistoryVersion}};
  std::vector<uint8_t> bytes(stream_count() * (8 + kHashBytes));
  // The digest keeps no streams of later ports, which have no record: their bytes stay zero.
  for (size_t i = 0; i < streams_.size(); ++i) {
    uint8_t* const at = &bytes[i * (8 + kHashBytes)];
    store_be<uint64_t>(at, streams_[i].count);
    std::copy(streams_[i].hash.begin(), streams_[i].hash.end(), at + 8);
    all.count += streams_[i].count;
  }
  XXH128_canonical_t hash;
  ::XXH128_canonicalFromHash(&hash, ::XXH3_128bits(bytes.data(), bytes.size()));
  all.hash.insert(all.hash.end(), hash.digest, hash.digest + kHashBytes);
  return {std::move(all)};
}

std::string HistoryDigest::saved() const { return history_to_text(streams()); }

bool HistoryDigest::restore(std::string_view saved) {
  const auto streams = history_from_text(saved);
  if (!streams || streams->size() != stream_count()) return false;
  if (history_version(*streams) != kHistoryVersion) return false;
  streams_.resize(stream_count());
  for (size_t i = 0; i < streams_.size(); ++i) {
    streams_[i].count = (*streams)[i].count;
    std::copy_n((*streams)[i].hash.begin() + 1, kHashBytes, streams_[i].hash.begin());
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
  return hex_of(sha256_of(bytes));
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
    const bool mixed =
        !streams.empty() && version_of(stream->hash) != version_of(streams.front().hash);
    if (mixed) return std::nullopt;
    streams.push_back(std::move(*stream));
    text.remove_prefix(end + 1);
  }
  return streams;
}

uint32_t history_version(std::span<const HistoryStream> streams) {
  if (streams.empty()) return kHistoryVersion;
  return version_of(streams.front().hash);
}

}  // namespace mrclab
