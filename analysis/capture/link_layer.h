#pragma once
// What stands in front of an IPv6 packet in captures: Ethernet with or without VLAN tags, Linux cooked
// headers (what `tcpdump -i any` writes), raw IP, loopback. All of them are read as Ethernet.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace mrclab::analysis {

/// Which end of a wire a capture stood at.
enum class WireEnd : uint8_t { kLeaving, kArriving, kUnknown };

class LinkLayer {
 public:
  /// The frame as Ethernet without tags, valid until the next call; it is empty where the record is
  /// shorter than its link header. Nothing for a link type that is not read. Where the header says
  /// whether this machine sent it, `end` is set.
  std::optional<std::span<const uint8_t>> as_ethernet(std::span<const uint8_t> bytes,
                                                      uint16_t link_type, WireEnd& end);

 private:
  void keep_addresses(std::span<const uint8_t> bytes, uint16_t link_type);
  std::vector<uint8_t> scratch_;
};

/// "link type 105 (IEEE802_11)"
std::string link_type_name(uint16_t link_type);
/// What the reader takes, for messages.
inline constexpr const char* kReadLinkTypes =
    "Ethernet (also with VLAN tags), Linux cooked (tcpdump -i any), raw IP or loopback";

}  // namespace mrclab::analysis
