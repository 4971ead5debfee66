#include "fabric/probes/udp_sum.h"

#include "fabric/base/byte_order.h"

namespace mrclab {

uint16_t udp_sum(std::span<const uint8_t> frame, const FrameLayout& at, size_t length) {
  constexpr size_t kAddresses = 8, kAddressBytes = 32;  // in an IPv6 header
  uint64_t sum = length + kNextHeaderUdp;
  const auto add = [&](std::span<const uint8_t> bytes) {  // an odd one is followed by zero
    for (size_t i = 0; i + 1 < bytes.size(); i += 2) sum += load_be<uint16_t>(&bytes[i]);
    if (bytes.size() % 2 != 0) sum += uint64_t{bytes.back()} << 8;
  };
  add(frame.subspan(at.ip + kAddresses, kAddressBytes));
  add(frame.subspan(at.udp, length));
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

void put_udp_sum(std::span<uint8_t> frame) {
  constexpr size_t kChecksum = 6;  // in a UDP header
  const uint16_t sum = udp_sum(frame, layout_of(Encapsulation::kSrv6), frame.size() - kUdpOffset);
  store_be<uint16_t>(frame.data() + kUdpOffset + kChecksum, sum == 0 ? 0xFFFF : sum);
}

}  // namespace mrclab
