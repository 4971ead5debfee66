#include "lab/live/link_guard.h"

#include <algorithm>

#include "lab/bringup/node_plan.h"

namespace mrclab::lab {

LinkGuard::LinkGuard(LiveFabric& fabric) : fabric_(fabric) {
  for (const NodeSite& site : fabric.topology().nodes) {
    watches_.add(fabric.network_namespace(site.id));
    ports_.emplace_back(site.ports.size());
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      ports_.back()[i].interface = fabric.interface_index({site.id, PortId{i}});
    }
  }
}

LinkGuard::~LinkGuard() = default;

std::vector<OutsideLinkChange> LinkGuard::check() {
  std::vector<OutsideLinkChange> found;
  for (const size_t number : watches_.ready()) {
    const NodeId node{static_cast<uint32_t>(number)};
    netio::LinkWatch& watch = watches_[node.value];
    watch.read();
    watch.clear_overrun();
    look_at(node, found);
    for (const netio::QdiscEvent& event : watch.take_qdiscs()) tell_qdisc(node, event, found);
  }
  return found;
}

/// A message may be older than our own last change, so the kernel is asked how things are now.
void LinkGuard::look_at(NodeId node, std::vector<OutsideLinkChange>& found) {
  netio::NamespaceNetlink netlink(fabric_.network_namespace(node));
  const std::vector<netio::LinkState> links = netlink.links();
  const NodeSite& site = fabric_.topology().node(node);
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const std::string device = device_of(fabric_.topology(), {node, PortId{i}});
    const auto link = std::find_if(links.begin(), links.end(),
                                   [&](const auto& state) { return state.name == device; });
    const bool gone = link == links.end();
    const bool up = !gone && link->admin_up;
    PortState& known = ports_[node.value][i];
    if (gone && !known.gone) {
      known = {.interface = known.interface, .up = false, .set_down = true, .gone = true};
      found.push_back({{node, PortId{i}}, OutsideLinkChange::Kind::kDown, "deleted"});
      continue;
    }
    known.gone = gone;
    if (up == known.up) continue;
    known.up = up;
    if (up == fabric_.link_is_up(site.ports[i].link) && !known.set_down) continue;  // our own doing
    known.set_down = !up;
    found.push_back({.port = {node, PortId{i}},
                     .kind = up ? OutsideLinkChange::Kind::kUp : OutsideLinkChange::Kind::kDown,
                     .what = up ? "set up" : "set down"});
  }
}

void LinkGuard::tell_qdisc(NodeId node, const netio::QdiscEvent& event,
                           std::vector<OutsideLinkChange>& found) const {
  const NodeSite& site = fabric_.topology().node(node);
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const PortRef port{node, PortId{i}};
    const PortState& known = ports_[node.value][i];
    if (known.gone || known.interface != static_cast<int>(event.ifindex)) continue;
    // The rate of a switch that is not ours changes by the lab's own hand.
    if (event.kind == "tbf" && !event.removed && fabric_.is_shaped(port)) continue;
    found.push_back({.port = port,
                     .what = (event.removed ? "took " : "put ") + event.kind +
                             (event.removed ? " from" : " on")});
  }
}

}  // namespace mrclab::lab
