#include "fabric/packet/bundle.h"

#include <algorithm>
#include <array>

#include "fabric/base/byte_order.h"
#include "fabric/packet/trailer.h"

namespace mrclab {
namespace {

// Within the IPv6 header: RFC 8200 section 3.
constexpr size_t kBundleLengthAt = 4, kBundleNextHeaderAt = 6, kBundleHopLimitAt = 7,
                 kBundleDestinationAt = 24;
constexpr std::array<uint8_t, 16> kAllNodes{0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};

}  // namespace

bool may_be_bundled(std::span<const uint8_t> frame) {
  if (frame.size() < kEthernetBytes) return false;
  if (load_be<uint16_t>(&frame[kEthernetBytes - 2]) == kVoidEthertype) return true;
  const std::optional<Encapsulation> encapsulation = encapsulation_of(frame);
  if (!encapsulation) return false;
  const uint16_t port = load_be<uint16_t>(&frame[layout_of(*encapsulation).udp + 2]);
  return port == kMrcUdpPort || port == kMrcUdpPortAlternate;
}

void write_bundle_head(const MacAddress& source, std::span<uint8_t> bundle) {
  std::fill_n(bundle.begin(), kBundleHeadBytes, uint8_t{0});
  std::copy(kBundleMac.begin(), kBundleMac.end(), bundle.begin());
  std::copy(source.begin(), source.end(), bundle.begin() + kBundleMac.size());
  store_be<uint16_t>(&bundle[kEthernetBytes - 2], kEthertypeIpv6);
  const std::span<uint8_t> ip = bundle.subspan(kEthernetBytes);
  ip[0] = 0x60;
  store_be<uint16_t>(&ip[kBundleLengthAt], static_cast<uint16_t>(ip.size() - kIpv6Bytes));
  ip[kBundleNextHeaderAt] = kBundleNextHeader;
  ip[kBundleHopLimitAt] = 1;
  std::copy(kAllNodes.begin(), kAllNodes.end(), ip.begin() + kBundleDestinationAt);
}

bool is_bundle(std::span<const uint8_t> frame) {
  return frame.size() > kBundleHeadBytes &&
         std::equal(kBundleMac.begin(), kBundleMac.end(), frame.begin()) &&
         load_be<uint16_t>(&frame[kEthernetBytes - 2]) == kEthertypeIpv6 &&
         is_bundle_packet(frame.subspan(kEthernetBytes), frame.size() - kEthernetBytes);
}

bool is_bundle_packet(std::span<const uint8_t> packet, size_t length) {
  return packet.size() > kIpv6Bytes && packet[0] == 0x60 &&
         packet[kBundleNextHeaderAt] == kBundleNextHeader && packet[kBundleHopLimitAt] == 1 &&
         std::equal(kAllNodes.begin(), kAllNodes.end(), packet.begin() + kBundleDestinationAt) &&
         load_be<uint16_t>(&packet[kBundleLengthAt]) == length - kIpv6Bytes;
}

BundledFrames::BundledFrames(std::span<const uint8_t> bundle)
    : left_(bundle.subspan(kBundleHeadBytes)) {}

std::optional<std::span<const uint8_t>> BundledFrames::next() {
  if (left_.size() < kBundledLengthBytes) return std::nullopt;
  const size_t length = load_be<uint16_t>(left_.data());
  if (length == 0 || left_.size() - kBundledLengthBytes < length) return std::nullopt;
  const std::span<const uint8_t> frame = left_.subspan(kBundledLengthBytes, length);
  left_ = left_.subspan(kBundledLengthBytes + length);
  return frame;
}

}  // namespace mrclab
