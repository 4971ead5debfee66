#include "endpoint/nic/path_mapper.h"

namespace mrclab::endpoint {

TopologyPaths::TopologyPaths(const Topology& topology, NodeId self)
    : topology_(topology),
      host_(topology.node(self).index),
      own_address_(host_address(topology, host_)) {
  for (const Port& port : topology.node(self).ports) {
    ports_.push_back({port.mac, topology.port(port.peer).mac, port.nic_usid});
  }
}

Ipv6Address TopologyPaths::address(uint32_t host) const { return host_address(topology_, host); }

std::optional<uint32_t> TopologyPaths::host_of(const Ipv6Address& address) const {
  return host_of_address(topology_, address);
}

PathHeaders TopologyPaths::headers(uint32_t destination, EntropyValue ev) const {
  const Path path = path_of(ev).value_or(Path{});
  const NicPort& port = ports_[path.plane];
  PathHeaders headers;
  headers.source_mac = port.own;
  headers.destination_mac = port.peer;
  if (!path.named()) {  // the hosts' own addresses lead there
    headers.encapsulation =
        path.chosen == Chosen::kByHashIpv4 ? Encapsulation::kIpv4 : Encapsulation::kIpv6;
    return headers;
  }
  headers.outer_source = own_address_;
  headers.carrier = make_carrier(topology_, host_, destination, path);
  return headers;
}

bool TopologyPaths::accepts(uint32_t port, const Ipv6Address& outer_destination) const {
  return in_usid_block(outer_destination) && active_usid(outer_destination) == ports_[port].usid;
}

}  // namespace mrclab::endpoint
