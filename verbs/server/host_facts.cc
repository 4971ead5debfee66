#include "verbs/server/host_facts.h"

#include "fabric/topology/path.h"

namespace mrclab::verbs {

HostFacts host_facts(const Topology& topology, uint32_t host, endpoint::TransportKind transport) {
  HostFacts facts;
  const NodeSite& site = topology.node(topology.host(host));
  facts.name = site.name;
  facts.number = host;
  facts.device = transport == endpoint::TransportKind::kRoce ? "roce0" : "mrc0";
  facts.gid = host_address(topology, host);
  // EUI-64 of a locally administered address (IEEE 802, U/L bit set) that counts hosts from 1.
  facts.node_guid = 0x0200'00FF'FE00'0000 + host + 1;
  facts.transport = transport;
  facts.ports = static_cast<uint32_t>(site.ports.size());
  facts.rate_bps = topology.host_rate.bps * facts.ports;
  for (uint32_t other = 0; other < topology.host_count(); ++other) {
    facts.hosts.push_back(host_address(topology, other));
  }
  return facts;
}

}  // namespace mrclab::verbs
