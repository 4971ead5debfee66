#include "endpoint/nic/header_template.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <span>

#include "fabric/packet/header_fields.h"

namespace mrclab::endpoint {
namespace {

constexpr FieldPlace kMacTo = place_of<kEthernetTable>("dst");
constexpr FieldPlace kMacFrom = place_of<kEthernetTable>("src");
constexpr FieldPlace kLength = place_of<kIpv6Table>("plen");
constexpr FieldPlace kFrom = place_of<kIpv6Table>("src");
constexpr FieldPlace kTo = place_of<kIpv6Table>("dst");
constexpr FieldPlace kClassIpv4 = place_of<kIpv4Table>("tos");
constexpr FieldPlace kLengthIpv4 = place_of<kIpv4Table>("len");
constexpr FieldPlace kChecksumIpv4 = place_of<kIpv4Table>("checksum");
constexpr FieldPlace kToIpv4 = place_of<kIpv4Table>("dst");
constexpr FieldPlace kUdpFrom = place_of<kUdpTable>("srcport");
constexpr FieldPlace kUdpLength = place_of<kUdpTable>("length");

/// Puts a number into a field that is zero in the template.
template <const FieldPlace& kPlace>
void put_field(uint8_t* header, uint64_t value) {
  store_bits<kPlace.bit, kPlace.width>(header, value);
}

/// The same for a field that is a row of bytes.
template <const FieldPlace& kPlace>
void put_field(uint8_t* header, const std::array<uint8_t, kPlace.width / 8>& bytes) {
  static_assert(kPlace.bit % 8 == 0 && kPlace.width % 8 == 0);
  std::memcpy(header + kPlace.bit / 8, bytes.data(), bytes.size());
}

}  // namespace

HeaderTemplate::HeaderTemplate(Encapsulation encapsulation, const Ipv6Address& own_address,
                               uint16_t udp_port)
    : encapsulation_(encapsulation), at_(layout_of(encapsulation)) {
  MrcFrameSpec spec;
  spec.encapsulation = encapsulation;
  spec.inner_source = own_address;
  spec.udp_port = udp_port;
  // Zeros in what each packet has of its own.
  spec.dscp = spec.ecn = 0;
  write_datagram(spec, at_.bth, std::span(bytes_).first(at_.bth));
  put_field<kUdpLength>(bytes_.data() + at_.udp, 0);
}

void HeaderTemplate::write(const Packet& packet, uint8_t* out) const {
  assert(packet.path.encapsulation == encapsulation_);
  assert(packet.size >= at_.after_bth && packet.size - kEthernetBytes <= 0xFFFF);
  // Nearly all packets have a carrier; for those the length is a constant.
  if (encapsulation_ == Encapsulation::kSrv6) {
    std::memcpy(out, bytes_.data(), bytes_.size());
  } else {
    std::memcpy(out, bytes_.data(), at_.bth);
  }
  put_field<kMacTo>(out, packet.path.destination_mac);
  put_field<kMacFrom>(out, packet.path.source_mac);
  const auto traffic_class = static_cast<uint8_t>(packet.dscp << 2 | (packet.ecn & 3));
  uint8_t* const ip = out + at_.ip;
  uint32_t first_word = 0;  // version, traffic class and flow label of IPv6 (RFC 8200 §3)
  if (encapsulation_ == Encapsulation::kIpv4) {
    put_field<kClassIpv4>(ip, traffic_class);
    put_field<kLengthIpv4>(ip, packet.size - at_.ip);
    std::copy(packet.destination.begin() + 12, packet.destination.end(), ip + kToIpv4.bit / 8);
    put_field<kChecksumIpv4>(ip, 0);
    put_field<kChecksumIpv4>(ip, ipv4_checksum(ip));
  } else {
    first_word = uint32_t{6} << 28 | uint32_t{traffic_class} << 20 | flow_label_of(packet.ev);
    store_be<uint32_t>(ip, first_word);
    put_field<kLength>(ip, packet.size - at_.udp);
    put_field<kTo>(ip, packet.destination);
  }
  if (encapsulation_ == Encapsulation::kSrv6) {
    uint8_t* const outer = out + kOuterOffset;
    store_be<uint32_t>(outer, first_word);
    put_field<kLength>(outer, packet.size - at_.ip);
    put_field<kFrom>(outer, packet.path.outer_source);
    put_field<kTo>(outer, packet.path.carrier);
  }
  uint8_t* const udp = out + at_.udp;
  put_field<kUdpFrom>(udp, source_port_of(packet.ev));
  put_field<kUdpLength>(udp, packet.size - at_.udp);
  write_header<kBthTable>(packet.bth, out + at_.bth);
}

}  // namespace mrclab::endpoint
