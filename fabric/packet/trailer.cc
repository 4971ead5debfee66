#include "fabric/packet/trailer.h"

#include <libdeflate.h>

#include <algorithm>
#include <array>
#include <cassert>

#include "fabric/base/byte_order.h"
#include "fabric/packet/header_fields.h"
#include "fabric/packet/headers.h"
#include "fabric/packet/pause_frame.h"

namespace mrclab {
namespace {

constexpr FieldPlace kVoidFlag = place_of<kTrailerTable>("void");
constexpr FieldPlace kCrc = place_of<kTrailerTable>("crc");
constexpr size_t kCrcOffset = kCrc.bit / 8;
constexpr size_t kVoidPreludeBytes = kEthernetBytes + 2;  // Ethernet header and count

uint32_t crc_of(const uint8_t* trailer) { return ::libdeflate_crc32(0, trailer, kCrcOffset); }

/// A time that a sender can mean: not negative, ordered, and the arrival does not overflow.
bool sane_times(const TimeTrailer& t) {
  return t.start >= FabricTime::zero() && t.end >= t.start && t.flight >= FabricTime::zero() &&
         t.end < FabricTime::never() - t.flight;
}

bool is_ethertype_of_ip(uint16_t type) { return type == kEthertypeIpv6 || type == kEthertypeIpv4; }

uint16_t ethertype_of(std::span<const uint8_t> frame) { return load_be<uint16_t>(&frame[12]); }

}  // namespace

void write_trailer(const TimeTrailer& trailer, std::span<uint8_t, kTrailerBytes> out) {
  uint8_t* p = out.data();
  write_header<kTrailerTable>(trailer, p);
  if (trailer.lost != DropCause::kNone) store_bits<kVoidFlag.bit, kVoidFlag.width>(p, 1);
  store_bits<kCrc.bit, kCrc.width>(p, crc_of(p));
}

std::optional<TimeTrailer> parse_trailer(std::span<const uint8_t> bytes) {
  if (bytes.size() < kTrailerBytes) return std::nullopt;
  const uint8_t* p = bytes.data();
  if (!constants_right<kTrailerTable>(p)) return std::nullopt;
  if (load_bits<kCrc.bit, kCrc.width>(p) != crc_of(p)) return std::nullopt;
  TimeTrailer trailer;
  read_header<kTrailerTable>(p, trailer);
  const bool is_void = load_bits<kVoidFlag.bit, kVoidFlag.width>(p) != 0;
  if (name_of(trailer.lost) == "unknown" || is_void != (trailer.lost != DropCause::kNone)) {
    return std::nullopt;
  }
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
    case kEthertypeIpv4:
      if (ethernet_frame.size() < kEthernetBytes + kIpv4Bytes + kTrailerBytes) return std::nullopt;
      if (ethernet_frame[kEthernetBytes] >> 4 != 4) return std::nullopt;
      offset = kEthernetBytes + load_be<uint16_t>(&ethernet_frame[kEthernetBytes + 2]);
      break;
    case kPauseEthertype: offset = kPauseFrameBytes; break;
    case kLldpEthertype: offset = kLldpFrameBytes; break;
    default: return std::nullopt;
  }
  const size_t last = ethernet_frame.size() - kTrailerBytes;
  if (offset <= last) return offset;
  const bool elided = is_ethertype_of_ip(ethertype_of(ethernet_frame)) &&
                      load_be<uint32_t>(&ethernet_frame[last]) == kTrailerMagic;
  return elided ? std::optional<size_t>(last) : std::nullopt;
}

void cut_to_void(Frame& lost) {
  const Bytes modelled = lost.modelled_size();
  lost.drop_payload();
  lost.resize(std::min(lost.size(), kVoidHeaderBytes));
  lost.set_modelled_size(modelled);
}

Frame make_void_frame(FramePool& pool, const Frame& lost) {
  assert(lost);
  const std::span<const uint8_t> bytes = lost.bytes();
  const size_t count = std::min(bytes.size(), kVoidHeaderBytes);
  Frame frame = pool.make(kVoidPreludeBytes + count);
  if (!frame) return frame;
  uint8_t* out = frame.writable_bytes().data();
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
