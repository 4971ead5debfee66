#include "fabric/trailer.h"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "fabric/byte_order.h"
#include "fabric/headers.h"

namespace mrclab {
namespace {

constexpr uint32_t kTrailerMagic = 0x4D52'4354;  // "MRCT"
constexpr uint8_t kVersion = 1;
constexpr uint8_t kFlagVoid = 1;
constexpr size_t kCrcOffset = kTrailerBytes - 4;
constexpr size_t kVoidPreludeBytes = kEthernetBytes + 2;  // Ethernet header and count

uint32_t crc_of(const uint8_t* trailer) { return ::libdeflate_crc32(0, trailer, kCrcOffset); }

void store_time(uint8_t* to, FabricTime t) {
  store_be<uint64_t>(to, static_cast<uint64_t>(t.ps()));
}

FabricTime load_time(const uint8_t* from) {
  return FabricTime::from_ps(static_cast<int64_t>(load_be<uint64_t>(from)));
}

/// A time that a sender can mean: not negative, ordered, and the arrival does not overflow.
bool sane_times(const TimeTrailer& t) {
  return t.start >= FabricTime::zero() && t.end >= t.start && t.flight >= FabricTime::zero() &&
         t.end < FabricTime::never() - t.flight;
}

uint16_t ethertype_of(std::span<const uint8_t> frame) { return load_be<uint16_t>(&frame[12]); }

}  // namespace

void write_trailer(const TimeTrailer& trailer, std::span<uint8_t, kTrailerBytes> out) {
  uint8_t* p = out.data();
  store_be<uint32_t>(p, kTrailerMagic);
  p[4] = kVersion;
  p[5] = trailer.lost == DropCause::kNone ? 0 : kFlagVoid;
  p[6] = static_cast<uint8_t>(trailer.lost);
  p[7] = 0;
  store_be<uint32_t>(p + 8, trailer.lab);
  store_be<uint32_t>(p + 12, trailer.wire.value);
  store_be<uint32_t>(p + 16, trailer.incarnation);
  store_be<uint32_t>(p + 20, trailer.modelled_size);
  store_be<uint64_t>(p + 24, trailer.sequence);
  store_time(p + 32, trailer.start);
  store_time(p + 40, trailer.end);
  store_time(p + 48, trailer.flight);
  store_be<uint32_t>(p + 56, 0);
  store_be<uint32_t>(p + kCrcOffset, crc_of(p));
}

std::optional<TimeTrailer> parse_trailer(std::span<const uint8_t> bytes) {
  if (bytes.size() < kTrailerBytes) return std::nullopt;
  const uint8_t* p = bytes.data();
  if (load_be<uint32_t>(p) != kTrailerMagic || p[4] != kVersion) return std::nullopt;
  if (load_be<uint32_t>(p + kCrcOffset) != crc_of(p)) return std::nullopt;
  if (name_of(static_cast<DropCause>(p[6])) == "unknown") return std::nullopt;
  if (p[5] != (p[6] == 0 ? 0 : kFlagVoid) || p[7] != 0 || load_be<uint32_t>(p + 56) != 0) {
    return std::nullopt;
  }
  TimeTrailer trailer;
  trailer.lost = static_cast<DropCause>(p[6]);
  trailer.lab = load_be<uint32_t>(p + 8);
  trailer.wire = WireId{load_be<uint32_t>(p + 12)};
  trailer.incarnation = load_be<uint32_t>(p + 16);
  trailer.modelled_size = load_be<uint32_t>(p + 20);
  trailer.sequence = load_be<uint64_t>(p + 24);
  trailer.start = load_time(p + 32);
  trailer.end = load_time(p + 40);
  trailer.flight = load_time(p + 48);
  if (!sane_times(trailer)) return std::nullopt;
  return trailer;
}

std::optional<size_t> trailer_offset(std::span<const uint8_t> ethernet_frame) {
  if (ethernet_frame.size() < kVoidPreludeBytes + kTrailerBytes) return std::nullopt;
  size_t offset = 0;
  switch (ethertype_of(ethernet_frame)) {
    case kVoidEthertype: {
      const size_t count = load_be<uint16_t>(&ethernet_frame[kEthernetBytes]);
      if (count > kVoidHeaderBytes) return std::nullopt;
      offset = kVoidPreludeBytes + count;
      break;
    }
    case kEthertypeIpv6:
      if (ethernet_frame.size() < kEthernetBytes + kIpv6Bytes + kTrailerBytes) return std::nullopt;
      if (ethernet_frame[kOuterOffset] >> 4 != 6) return std::nullopt;
      offset = kEthernetBytes + kIpv6Bytes + load_be<uint16_t>(&ethernet_frame[kOuterOffset + 4]);
      break;
    default: return std::nullopt;
  }
  if (offset + kTrailerBytes > ethernet_frame.size()) return std::nullopt;
  return offset;
}

void cut_to_void(Frame& lost) {
  const Bytes modelled = lost.modelled_size();
  lost.resize(std::min(lost.size(), kVoidHeaderBytes));
  lost.set_modelled_size(modelled);
}

Frame make_void_frame(FramePool& pool, const Frame& lost) {
  assert(lost);
  const std::span<const uint8_t> bytes = lost.bytes();
  const size_t count = std::min(bytes.size(), kVoidHeaderBytes);
  Frame frame = pool.make(kVoidPreludeBytes + count);
  if (!frame) return frame;
  uint8_t* out = frame.bytes().data();
  std::fill_n(out, kVoidPreludeBytes, uint8_t{0});
  std::copy_n(bytes.begin(), std::min<size_t>(bytes.size(), 12), out);  // both MAC addresses
  store_be<uint16_t>(out + 12, kVoidEthertype);
  store_be<uint16_t>(out + kEthernetBytes, static_cast<uint16_t>(count));
  std::copy_n(bytes.begin(), count, out + kVoidPreludeBytes);
  frame.set_modelled_size(lost.modelled_size());
  return frame;
}

Frame unwrap_void_frame(FramePool& pool, std::span<const uint8_t> ethernet_frame) {
  if (ethernet_frame.size() < kVoidPreludeBytes || ethertype_of(ethernet_frame) != kVoidEthertype) {
    return {};
  }
  const size_t count = load_be<uint16_t>(&ethernet_frame[kEthernetBytes]);
  if (count > kVoidHeaderBytes || kVoidPreludeBytes + count > ethernet_frame.size()) return {};
  return pool.copy(ethernet_frame.subspan(kVoidPreludeBytes, count));
}

}  // namespace mrclab
