#include "analysis/capture/packet_facts.h"

#include "analysis/capture/flat_index.h"
#include "fabric/base/byte_order.h"
#include "fabric/topology/path.h"
#include "fabric/topology/usid.h"

namespace mrclab::analysis {
namespace {

/// More switches than any fabric has in a row.
constexpr unsigned kMostHops = 16;
/// The hop limits that hosts start with: IANA's recommendation (RFC 1700),
/// and what some stacks and NICs use instead.
constexpr std::array<unsigned, 3> kFirstHopLimits{64, 128, 255};

/// The number of switches passed. A carrier's header starts with the hop limit of what it carries
/// (RFC 6040 leaves that to the tunnel, encapsulators copy it), or with one of its own.
uint8_t hops_of(const MrcPacket& packet) {
  const unsigned outer = packet.outer.hop_limit, inner = packet.inner.hop_limit;
  const bool carried = packet.encapsulation == Encapsulation::kSrv6;
  if (carried && outer <= inner && inner - outer <= kMostHops) {
    return static_cast<uint8_t>(inner - outer);
  }
  for (const unsigned first : kFirstHopLimits) {
    if (outer <= first && first - outer <= kMostHops) return static_cast<uint8_t>(first - outer);
  }
  return PacketFacts::kUnknownHops;
}

uint64_t number_of(const MacAddress& mac) {
  uint64_t number = 0;
  for (const uint8_t byte : mac) number = number << 8 | byte;
  return number;
}

/// Our hosts have the addresses fd00:<row>::<host> and 10.h.h.h (fabric/topology/path.h).
bool is_our_host(const Ipv6Address& address, bool ipv4) {
  if (ipv4) return address[12] == 10;
  if (load_be<uint16_t>(address.data()) != 0xfd00) return false;
  for (size_t i = 4; i < 12; ++i) {
    if (address[i] != 0) return false;
  }
  return true;
}

/// Has the carrier's first uSID the plane of the entropy value, in either of our layouts?
bool layouts_agree(const Ipv6Address& carrier, uint32_t plane) {
  for (const AddressPlan plan : {AddressPlan::kLab, AddressPlan::kFull}) {
    const auto fields = UsidLayout::of(plan).parse(active_usid(carrier));
    if (fields && fields->plane == plane) return true;
  }
  return false;
}

/// Both halves of the product depend on all bits of both factors (the idea is that of wyhash, public domain).
uint64_t folded(uint64_t a, uint64_t b) {
  __extension__ using Wide = unsigned __int128;
  const Wide product = Wide{a} * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint64_t folded(const Ipv6Address& address, uint64_t high_key, uint64_t low_key) {
  return folded(load_be<uint64_t>(address.data()) ^ high_key,
                load_be<uint64_t>(address.data() + 8) ^ low_key);
}

}  // namespace

PacketFacts facts_of(const MrcPacket& packet, uint32_t tap, WireEnd end) {
  PacketFacts facts;
  facts.source = packet.inner.source;
  facts.destination = packet.inner.destination;
  facts.encapsulated = packet.encapsulation == Encapsulation::kSrv6;
  if (facts.encapsulated) facts.carrier = packet.outer.destination;
  facts.source_mac = number_of(packet.ethernet.source);
  facts.destination_mac = number_of(packet.ethernet.destination);
  // IPv4 has no flow label; the parser derives the one that we would use (MrcPacket::inner).
  const bool ipv4 = packet.encapsulation == Encapsulation::kIpv4;
  facts.flow_label = ipv4 ? 0 : packet.inner.flow_label;
  facts.source_port = packet.udp.source_port;
  facts.hops = hops_of(packet);
  facts.tap = tap;
  facts.end = end;
  return facts;
}

bool looks_like_ours(const MrcPacket& packet) {
  const std::optional<Path> path = path_of(packet.entropy());
  if (!path) return false;
  const bool ipv4 = packet.encapsulation == Encapsulation::kIpv4;
  const bool hosts =
      is_our_host(packet.inner.source, ipv4) && is_our_host(packet.inner.destination, ipv4);
  switch (packet.encapsulation) {
    case Encapsulation::kSrv6:
      return in_usid_block(packet.outer.destination) &&
             (hosts || layouts_agree(packet.outer.destination, path->plane));
    case Encapsulation::kIpv6: return hosts || !path->named();
    case Encapsulation::kIpv4: return hosts && packet.udp.source_port >= 0xC000;
  }
  return false;
}

uint64_t pair_key(const Ipv6Address& source, const Ipv6Address& destination, uint64_t number) {
  const uint64_t from = folded(source, 0xA076'1D64'78BD'642Fu, 0xE703'7ED1'A0B4'28DBu);
  const uint64_t to = folded(destination, 0x8EBC'6AF0'9C88'C6E3u, 0x5899'65CC'7537'4CC3u);
  return folded(from ^ mixed(number), to ^ 0x1D8E'4E27'C47D'124Fu);
}

}  // namespace mrclab::analysis
