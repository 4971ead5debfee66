#include "netio/kernel/link.h"

#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netlink/attr.h>
#include <netlink/msg.h>
#include <netlink/netlink.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>

#include <algorithm>
#include <map>
#include <memory>

namespace mrclab::netio {
namespace {

struct LinkDeleter {
  void operator()(rtnl_link* link) const { rtnl_link_put(link); }
};
struct AddressDeleter {
  void operator()(nl_addr* address) const { nl_addr_put(address); }
};

void describe_end(rtnl_link* link, const VethEnd& end, uint32_t mtu) {
  rtnl_link_set_name(link, end.name.c_str());
  rtnl_link_set_ns_fd(link, end.ns->fd());
  rtnl_link_set_mtu(link, mtu);
  rtnl_link_set_num_tx_queues(link, 1);
  rtnl_link_set_num_rx_queues(link, 1);
  const std::unique_ptr<nl_addr, AddressDeleter> mac(
      nl_addr_build(AF_LLC, end.mac.data(), end.mac.size()));
  rtnl_link_set_addr(link, mac.get());
}

void check_interface_name(const std::string& name) {
  if (name.empty() || name.size() >= IFNAMSIZ)
    throw SystemError("name an interface \"" + name + "\"", EINVAL,
                      "1 to 15 characters are possible");
}

void set_altnames(std::span<const VethPair> pairs) {
  std::map<int, std::vector<const VethEnd*>> by_namespace;
  for (const VethPair& pair : pairs)
    for (const VethEnd* end : {&pair.a, &pair.b})
      if (!end->full_name.empty()) by_namespace[end->ns->fd()].push_back(end);
  for (const auto& [fd, ends] : by_namespace) {
    NamespaceNetlink netlink(*ends.front()->ns);
    for (const VethEnd* end : ends) netlink.queue_altname(end->name, end->full_name);
    netlink.flush();
  }
}

/// A request for links, without their counters: summing those up over all processors is most of an answer.
NlMessage link_request(int flags) {
  NlMessage request = make_message(RTM_GETLINK, flags);
  const ifinfomsg info{};
  nlmsg_append(request.get(), const_cast<ifinfomsg*>(&info), sizeof info, NLMSG_ALIGNTO);
  nla_put_u32(request.get(), IFLA_EXT_MASK, RTEXT_FILTER_SKIP_STATS);
  return request;
}

}  // namespace

void create_veths(std::span<const VethPair> pairs) {
  NetlinkSocket socket(NetworkNamespace::current());
  for (const VethPair& pair : pairs) {
    check_interface_name(pair.a.name);
    check_interface_name(pair.b.name);
    const std::unique_ptr<rtnl_link, LinkDeleter> link(rtnl_link_veth_alloc());
    if (!link) throw SystemError("allocate a link", ENOMEM);
    describe_end(link.get(), pair.a, pair.mtu);
    const std::unique_ptr<rtnl_link, LinkDeleter> peer(rtnl_link_veth_get_peer(link.get()));
    describe_end(peer.get(), pair.b, pair.mtu);
    const std::string attempted = "create link " + pair.a.ns->name() + ":" + pair.a.name + " -- " +
                                  pair.b.ns->name() + ":" + pair.b.name;
    nl_msg* message = nullptr;
    if (const int error =
            rtnl_link_build_add_request(link.get(), NLM_F_CREATE | NLM_F_EXCL, &message);
        error < 0)
      throw SystemError(attempted, EINVAL, nl_geterror(error));
    socket.queue(NlMessage(message), attempted);
  }
  socket.flush();
  set_altnames(pairs);
}

NamespaceNetlink::NamespaceNetlink(const NetworkNamespace& ns) : name_(ns.name()), socket_(ns) {}

std::vector<LinkState> NamespaceNetlink::links() {
  NlMessage request = link_request(NLM_F_DUMP);
  std::vector<LinkState> result;
  socket_.dump(std::move(request), "list the interfaces of " + name_,
               [&result](const nlmsghdr& header) {
                 if (auto state = parse_link_message(header)) result.push_back(std::move(*state));
               });
  std::sort(result.begin(), result.end(),
            [](const LinkState& a, const LinkState& b) { return a.ifindex < b.ifindex; });
  for (const LinkState& link : result) indexes_[link.name] = link.ifindex;
  return result;
}

LinkState NamespaceNetlink::link(const std::string& name) {
  NlMessage request = link_request(0);
  nla_put_string(request.get(), IFLA_IFNAME, name.c_str());
  std::optional<LinkState> result;
  socket_.dump(std::move(request), "look at interface " + name + " in " + name_,
               [&result](const nlmsghdr& header) { result = parse_link_message(header); });
  if (!result) throw SystemError("look at interface " + name + " in " + name_, ENODEV);
  indexes_[name] = result->ifindex;
  return *result;
}

uint32_t NamespaceNetlink::ifindex(const std::string& name) {
  auto found = indexes_.find(name);
  if (found == indexes_.end()) {
    links();
    found = indexes_.find(name);
  }
  if (found == indexes_.end()) throw SystemError("find interface " + name + " in " + name_, ENODEV);
  return found->second;
}

void NamespaceNetlink::queue_flags(const std::string& name, bool up) {
  NlMessage request = make_message(RTM_NEWLINK, 0);
  ifinfomsg info{};
  info.ifi_change = IFF_UP;
  info.ifi_flags = up ? IFF_UP : 0;
  nlmsg_append(request.get(), &info, sizeof info, NLMSG_ALIGNTO);
  nla_put_string(request.get(), IFLA_IFNAME, name.c_str());
  socket_.queue(std::move(request),
                std::string("set ") + name + " in " + name_ + (up ? " up" : " down"));
}

void NamespaceNetlink::queue_altname(const std::string& name, const std::string& full_name) {
  NlMessage request = make_message(RTM_NEWLINKPROP, NLM_F_CREATE | NLM_F_EXCL | NLM_F_APPEND);
  ifinfomsg info{};
  nlmsg_append(request.get(), &info, sizeof info, NLMSG_ALIGNTO);
  nla_put_string(request.get(), IFLA_IFNAME, name.c_str());
  nlattr* list = nla_nest_start(request.get(), IFLA_PROP_LIST | NLA_F_NESTED);
  nla_put_string(request.get(), IFLA_ALT_IFNAME, full_name.c_str());
  nla_nest_end(request.get(), list);
  socket_.queue(std::move(request), "name " + name + " in " + name_ + " also " + full_name);
}

}  // namespace mrclab::netio
