#include "live/world/node_links.h"

#include <fmt/format.h>

#include "fabric/topology/forwarder.h"

namespace mrclab::lab {
namespace {

using Kind = OutsideChange::Kind;

std::string mac_text(const MacAddress& mac) { return fmt::format("{:02x}", fmt::join(mac, ":")); }

}  // namespace

NodeLinks::NodeLinks(LiveFabric& fabric, std::vector<NodeId> nodes)
    : fabric_(fabric),
      nodes_(std::move(nodes)),
      netlink_(fabric.network_namespace(nodes_.front())) {
  for (const netio::LinkState& link : netlink_.links()) links_[link.ifindex] = {link, {}};
  for (const NodeId node : nodes_) {
    const NodeSite& site = fabric.topology().node(node);
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const PortRef port{node, PortId{i}};
      links_[static_cast<uint32_t>(fabric.interface_index(port))].port = port;
    }
  }
  // The daemon of Open vSwitch makes and sets the interfaces of its bridges itself.
  if (shares_namespace(fabric.topology().node(owner()))) {
    std::erase_if(links_, [](const auto& entry) { return !entry.second.port; });
  }
  addresses_ = netio::installed_addresses(netlink_);
}

void NodeLinks::adopt(const std::string& interface) {
  const netio::LinkState link = netlink_.link(interface);
  links_[link.ifindex] = {link, {}};
  for (const netio::InstalledAddress& address : netio::installed_addresses(netlink_)) {
    if (address.ifindex == link.ifindex) addresses_.insert(address);
  }
}

std::string NodeLinks::name_of(const Known& known) const {
  if (known.port) return fabric_.topology().port_name(*known.port);
  return fmt::format("{} of {}", known.state.name, fabric_.topology().node(owner()).name);
}

std::string NodeLinks::name_of(uint32_t ifindex) const {
  const auto known = links_.find(ifindex);
  return known == links_.end() ? "" : name_of(known->second);
}

void NodeLinks::look_at_links(std::vector<OutsideChange>& found) {
  const bool bridges = shares_namespace(fabric_.topology().node(owner()));
  std::set<uint32_t> there;
  for (const netio::LinkState& link : netlink_.links()) {
    there.insert(link.ifindex);
    const auto known = links_.find(link.ifindex);
    if (known != links_.end()) {
      compare(known->second, link, found);
    } else if (!bridges) {
      links_[link.ifindex] = {link, {}};
      found.push_back({.what = fmt::format("added the link {}", name_of(link.ifindex))});
    }
  }
  look_at_gone(there, found);
}

void NodeLinks::look_at_gone(const std::set<uint32_t>& there, std::vector<OutsideChange>& found) {
  for (auto entry = links_.begin(); entry != links_.end();) {
    Known& known = entry->second;
    if (there.contains(entry->first) || known.gone) {
      ++entry;
      continue;
    }
    found.push_back({known.port ? Kind::kDown : Kind::kOther, known.port.value_or(PortRef{}),
                     "deleted " + name_of(known)});
    known.gone = known.set_down = true;
    known.state.admin_up = false;
    // What others add and delete does not make the table grow.
    entry = known.port ? std::next(entry) : links_.erase(entry);
  }
}

/// A message may be older than the lab's own last change, so `now` is read from the kernel anew.
void NodeLinks::compare(Known& known, const netio::LinkState& now,
                        std::vector<OutsideChange>& found) const {
  const netio::LinkState before = std::exchange(known.state, now);
  const std::string name = name_of(Known{before, known.port});
  const auto tell = [&](std::string what) { found.push_back({.what = std::move(what)}); };
  if (now.name != before.name) tell(fmt::format("renamed {} to {}", name, now.name));
  if (now.mtu != before.mtu) {
    tell(fmt::format("set the mtu of {} from {} to {}", name, before.mtu, now.mtu));
  }
  if (now.mac != before.mac) {
    tell(fmt::format("set the MAC address of {} from {} to {}", name, mac_text(before.mac),
                     mac_text(now.mac)));
  }
  if (now.master != before.master) {
    tell(fmt::format("{} {}",
                     now.master != 0 ? "put a bridge or bond over" : "took the bridge from", name));
  }
  if (now.xdp != before.xdp) {
    tell(fmt::format("{} {}", now.xdp != 0 ? "put an XDP program on" : "took the XDP program from",
                     name));
  }
  if (now.admin_up == before.admin_up) return;
  if (known.port) {
    const LinkId link = fabric_.topology().port(*known.port).link;
    if (now.admin_up == fabric_.link_is_up(link) && !known.set_down) return;  // the lab's own doing
  }
  known.set_down = !now.admin_up;
  OutsideChange change{.what = fmt::format("set {} {}", now.admin_up ? "up" : "down", name)};
  if (known.port) {
    change.kind = now.admin_up ? Kind::kUp : Kind::kDown;
    change.port = *known.port;
  }
  found.push_back(std::move(change));
}

bool NodeLinks::is_known_down(uint32_t ifindex) const {
  const auto found = links_.find(ifindex);
  if (found == links_.end()) return true;  // gone, which was reported
  const Known& known = found->second;
  if (known.gone || known.set_down) return true;
  return known.port && !fabric_.link_is_up(fabric_.topology().port(*known.port).link);
}

void NodeLinks::look_at_addresses(std::vector<OutsideChange>& found) {
  const std::set<netio::InstalledAddress> now = netio::installed_addresses(netlink_);
  const auto tell = [&](fmt::format_string<const std::string&, const std::string&> act,
                        const netio::InstalledAddress& address) {
    const std::string name = name_of(address.ifindex);
    if (!name.empty()) found.push_back({.what = fmt::format(act, address.text, name)});
  };
  for (const netio::InstalledAddress& address : now) {
    if (addresses_.insert(address).second) tell("put the address {} on {}", address);
  }
  for (auto known = addresses_.begin(); known != addresses_.end();) {
    // The kernel takes link-local addresses from a link that is down, and the lab puts them back with it.
    if (now.contains(*known) || is_known_down(known->ifindex)) {
      ++known;
      continue;
    }
    tell("took the address {} from {}", *known);
    known = addresses_.erase(known);
  }
}

}  // namespace mrclab::lab
