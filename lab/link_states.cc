#include "lab/link_states.h"

#include "lab/lab_record.h"
#include "netio/link.h"

namespace mrclab::lab {

std::vector<bool> link_states(const Topology& topology, std::string_view lab) {
  std::vector<bool> up(topology.links.size(), true);
  for (const NodeSite& site : topology.nodes) {
    const auto ns = netio::NetworkNamespace::open(namespace_name(lab, site.name));
    netio::NamespaceNetlink netlink(ns);
    for (const netio::LinkState& state : netlink.links()) {
      for (const Port& port : site.ports) {
        if (port.name == state.name && !(state.admin_up && state.carrier)) {
          up[port.link.value] = false;
        }
      }
    }
  }
  return up;
}

}  // namespace mrclab::lab
