#pragma once
// What stands in front of an IP packet in captures: Ethernet, Linux cooked headers (what `tcpdump -i any` writes), raw IP,
// loopback, PPP. All of them are read as Ethernet, through what packet_unwrapper.h takes off.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/capture/capture_reader.h"
#include "fabric/base/byte_order.h"
#include "fabric/packet/headers.h"
#include "fabric/packet/packet_unwrapper.h"
#include "fabric/packet/trailer.h"

namespace mrclab::analysis {

/// Which end of a wire a capture stood at.
enum class WireEnd : uint8_t { kLeaving, kArriving, kUnknown };

class LinkLayer {
 public:
  /// The record's frame as Ethernet with an IP header and UDP behind it, valid until the next call; it is empty where the
  /// record is shorter than its link header. Nothing for a link type that is not read. `end` is set
  /// where the record or the header has the direction.
  std::optional<std::span<const uint8_t>> as_ethernet(const CaptureRecord& record,
                                                      uint16_t link_type, WireEnd& end) {
    const std::span<const uint8_t> bytes = record.bytes;
    if (record.direction == CaptureDirection::kOutbound) end = WireEnd::kLeaving;
    if (record.direction == CaptureDirection::kInbound) end = WireEnd::kArriving;
    wrapped_ = link_type != kLinkTypeEthernet || !is_plain(bytes);
    return wrapped_ ? converted(bytes, link_type, end) : bytes;  // nearly every frame is plain
  }
  /// Which layers were taken off the record that was read last, and why nothing was found inside it.
  uint32_t layers() const { return wrapped_ ? unwrapper_.layers() : 0; }
  Hidden hidden() const { return wrapped_ ? unwrapper_.hidden() : Hidden::kNothing; }

 private:
  /// Is it a packet to RoCEv2's ports as FrameView reads it, or a frame of our own nodes that is no packet?
  static bool is_plain(std::span<const uint8_t> bytes) {
    constexpr size_t kProtocol = kEthernetBytes + 6, kPort = kEthernetBytes + kIpv6Bytes + 2;
    if (bytes.size() < kPort + 2) return false;
    const auto type = load_be<uint16_t>(&bytes[kEthernetBytes - 2]);
    if (type == kVoidEthertype) return true;
    if (type != kEthertypeIpv6) return false;
    if (bytes[kProtocol] == kNextHeaderUdp) return is_roce(&bytes[kPort]);
    return bytes[kProtocol] == kNextHeaderIpv6 && bytes.size() >= kPort + kIpv6Bytes + 2 &&
           bytes[kProtocol + kIpv6Bytes] == kNextHeaderUdp && is_roce(&bytes[kPort + kIpv6Bytes]);
  }
  static bool is_roce(const uint8_t* port) {
    const auto value = load_be<uint16_t>(port);
    return value == kMrcUdpPort || value == kMrcUdpPortAlternate;
  }

  std::optional<std::span<const uint8_t>> converted(std::span<const uint8_t> bytes,
                                                    uint16_t link_type, WireEnd& end);
  void keep_addresses(std::span<const uint8_t> bytes, uint16_t link_type);
  std::vector<uint8_t> scratch_;
  PacketUnwrapper unwrapper_;
  bool wrapped_ = false;
};

/// "link type 105 (IEEE802_11)"
std::string link_type_name(uint16_t link_type);
/// What the reader takes, for messages.
inline constexpr const char* kReadLinkTypes =
    "Ethernet, Linux cooked (tcpdump -i any), raw IP, PPP or loopback";

}  // namespace mrclab::analysis
