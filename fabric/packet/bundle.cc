#include "fabric/packet/bundle.h"

#include <algorithm>

#include "fabric/base/byte_order.h"
#include "fabric/packet/trailer.h"

namespace mrclab {
namespace {

constexpr size_t kBundleLengthAt = kOuterOffset + 4, kBundleNextHeaderAt = kOuterOffset + 6,
                 kBundleHopLimitAt = kOuterOffset + 7;  // RFC 8200 section 3
constexpr size_t kBundleDestinationAt = kOuterOffset + 24;

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
  bundle[kOuterOffset] = 0x60;
  store_be<uint16_t>(&bundle[kBundleLengthAt],
                     static_cast<uint16_t>(bundle.size() - kBundleHeadBytes));
  bundle[kBundleNextHeaderAt] = kBundleNextHeader;
  bundle[kBundleHopLimitAt] = 1;
  bundle[kBundleDestinationAt] = 0xff;  // ff02::1: all nodes of this link
  bundle[kBundleDestinationAt + 1] = 0x02;
  bundle[kBundleDestinationAt + 15] = 0x01;
}

bool is_bundle(std::span<const uint8_t> frame) {
  return frame.size() > kBundleHeadBytes &&
         std::equal(kBundleMac.begin(), kBundleMac.end(), frame.begin()) &&
         load_be<uint16_t>(&frame[kEthernetBytes - 2]) == kEthertypeIpv6 &&
         frame[kBundleNextHeaderAt] == kBundleNextHeader &&
         load_be<uint16_t>(&frame[kBundleLengthAt]) == frame.size() - kBundleHeadBytes;
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
