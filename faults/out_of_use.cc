#include "faults/out_of_use.h"

#include <algorithm>
#include <map>
#include <set>

#include "fabric/paths/path_list.h"

namespace mrclab::faults {
namespace {

class OutOfUse {
 public:
  OutOfUse(const Targets& targets, const Topology& topology)
      : topology_(topology),
        nodes_(targets.nodes.begin(), targets.nodes.end()),
        links_(targets.links.begin(), targets.links.end()) {
    for (const NodeId node : nodes_) planes_.insert(topology.node(node).plane);
    for (const LinkId link : links_) planes_.insert(topology.port(topology.link(link).a).plane);
  }

  bool is_on(uint32_t from, uint32_t to, Path path) const {
    // Planes have thousands of paths, and all but those of a few are none of them.
    if (topology_.has_planes() && !planes_.contains(path.plane)) return false;
    const std::vector<PortRef> exits = exits_of(topology_, from, to, path);
    return std::any_of(exits.begin(), exits.end(), [&](PortRef exit) {
      return nodes_.contains(exit.node) || links_.contains(topology_.port(exit).link);
    });
  }

 private:
  const Topology& topology_;
  std::set<NodeId> nodes_;
  std::set<LinkId> links_;
  std::set<uint32_t> planes_;
};

}  // namespace

std::vector<EvDenial> denials_around(const Targets& targets, const Topology& topology) {
  const OutOfUse out(targets, topology);
  std::vector<EvDenial> denials;
  for (uint32_t from = 0; from < topology.host_count(); ++from) {
    std::map<EntropyValue, std::vector<uint32_t>> over;  // to whom the path leads over them
    std::map<EntropyValue, uint32_t> all;                // to how many it leads in all
    for (uint32_t to = 0; to < topology.host_count(); ++to) {
      if (from == to) continue;
      for (const Path path : paths_between(topology, from, to)) {
        const EntropyValue ev = ev_of(path);
        ++all[ev];
        if (out.is_on(from, to, path)) over[ev].push_back(to);
      }
    }
    for (const auto& [ev, destinations] : over) {
      if (denials.size() > kMaxHoldsPerFault) return denials;
      if (destinations.size() == all[ev]) {
        denials.push_back({topology.host(from), ev, NodeId{}, true});
        continue;
      }
      for (const uint32_t to : destinations) {
        denials.push_back({topology.host(from), ev, topology.host(to), true});
      }
    }
  }
  return denials;
}

}  // namespace mrclab::faults
