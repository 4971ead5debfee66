#include "lab/link_guard.h"

#include <sys/epoll.h>

#include <array>

namespace mrclab::lab {

LinkGuard::LinkGuard(LiveFabric& fabric)
    : fabric_(fabric),
      epoll_(netio::check_system_call("watch links", ::epoll_create1(EPOLL_CLOEXEC))) {
  for (const NodeSite& site : fabric.topology().nodes) {
    watches_.emplace_back(fabric.network_namespace(site.id));
    reported_.emplace_back(site.ports.size(), false);
    epoll_event event{.events = EPOLLIN, .data = {.u32 = site.id.value}};
    netio::check_system_call(
        "watch links", ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, watches_.back().fd(), &event));
  }
}

LinkGuard::~LinkGuard() = default;

std::vector<ForeignLinkChange> LinkGuard::check() {
  std::vector<ForeignLinkChange> found;
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const NodeId node{events[static_cast<size_t>(i)].data.u32};
    watches_[node.value].read();
    watches_[node.value].clear_overrun();
    look_at(node, found);
  }
  return found;
}

/// A message may be older than our own last change, so the kernel is asked how things are now.
void LinkGuard::look_at(NodeId node, std::vector<ForeignLinkChange>& found) {
  netio::NamespaceNetlink netlink(fabric_.network_namespace(node));
  const std::vector<netio::LinkState> links = netlink.links();
  const NodeSite& site = fabric_.topology().node(node);
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    bool up = false;  // an interface that is gone is not up either
    for (const netio::LinkState& link : links) {
      if (link.name == site.ports[i].name) up = link.admin_up;
    }
    const bool differs = up != fabric_.link_is_up(site.ports[i].link);
    if (differs && !reported_[node.value][i]) found.push_back({{node, PortId{i}}, up});
    reported_[node.value][i] = differs;
  }
}

}  // namespace mrclab::lab
