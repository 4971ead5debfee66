#include "fabric/packet/authorised.h"

#include <algorithm>

#include "fabric/base/byte_order.h"
#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"
#include "fabric/topology/programs/program_table.h"
#include "fabric/topology/same_address.h"

namespace mrclab {
namespace {

constexpr size_t kEthertype = 12;
constexpr size_t kNextHeader = 6, kSource = 8,
                 kDestination = 24;                        // RFC 8200 section 3, of the header
constexpr size_t kIpv4Source = 12, kIpv4Destination = 16;  // RFC 791 section 3.1
constexpr uint8_t kRoutingHeader = 43;

Ipv6Address address_at(std::span<const uint8_t> header, size_t at) {
  Ipv6Address address;
  std::copy_n(header.begin() + static_cast<std::ptrdiff_t>(at), address.size(), address.begin());
  return address;
}

/// As the project holds IPv4 addresses (host_address_ipv4()).
Ipv6Address ipv4_at(std::span<const uint8_t> header, size_t at) {
  Ipv6Address address{};
  address[10] = address[11] = 0xFF;
  std::copy_n(header.begin() + static_cast<std::ptrdiff_t>(at), 4, address.begin() + 12);
  return address;
}

/// Multicast or link-local: no switch forwards these.
bool stays_on_link(const Ipv6Address& destination) {
  return destination[0] == 0xFF || (destination[0] == 0xFE && (destination[1] & 0xC0) == 0x80);
}

DropCause cause_of(Denial denial) {
  switch (denial) {
    case Denial::kNone: return DropCause::kNone;
    case Denial::kSource: return DropCause::kNotAuthorisedSource;
    case Denial::kProgram: return DropCause::kNotAuthorised;
    case Denial::kTenant: return DropCause::kNotAuthorisedTenant;
  }
  return DropCause::kNotAuthorised;
}

Denial plain(const Topology& topology, uint32_t self, const Ipv6Address& own,
             const Ipv6Address& source, const Ipv6Address& destination) {
  const std::optional<uint32_t> to = host_of_address(topology, destination);
  if (!to) return Denial::kNone;
  if (!same_address(source, own)) return Denial::kSource;
  return same_tenant(topology, self, *to) ? Denial::kNone : Denial::kTenant;
}

Denial carried(const Topology& topology, PortRef nic, const Ipv6Address& own,
               std::span<const uint8_t> outer) {
  if (!same_address(address_at(outer, kSource), own)) return Denial::kSource;
  const uint8_t next = outer[kNextHeader];
  if (next == kRoutingHeader) return Denial::kProgram;
  std::optional<uint32_t> to;
  const std::span<const uint8_t> inner = outer.subspan(kIpv6Bytes);
  if (next == kNextHeaderIpv6 && inner.size() >= kIpv6Bytes) {
    if (!same_address(address_at(inner, kSource), own)) return Denial::kSource;
    to = host_of_address(topology, address_at(inner, kDestination));
  }
  return topology.programs->judge(topology, nic, address_at(outer, kDestination), to);
}

}  // namespace

DropCause not_authorised(const Topology& topology, PortRef nic, std::span<const uint8_t> frame) {
  if (!topology.programs || frame.size() < kEthernetBytes + kIpv4Bytes) return DropCause::kNone;
  const auto ethertype = load_be<uint16_t>(frame.data() + kEthertype);
  const std::span<const uint8_t> header = frame.subspan(kEthernetBytes);
  const uint32_t self = topology.node(nic.node).index;
  if (ethertype == kEthertypeIpv4) {
    return cause_of(plain(topology, self, host_address_ipv4(self), ipv4_at(header, kIpv4Source),
                          ipv4_at(header, kIpv4Destination)));
  }
  if (ethertype != kEthertypeIpv6 || header.size() < kIpv6Bytes) return DropCause::kNone;
  const Ipv6Address destination = address_at(header, kDestination);
  if (stays_on_link(destination)) return DropCause::kNone;
  const Ipv6Address own = host_address(topology, self);
  return cause_of(in_usid_block(destination)
                      ? carried(topology, nic, own, header)
                      : plain(topology, self, own, address_at(header, kSource), destination));
}

}  // namespace mrclab
