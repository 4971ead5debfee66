#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/msg.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <array>

#include "netio/kernel/link_message.h"

namespace mrclab::netio {
namespace {

/// Empty for another message, and for what the kernel itself puts on every veth.
std::optional<QdiscEvent> parse_qdisc_message(const nlmsghdr& header) {
  if (header.nlmsg_type != RTM_NEWQDISC && header.nlmsg_type != RTM_DELQDISC) return {};
  if (header.nlmsg_len < NLMSG_LENGTH(sizeof(tcmsg))) return {};
  nlattr* attributes[TCA_MAX + 1] = {};
  if (nlmsg_parse(const_cast<nlmsghdr*>(&header), sizeof(tcmsg), attributes, TCA_MAX, nullptr) < 0)
    return {};
  if (!attributes[TCA_KIND]) return {};
  const auto* message = static_cast<const tcmsg*>(NLMSG_DATA(&header));
  QdiscEvent event{static_cast<uint32_t>(message->tcm_ifindex),
                   nla_get_string(attributes[TCA_KIND]), header.nlmsg_type == RTM_DELQDISC};
  if (event.kind == "noqueue") return {};
  return event;
}

}  // namespace

LinkWatch::LinkWatch(const NetworkNamespace& ns)
    : buffer_(std::make_unique_for_overwrite<uint8_t[]>(kNetlinkReceiveBytes)) {
  fd_ = FileDescriptor(check_system_call("open a link watch in " + ns.name(), ns.run_in([] {
    return ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
  })));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = RTMGRP_LINK | RTMGRP_TC;
  check_system_call("watch the links of " + ns.name(),
                    ::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
}

std::vector<LinkState> LinkWatch::read(size_t limit) {
  std::vector<LinkState> states;
  while (states.size() < limit) {
    const ssize_t n = ::recv(fd_.get(), buffer_.get(), kNetlinkReceiveBytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n < 0 && errno == ENOBUFS) {
      overrun_ = true;
      continue;
    }
    int left = static_cast<int>(check_system_call("read link messages", n));
    for (auto* header = reinterpret_cast<nlmsghdr*>(buffer_.get()); nlmsg_ok(header, left);
         header = nlmsg_next(header, &left)) {
      if (auto state = parse_link_message(*header)) states.push_back(std::move(*state));
      if (auto qdisc = parse_qdisc_message(*header); qdisc && qdiscs_.size() < kMaxQdiscs)
        qdiscs_.push_back(std::move(*qdisc));
    }
  }
  return states;
}

std::vector<LinkState> LinkWatch::read_or_ask(NamespaceNetlink& netlink) {
  std::vector<LinkState> states = read();
  if (!std::exchange(overrun_, false)) return states;
  for (LinkState& link : netlink.links()) states.push_back(std::move(link));
  return states;
}

LinkWatchSet::LinkWatchSet()
    : epoll_(check_system_call("watch links", ::epoll_create1(EPOLL_CLOEXEC))) {}

void LinkWatchSet::add(const NetworkNamespace& ns) {
  epoll_event event{.events = EPOLLIN, .data = {.u32 = static_cast<uint32_t>(watches_.size())}};
  watches_.emplace_back(ns);
  check_system_call("watch links",
                    ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, watches_.back().fd(), &event));
}

std::vector<size_t> LinkWatchSet::ready() const {
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  std::vector<size_t> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(events[static_cast<size_t>(i)].data.u32);
  return numbers;
}

}  // namespace mrclab::netio
