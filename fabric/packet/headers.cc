// The kind of a frame. The parser is frame_view.cc, where fields stand header_fields.h; names
// are header_names.cc, the writer headers_write.cc, the ICRC icrc.cc.

#include "fabric/packet/headers.h"

#include <algorithm>

#include "fabric/base/byte_order.h"
#include "fabric/packet/header_sizes.h"
#include "fabric/topology/path.h"

namespace mrclab {

EntropyValue MrcPacket::entropy() const { return entropy_from(udp.source_port, inner.flow_label); }

EntropyValue MrcPacket::entropy_to_reflect() const {
  return encapsulation == Encapsulation::kIpv4 ? EntropyValue{udp.source_port} : entropy();
}

std::optional<Encapsulation> encapsulation_of(std::span<const uint8_t> frame) {
  constexpr size_t kNextHeader = 6, kProtocol = 9, kFragment = 6;  // RFC 8200 §3, RFC 791 §3.1
  const auto whole = [frame](Encapsulation kind) {
    return frame.size() >= layout_of(kind).bth ? std::optional(kind) : std::nullopt;
  };
  if (frame.size() < kEthernetBytes + kIpv4Bytes) return std::nullopt;
  const uint8_t* const ip = &frame[kEthernetBytes];
  const uint16_t ethertype = load_be<uint16_t>(&frame[kEthernetBytes - 2]);
  if (ethertype == kEthertypeIpv4) {
    if (*ip != 0x45 || ip[kProtocol] != kNextHeaderUdp ||
        (load_be<uint16_t>(ip + kFragment) & 0x3FFF) != 0) {
      return std::nullopt;
    }
    return whole(Encapsulation::kIpv4);
  }
  if (ethertype != kEthertypeIpv6 || *ip >> 4 != 6) return std::nullopt;
  if (ip[kNextHeader] == kNextHeaderUdp) return whole(Encapsulation::kIpv6);
  if (ip[kNextHeader] != kNextHeaderIpv6 || frame.size() < kUdpOffset ||
      frame[kInnerOffset] >> 4 != 6 || frame[kInnerOffset + kNextHeader] != kNextHeaderUdp) {
    return std::nullopt;
  }
  return whole(Encapsulation::kSrv6);
}

uint16_t ipv4_checksum(const uint8_t* header) {
  uint32_t sum = 0;
  for (size_t i = 0; i < kIpv4Bytes; i += 2) sum += load_be<uint16_t>(header + i);
  sum = (sum & 0xFFFF) + (sum >> 16);
  sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<uint16_t>(~sum);
}

uint16_t source_port_of(EntropyValue ev) { return static_cast<uint16_t>(ev.value); }

uint32_t flow_label_of(EntropyValue ev) { return ev.value >> 16; }

EntropyValue entropy_of_ipv4(std::span<const uint8_t> frame) {
  return hashed_ev_ipv4(load_be<uint16_t>(&frame[layout_of(Encapsulation::kIpv4).udp]));
}

}  // namespace mrclab
