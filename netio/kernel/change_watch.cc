#include "netio/kernel/change_watch.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/fib_rules.h>
#include <linux/filter.h>
#include <linux/neighbour.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

#include "netio/kernel/netlink.h"
#include "netio/system/system_error.h"

namespace mrclab::netio {
namespace {

using Kind = KernelChange::Kind;

/// Own sockets that the filter below can name; a jump of the program reaches no further.
constexpr size_t kMaxFiltered = 64;

constexpr std::array kRouteGroups = {
    RTNLGRP_LINK,       RTNLGRP_NEIGH,      RTNLGRP_TC,
    RTNLGRP_IPV4_RULE,  RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV4_IFADDR,
    RTNLGRP_IPV6_ROUTE, RTNLGRP_IPV6_RULE,  RTNLGRP_IPV6_IFADDR,
};

/// Drops what has been asked for by the sockets `own`, and routes and neighbours that nobody asked for. Links and
/// addresses always pass: the kernel does not report who asked.
void filter_own(int fd, std::span<const uint32_t> own) {
  std::vector<sock_filter> code;
  const auto load = [&](uint16_t size, uint32_t at) {
    code.push_back(BPF_STMT(static_cast<uint16_t>(BPF_LD | size | BPF_ABS), at));
  };
  // A message is in this machine's order of bytes, what the filter loads in the network's.
  const auto is = [&](uint32_t value, uint8_t if_so, uint8_t if_not) {
    code.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, if_so, if_not));
  };
  const auto type = [](uint16_t value) { return uint32_t{htons(value)}; };
  const auto count = static_cast<uint8_t>(std::min(own.size(), kMaxFiltered));
  load(BPF_H, offsetof(nlmsghdr, nlmsg_type));
  const std::array<uint16_t, 4> always = {RTM_NEWLINK, RTM_DELLINK, RTM_NEWADDR, RTM_DELADDR};
  const std::array<uint16_t, 4> asked = {RTM_NEWROUTE, RTM_DELROUTE, RTM_NEWNEIGH, RTM_DELNEIGH};
  // Behind these: 4 of `asked`, a load, a test for 0, a load, the own ones, "pass", "drop".
  for (size_t i = 0; i < always.size(); ++i) {
    is(type(always[i]), static_cast<uint8_t>(always.size() - 1 - i + 4 + 1 + 1 + 1 + 1 + count), 0);
  }
  for (size_t i = 0; i < asked.size(); ++i) {
    is(type(asked[i]), static_cast<uint8_t>(asked.size() - 1 - i + 1), 0);
  }
  code.push_back(BPF_STMT(BPF_JMP | BPF_JA, 2));
  load(BPF_W, offsetof(nlmsghdr, nlmsg_pid));
  is(0, static_cast<uint8_t>(1 + count + 1), 0);
  load(BPF_W, offsetof(nlmsghdr, nlmsg_pid));
  for (uint8_t i = 0; i < count; ++i) is(htonl(own[i]), static_cast<uint8_t>(count - i), 0);
  code.push_back(BPF_STMT(BPF_RET | BPF_K, UINT32_MAX));
  code.push_back(BPF_STMT(BPF_RET | BPF_K, 0));
  const sock_fprog program{static_cast<uint16_t>(code.size()), code.data()};
  check_system_call("filter netlink messages",
                    ::setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program));
}

FileDescriptor netlink_socket(int protocol) {
  return FileDescriptor(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol));
}

void bind_and_join(const FileDescriptor& socket, std::span<const rtnetlink_groups> groups,
                   const std::string& attempted) {
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  check_system_call(attempted,
                    ::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address));
  for (const int group : groups) {
    check_system_call(attempted, ::setsockopt(socket.get(), SOL_NETLINK, NETLINK_ADD_MEMBERSHIP,
                                              &group, sizeof group));
  }
}

