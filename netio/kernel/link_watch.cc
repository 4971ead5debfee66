#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <sys/socket.h>

#include <memory>

#include "netio/kernel/link.h"

namespace mrclab::netio {

LinkWatch::LinkWatch(const NetworkNamespace& ns) {
  fd_ = FileDescriptor(check_system_call("open a link watch in " + ns.name(), ns.run_in([] {
    return ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  })));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK;
  check_system_call("watch the links of " + ns.name(),
                    ::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
}

std::vector<LinkState> LinkWatch::read(size_t limit) {
  std::vector<LinkState> states;
  // Only while it is read: a daemon watches hundreds of namespaces, where hardly anything happens.
  const auto buffer = std::make_unique_for_overwrite<uint8_t[]>(kNetlinkReceiveBytes);
  while (states.size() < limit) {
    const ssize_t n = ::recv(fd_.get(), buffer.get(), kNetlinkReceiveBytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0 && errno == ENOBUFS) {
      overrun_ = true;
      continue;
    }
    int left = static_cast<int>(check_system_call("read link messages", n));
    for (auto* header = reinterpret_cast<nlmsghdr*>(buffer.get()); nlmsg_ok(header, left);
         header = nlmsg_next(header, &left)) {
      if (auto state = parse_link_message(*header)) states.push_back(std::move(*state));
    }
  }
  return states;
}

std::vector<LinkState> LinkWatch::read_or_ask(NamespaceNetlink& netlink) {
  std::vector<LinkState> states = read();
  if (!take_overrun()) return states;
  for (LinkState& link : netlink.links()) states.push_back(std::move(link));
  return states;
}

}  // namespace mrclab::netio
