#include "fabric/topology/path.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

#include "fabric/base/byte_order.h"
#include "fabric/topology/graph_paths.h"
#include "fabric/topology/routes.h"
#include "fabric/topology/same_address.h"

namespace mrclab {
namespace {

constexpr size_t kFirstUsid = 4;  // byte of the active uSID: behind the 32-bit block
constexpr uint32_t kIpv4Hosts = 0x0A00'0000, kIpv4HostsMask = 0xFF00'0000;  // 10.0.0.0/8

Usid usid_at(const Ipv6Address& carrier, uint32_t position) {
  return {load_be<uint16_t>(carrier.data() + kFirstUsid + 2 * position)};
}

void put_usid(Ipv6Address& carrier, uint32_t position, Usid usid) {
  store_be<uint16_t>(carrier.data() + kFirstUsid + 2 * position, usid.value);
}

bool known_path(const Topology& topology, Path path) {
  return path.named() && path.plane < topology.planes &&
         (path.uplink == kT0LocalUplink || path.uplink < topology.t1_per_plane);
}

/// The uSID at `position` if it has this role and plane and its index is below `bound`.
std::optional<uint32_t> index_at(const UsidLayout& usids, const Ipv6Address& carrier,
                                 uint32_t position, UsidRole role, uint32_t plane, uint32_t bound) {
  const std::optional<UsidFields> fields = usids.parse(usid_at(carrier, position));
  if (!fields || fields->role != role || fields->plane != plane || fields->index >= bound) {
    return std::nullopt;
  }
  return fields->index;
}

}  // namespace

Ipv6Address carrier_along(const Topology& topology, const std::vector<PortRef>& exits,
                          UsidRole role) {
  Ipv6Address carrier{};
  store_be<uint32_t>(carrier.data(), kUsidBlock);
  uint32_t position = 0;
  for (size_t i = 1; i < exits.size(); ++i) {
    const NodeSite& site = topology.node(exits[i].node);
    const bool link = topology.segments == Segments::kAdjacency && i + 1 < exits.size();
    put_usid(carrier, position++, link ? adjacency_usid(topology, exits[i]) : site.usid);
  }
  if (topology.decap == Decap::kLeaf) return carrier;
  const Port& nic = topology.port(topology.planned_peer(exits.back()));
  put_usid(carrier, position, role == UsidRole::kNicPort ? nic.nic_usid : nic.kernel_usid);
  return carrier;
}

Usid active_usid(const Ipv6Address& carrier) { return usid_at(carrier, 0); }

bool in_usid_block(const Ipv6Address& address) {
  return load_be<uint32_t>(address.data()) == kUsidBlock;
}

bool end_of_carrier(const Ipv6Address& carrier) {
  return load_be<uint64_t>(carrier.data() + 6) == 0 && load_be<uint16_t>(carrier.data() + 14) == 0;
}

void shift_carrier(Ipv6Address& carrier) {
  std::copy(carrier.begin() + kFirstUsid + 2, carrier.end(), carrier.begin() + kFirstUsid);
  carrier[14] = carrier[15] = 0;
}

Ipv6Address make_carrier(const Topology& topology, uint32_t source, uint32_t destination, Path path,
                         UsidRole role) {
  if (!topology.regular()) {
    const std::vector<PortRef> exits = topology.graph->exits(source, destination, path);
    return exits.empty() ? Ipv6Address{} : carrier_along(topology, exits, role);
  }
  Ipv6Address carrier{};
  if (source >= topology.host_count() || destination >= topology.host_count() ||
      !known_path(topology, path)) {
    return carrier;
  }
  const uint32_t from_row = topology.host_row(source);
  const uint32_t to_row = topology.host_row(destination);
  if (path.uplink == kT0LocalUplink && from_row != to_row) return carrier;
  store_be<uint32_t>(carrier.data(), kUsidBlock);
  const UsidLayout& usids = topology.usids;
  const uint32_t plane = path.plane;
  uint32_t position = 0;
  if (path.uplink == kT0LocalUplink) {
    put_usid(carrier, position++, usids.make(UsidRole::kT0, plane, from_row));
  } else {
    const bool links = topology.segments == Segments::kAdjacency;
    put_usid(carrier, position++,
             links ? usids.make(UsidRole::kAdjacency, plane, topology.hosts_per_t0 + path.uplink)
                   : usids.make(UsidRole::kT0, plane, from_row));
    put_usid(carrier, position++,
             links ? usids.make(UsidRole::kAdjacency, plane, to_row)
                   : usids.make(UsidRole::kT1, plane, path.uplink));
    put_usid(carrier, position++, usids.make(UsidRole::kT0, plane, to_row));
  }
  if (topology.decap == Decap::kLeaf) return carrier;
  put_usid(carrier, position, usids.make(role, plane, topology.host_downlink(destination)));
  return carrier;
}

std::optional<CarrierRoute> parse_carrier(const Topology& topology, const Ipv6Address& carrier) {
  const bool plain = topology.segments == Segments::kNode && topology.decap == Decap::kNic;
  if (!topology.regular() || !plain) return std::nullopt;
  const UsidLayout& usids = topology.usids;
  const std::optional<UsidFields> first = usids.parse(active_usid(carrier));
  if (!in_usid_block(carrier) || !first || first->plane >= topology.planes) return std::nullopt;
  const uint32_t plane = first->plane;
  const uint32_t rows = topology.t0_per_plane;
  const auto source_row = index_at(usids, carrier, 0, UsidRole::kT0, plane, rows);
  if (!source_row) return std::nullopt;
  CarrierRoute route;
  route.source_row = route.destination_row = *source_row;
  route.path.plane = plane;
  uint32_t position = 1;
  if (const auto uplink =
          index_at(usids, carrier, 1, UsidRole::kT1, plane, topology.t1_per_plane)) {
    const auto row = index_at(usids, carrier, 2, UsidRole::kT0, plane, rows);
    if (!row) return std::nullopt;
    route.path.uplink = *uplink;
    route.destination_row = *row;
    position = 3;
  }
  const std::optional<UsidFields> last = usids.parse(usid_at(carrier, position));
  if (!last || (last->role != UsidRole::kNicPort && last->role != UsidRole::kHostKernel)) {
    return std::nullopt;
  }
  if (last->plane != plane || last->index >= topology.hosts_per_t0) return std::nullopt;
  route.role = last->role;
  route.downlink = last->index;
  // RFC 9800 §6.3: unused low bits of a container are zero.
  for (++position; position < kUsidsInCarrier; ++position) {
    if (usid_at(carrier, position).value != 0) return std::nullopt;
  }
  return route;
}

Ipv6Address host_address(const Topology& topology, uint32_t host) {
  Ipv6Address address{};
  store_be<uint16_t>(address.data(), 0xfd00);
  const uint32_t row = topology.has_planes() ? topology.host_row(host) : 0;
  store_be<uint16_t>(address.data() + 2, static_cast<uint16_t>(row));
  store_be<uint32_t>(address.data() + 12, host);
  return address;
}

Ipv6Address host_address_ipv4(uint32_t host) {
  Ipv6Address address{};
  store_be<uint16_t>(address.data() + 10, 0xFFFF);
  store_be<uint32_t>(address.data() + 12, kIpv4Hosts | (host & ~kIpv4HostsMask));
  return address;
}

Ipv6Address link_address(const Topology& topology, PortRef port) {
  const Link& link = topology.link(topology.port(port).link);
  Ipv6Address address{};
  store_be<uint16_t>(address.data(), kLinkBlock);
  store_be<uint32_t>(address.data() + 8, link.id.value);
  address[15] = link.a == port ? 1 : 2;
  return address;
}

std::optional<uint32_t> host_of_address(const Topology& topology, const Ipv6Address& address) {
  uint32_t host = load_be<uint32_t>(address.data() + 12);
  if ((host & kIpv4HostsMask) == kIpv4Hosts && (host & ~kIpv4HostsMask) < topology.host_count() &&
      same_address(host_address_ipv4(host & ~kIpv4HostsMask), address)) {
    return host & ~kIpv4HostsMask;
  }
  if (host >= topology.host_count()) return std::nullopt;
  return same_address(host_address(topology, host), address) ? std::optional(host) : std::nullopt;
}

std::string to_string(const Ipv6Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, address.data(), text.data(), text.size());
  return text.data();
}

}  // namespace mrclab
