#include "analysis/traffic/roce_port.h"

#include <algorithm>

#include "fabric/packet/headers.h"
#include "fabric/packet/roce_frame.h"

namespace mrclab::analysis {
namespace {

constexpr size_t kEthertypeAt = 12, kChecksumAt = kEthernetBytes + 10;

bool has_ipv4_header(std::span<const uint8_t> frame) {
  return frame.size() >= kEthernetBytes + kIpv4Bytes &&
         load_be<uint16_t>(&frame[kEthertypeAt]) == kEthertypeIpv4 && frame[kEthernetBytes] == 0x45;
}

}  // namespace

IpChecksum ip_checksum_of(std::span<const uint8_t> frame) {
  if (!has_ipv4_header(frame) || ipv4_checksum(&frame[kEthernetBytes]) == 0)
    return IpChecksum::kRight;
  return load_be<uint16_t>(&frame[kChecksumAt]) == 0 ? IpChecksum::kOpen : IpChecksum::kWrong;
}

std::span<const uint8_t> with_ip_checksum(std::span<const uint8_t> frame,
                                          std::vector<uint8_t>& room) {
  room.assign(frame.begin(), frame.end());
  room[kChecksumAt] = room[kChecksumAt + 1] = 0;
  store_be<uint16_t>(&room[kChecksumAt], ipv4_checksum(&room[kEthernetBytes]));
  return room;
}

std::optional<RoceHeader> roce_header_of(std::span<const uint8_t> frame) {
  const std::optional<FrameLayout> at = roce_layout_of(frame);
  if (!at) return std::nullopt;
  const uint64_t length = load_be<uint16_t>(&frame[at->udp + 4]);
  constexpr uint64_t kOthers = kUdpBytes + kBthBytes + kIcrcBytes;
  return RoceHeader{frame[at->bth], length - std::min(length, kOthers)};
}

}  // namespace mrclab::analysis
