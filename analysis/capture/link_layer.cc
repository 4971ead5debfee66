#include "analysis/capture/link_layer.h"

#include <pcap/pcap.h>

#include <algorithm>

namespace mrclab::analysis {
namespace {

// Link types of https://www.tcpdump.org/linktypes.html that MRC can stand in.
constexpr uint16_t kLinkNull = 0, kLinkPpp = 9, kLinkRawBsd = 12, kLinkRawOpenBsd = 14,
                   kLinkPppSerial = 50, kLinkRaw = 101, kLinkHdlc = 104, kLinkLoop = 108,
                   kLinkCooked = 113, kLinkPppDirection = 204, kLinkIpv4 = 228, kLinkIpv6 = 229,
                   kLinkCooked2 = 276;
constexpr uint16_t kSentByUs = 4;  // packet type of the cooked headers
constexpr size_t kCookedBytes = 16, kCooked2Bytes = 20, kLoopbackBytes = 4, kAddressBytes = 12;

struct LinkHeader {
  size_t bytes = 0;
  uint16_t ethertype = kEthertypeIpv6;  ///< type of the header that follows
};

/// Where no field of the link header names the IP version, the IP header does.
LinkHeader ip_behind(std::span<const uint8_t> bytes, size_t header) {
  const bool ipv4 = bytes.size() > header && bytes[header] >> 4 == 4;
  return {header, ipv4 ? kEthertypeIpv4 : kEthertypeIpv6};
}

/// PPP (RFC 1661, 1662): address and control may be left out, the protocol's first zero byte too.
LinkHeader ppp_behind(std::span<const uint8_t> bytes, size_t header) {
  constexpr uint16_t kPppMpls = 0x0281;
  if (bytes.size() > header + 1 && bytes[header] == 0xFF && bytes[header + 1] == 0x03) header += 2;
  if (bytes.size() < header + 2) return LinkHeader{header + 2};
  const auto protocol = load_be<uint16_t>(&bytes[header]);
  if (protocol == kPppMpls) return {header + 2, 0x8847};
  return ip_behind(bytes, header + ((bytes[header] & 1) != 0 ? 1 : 2));
}

/// Nothing for a link type that is not read. Longer than `bytes` if the record is too short.
std::optional<LinkHeader> header_of(std::span<const uint8_t> bytes, uint16_t link_type,
                                    WireEnd& end) {
  switch (link_type) {
    case kLinkTypeEthernet:
      if (bytes.size() < kEthernetBytes) return LinkHeader{kEthernetBytes};
      return LinkHeader{kEthernetBytes, load_be<uint16_t>(&bytes[kAddressBytes])};
    case kLinkRaw:
    case kLinkRawBsd:
    case kLinkRawOpenBsd:
    case kLinkIpv4:
    case kLinkIpv6: return ip_behind(bytes, 0);
    case kLinkPpp: return ppp_behind(bytes, 0);
    case kLinkPppDirection: return ppp_behind(bytes, 1);
    case kLinkPppSerial:
    case kLinkHdlc:
      if (bytes.size() < kLoopbackBytes) return LinkHeader{kLoopbackBytes};
      if (bytes[0] == 0xFF) return ppp_behind(bytes, 0);
      return LinkHeader{kLoopbackBytes, load_be<uint16_t>(&bytes[2])};
    case kLinkNull:
    case kLinkLoop: return ip_behind(bytes, kLoopbackBytes);
    case kLinkCooked:
      if (bytes.size() < kCookedBytes) return LinkHeader{kCookedBytes};
      end = load_be<uint16_t>(bytes.data()) == kSentByUs ? WireEnd::kLeaving : WireEnd::kArriving;
      return LinkHeader{kCookedBytes, load_be<uint16_t>(&bytes[14])};
    case kLinkCooked2:
      if (bytes.size() < kCooked2Bytes) return LinkHeader{kCooked2Bytes};
      end = bytes[10] == kSentByUs ? WireEnd::kLeaving : WireEnd::kArriving;
      return LinkHeader{kCooked2Bytes, load_be<uint16_t>(bytes.data())};
    default: return std::nullopt;
  }
}

}  // namespace

std::optional<std::span<const uint8_t>> LinkLayer::converted(std::span<const uint8_t> bytes,
                                                             uint16_t link_type, WireEnd& end) {
  std::optional<LinkHeader> header = header_of(bytes, link_type, end);
  if (!header) return std::nullopt;
  if (link_type == kLinkTypeEthernet) return unwrapper_.unwrapped(bytes);
  if (header->bytes >= bytes.size()) return std::span<const uint8_t>{};
  const std::span<const uint8_t> rest = bytes.subspan(header->bytes);
  scratch_.assign(kEthernetBytes, 0);
  keep_addresses(bytes, link_type);
  store_be<uint16_t>(&scratch_[kAddressBytes], header->ethertype);
  scratch_.insert(scratch_.end(), rest.begin(), rest.end());
  return unwrapper_.unwrapped(scratch_);
}

/// Keeps the MAC addresses that the link header has; a cooked header has the sender's only.
void LinkLayer::keep_addresses(std::span<const uint8_t> bytes, uint16_t link_type) {
  constexpr size_t kMacBytes = 6;
  uint8_t* const source = &scratch_[kMacBytes];
  if (link_type == kLinkCooked && load_be<uint16_t>(&bytes[4]) == kMacBytes) {
    std::copy_n(&bytes[6], kMacBytes, source);
  }
  if (link_type == kLinkCooked2 && bytes[11] == kMacBytes) {
    std::copy_n(&bytes[12], kMacBytes, source);
  }
}

std::string link_type_name(uint16_t link_type) {
  const char* name = pcap_datalink_val_to_name(link_type);
  return "link type " + std::to_string(link_type) +
         (name == nullptr ? "" : " (" + std::string(name) + ")");
}

}  // namespace mrclab::analysis
