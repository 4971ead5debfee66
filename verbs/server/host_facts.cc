#include "verbs/server/host_facts.h"

#include "fabric/topology/path.h"
#include "verbs/protocol/device_identity.h"

namespace mrclab::verbs {

HostFacts host_facts(const Topology& topology, uint32_t host, endpoint::TransportKind transport) {
  HostFacts facts;
  const NodeSite& site = topology.node(topology.host(host));
  facts.name = site.name;
  facts.number = host;
  facts.device = device_name(transport == endpoint::TransportKind::kRoce);
  facts.gid = host_address(topology, host);
  facts.node_guid = node_guid(host);
  facts.transport = transport;
  facts.ports = static_cast<uint32_t>(site.ports.size());
  facts.rate_bps = topology.host_rate.bps * facts.ports;
  for (uint32_t other = 0; other < topology.host_count(); ++other) {
    facts.hosts.push_back(host_address(topology, other));
  }
  return facts;
}

}  // namespace mrclab::verbs
