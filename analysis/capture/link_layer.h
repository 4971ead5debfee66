#pragma once
// What stands in front of an IPv6 packet in captures: Ethernet with or without VLAN tags, Linux cooked
// headers (what `tcpdump -i any` writes), raw IP, loopback. All of them are read as Ethernet.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/capture/capture_reader.h"
#include "fabric/base/byte_order.h"
#include "fabric/packet/headers.h"

namespace mrclab::analysis {

/// Which end of a wire a capture stood at.
enum class WireEnd : uint8_t { kLeaving, kArriving, kUnknown };

class LinkLayer {
 public:
  /// The record's frame as Ethernet without tags, valid until the next call; it is empty where the
  /// record is shorter than its link header. Nothing for a link type that is not read. `end` is set
  /// where the record or the header has the direction.
  std::optional<std::span<const uint8_t>> as_ethernet(const CaptureRecord& record,
                                                      uint16_t link_type, WireEnd& end) {
    const std::span<const uint8_t> bytes = record.bytes;
    if (record.direction == CaptureDirection::kOutbound) end = WireEnd::kLeaving;
    if (record.direction == CaptureDirection::kInbound) end = WireEnd::kArriving;
    const bool ready = link_type == kLinkTypeEthernet && bytes.size() >= kEthernetBytes &&
                       !is_tag(load_be<uint16_t>(&bytes[kEthernetBytes - 2]));
    return ready ? bytes : converted(bytes, link_type, end);  // nearly every frame is
  }

 private:
  /// The ethertypes of a customer's tag and of a service tag (IEEE 802.1Q, 802.1ad).
  static bool is_tag(uint16_t ethertype) { return ethertype == 0x8100 || ethertype == 0x88A8; }

  std::optional<std::span<const uint8_t>> converted(std::span<const uint8_t> bytes,
                                                    uint16_t link_type, WireEnd& end);
  void keep_addresses(std::span<const uint8_t> bytes, uint16_t link_type);
  std::vector<uint8_t> scratch_;
};

/// "link type 105 (IEEE802_11)"
std::string link_type_name(uint16_t link_type);
/// What the reader takes, for messages.
inline constexpr const char* kReadLinkTypes =
    "Ethernet (also with VLAN tags), Linux cooked (tcpdump -i any), raw IP or loopback";

}  // namespace mrclab::analysis