std::string address_text(int family, const nlattr* attribute) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const int length = family == AF_INET ? 4 : 16;
  if (attribute == nullptr || nla_len(attribute) != length) return "";
  ::inet_ntop(family == AF_INET ? AF_INET : AF_INET6, nla_data(attribute), text.data(),
              text.size());
  return text.data();
}

/// The attributes behind a header of type `Header`; nothing if the message is too short for it.
template <class Header, int kMax>
struct Message {
  explicit Message(const nlmsghdr& message) {
    auto* mutable_message = const_cast<nlmsghdr*>(&message);
    if (nlmsg_parse(mutable_message, sizeof(Header), attributes.data(), kMax, nullptr) < 0) return;
    header = static_cast<const Header*>(nlmsg_data(&message));
  }
  const Header* header = nullptr;
  std::array<nlattr*, kMax + 1> attributes{};
};

std::optional<KernelChange> parse_route(const nlmsghdr& header) {
  const Message<rtmsg, RTA_MAX> message(header);
  if (message.header == nullptr || (message.header->rtm_flags & RTM_F_CLONED) != 0) return {};
  KernelChange change{Kind::kRoute, header.nlmsg_type == RTM_DELROUTE};
  const std::string to = address_text(message.header->rtm_family, message.attributes[RTA_DST]);
  change.what = to.empty() ? "default" : fmt::format("{}/{}", to, message.header->rtm_dst_len);
  return change;
}

std::optional<KernelChange> parse_rule(const nlmsghdr& header) {
  const Message<fib_rule_hdr, FRA_MAX> message(header);
  if (message.header == nullptr) return {};
  const auto number = [&](int attribute, uint32_t otherwise) {
    const nlattr* found = message.attributes[static_cast<size_t>(attribute)];
    return found != nullptr ? nla_get_u32(found) : otherwise;
  };
  return KernelChange{Kind::kRule, header.nlmsg_type == RTM_DELRULE, 0, 0,
                      fmt::format("{}: table {}", number(FRA_PRIORITY, 0),
                                  number(FRA_TABLE, message.header->table))};
}

std::optional<KernelChange> parse_neighbour(const nlmsghdr& header) {
  const Message<ndmsg, NDA_MAX> message(header);
  if (message.header == nullptr) return {};
  KernelChange change{Kind::kNeighbour, header.nlmsg_type == RTM_DELNEIGH};
  change.ifindex = static_cast<uint32_t>(message.header->ndm_ifindex);
  change.what = address_text(message.header->ndm_family, message.attributes[NDA_DST]);
  // The kernel reports a neighbour that somebody removes as one that has failed, and then as removed by itself.
  if ((message.header->ndm_state & NUD_FAILED) != 0) change.removed = true;
  return change;
}

/// What the kernel itself puts on every veth is no change.
std::optional<KernelChange> parse_qdisc(const nlmsghdr& header) {
  const Message<tcmsg, TCA_MAX> message(header);
  if (message.header == nullptr || message.attributes[TCA_KIND] == nullptr) return {};
  KernelChange change{Kind::kQdisc, header.nlmsg_type == RTM_DELQDISC,
                      static_cast<uint32_t>(message.header->tcm_ifindex), 0,
                      nla_get_string(message.attributes[TCA_KIND])};
  if (header.nlmsg_type == RTM_NEWTFILTER || header.nlmsg_type == RTM_DELTFILTER) {
    change.kind = Kind::kQdiscFilter;
    change.removed = header.nlmsg_type == RTM_DELTFILTER;
  } else if (change.what == "noqueue") {
    return {};
  }
  return change;
}

std::optional<KernelChange> parse_generation(const nlmsghdr& header) {
  const Message<nfgenmsg, NFTA_GEN_MAX> message(header);
  if (message.header == nullptr) return {};
  const nlattr* name = message.attributes[NFTA_GEN_PROC_NAME];
  return KernelChange{Kind::kPacketFilter, false, 0, 0,
                      name != nullptr ? nla_get_string(name) : ""};
}

