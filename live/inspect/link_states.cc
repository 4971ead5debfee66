#include "live/inspect/link_states.h"

#include "live/bringup/lab_record.h"
#include "live/bringup/node_plan.h"
#include "netio/kernel/link.h"

namespace mrclab::lab {

std::vector<bool> link_states(const Topology& topology, std::string_view lab) {
  std::vector<bool> up(topology.links.size(), true);
  for (const NodeSite& site : topology.nodes) {
    const auto ns = netio::NetworkNamespace::open(namespace_name(lab, site.name));
    netio::NamespaceNetlink netlink(ns);
    for (const netio::LinkState& state : netlink.links()) {
      for (uint32_t i = 0; i < site.ports.size(); ++i) {
        if (device_of(topology, {site.id, PortId{i}}) == state.name &&
            !(state.admin_up && state.carrier)) {
          up[site.ports[i].link.value] = false;
        }
      }
    }
  }
  return up;
}

}  // namespace mrclab::lab