std::optional<KernelChange> parse_change(const nlmsghdr& header) {
  switch (header.nlmsg_type) {
    case RTM_NEWLINK:
    case RTM_DELLINK: {
      const Message<ifinfomsg, IFLA_MAX> message(header);
      if (message.header == nullptr) return {};
      return KernelChange{Kind::kLink, header.nlmsg_type == RTM_DELLINK,
                          static_cast<uint32_t>(message.header->ifi_index)};
    }
    case RTM_NEWADDR:
    case RTM_DELADDR: return KernelChange{Kind::kAddress, header.nlmsg_type == RTM_DELADDR};
    case RTM_NEWROUTE:
    case RTM_DELROUTE: return parse_route(header);
    case RTM_NEWRULE:
    case RTM_DELRULE: return parse_rule(header);
    case RTM_NEWNEIGH:
    case RTM_DELNEIGH: return parse_neighbour(header);
    case RTM_NEWQDISC:
    case RTM_DELQDISC:
    case RTM_NEWTFILTER:
    case RTM_DELTFILTER: return parse_qdisc(header);
    case NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_NEWGEN: return parse_generation(header);
    default: return {};
  }
}

}  // namespace

ChangeWatch::ChangeWatch(const NetworkNamespace& ns, std::span<const uint32_t> own,
                         bool packet_filter)
    : buffer_(std::make_unique_for_overwrite<uint8_t[]>(kNetlinkReceiveBytes)) {
  ns.run_in([&] {
    fd_ = netlink_socket(NETLINK_ROUTE);
    if (packet_filter) filter_fd_ = netlink_socket(NETLINK_NETFILTER);
  });
  const std::string attempted = "watch changes of " + ns.name();
  check_system_call(attempted, fd_.get());
  filter_own(fd_.get(), own);
  bind_and_join(fd_, kRouteGroups, attempted);
  // Here the number is one of nfnetlink's groups.
  constexpr std::array kFilterGroups = {static_cast<rtnetlink_groups>(NFNLGRP_NFTABLES)};
  if (filter_fd_) bind_and_join(filter_fd_, kFilterGroups, attempted);
}

std::vector<KernelChange> ChangeWatch::read() {
  std::vector<KernelChange> changes;
  read_all(fd_.get(), changes);
  if (filter_fd_) read_all(filter_fd_.get(), changes);
  return changes;
}

void ChangeWatch::read_all(int fd, std::vector<KernelChange>& changes) {
  while (changes.size() < kMaxRead) {
    const ssize_t size = ::recv(fd, buffer_.get(), kNetlinkReceiveBytes, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0 && errno == EAGAIN) return;
    if (size < 0 && errno == ENOBUFS) {
      overrun_ = true;
      continue;
    }
    int left = static_cast<int>(check_system_call("read changes of a namespace", size));
    for (auto* header = reinterpret_cast<nlmsghdr*>(buffer_.get()); nlmsg_ok(header, left);
         header = nlmsg_next(header, &left)) {
      auto change = parse_change(*header);
      if (!change) continue;
      change->sender = header->nlmsg_pid;
      changes.push_back(std::move(*change));
    }
  }
}

ChangeWatchSet::ChangeWatchSet()
    : epoll_(check_system_call("watch namespaces", ::epoll_create1(EPOLL_CLOEXEC))) {}

void ChangeWatchSet::watch_namespace(const NetworkNamespace& ns, std::span<const uint32_t> own,
                                     bool packet_filter) {
  watches_.emplace_back(ns, own, packet_filter);
  poll_for(watches_.back().fd());
  if (watches_.back().filter_fd() >= 0) poll_for(watches_.back().filter_fd());
}

/// For the watch that was added last.
void ChangeWatchSet::poll_for(int fd) {
  epoll_event event{.events = EPOLLIN, .data = {.u32 = static_cast<uint32_t>(watches_.size() - 1)}};
  check_system_call("watch namespaces", ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event));
}

std::vector<size_t> ChangeWatchSet::ready() const {
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  std::vector<size_t> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(events[static_cast<size_t>(i)].data.u32);
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  return numbers;
}

}  // namespace mrclab::netio
