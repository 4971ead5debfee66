#include "netio/kernel/ipv4.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

namespace mrclab::netio {
namespace {

void put_address(nl_msg* message, int attribute, uint32_t address) {
  nla_put_u32(message, attribute, htonl(address));
}

}  // namespace

std::string ipv4_text(uint32_t address) {
  char text[INET_ADDRSTRLEN];
  const in_addr in{htonl(address)};
  return ::inet_ntop(AF_INET, &in, text, sizeof text);
}

std::string prefix_text(const Ipv4Prefix& prefix) {
  return ipv4_text(prefix.address) + "/" + std::to_string(prefix.length);
}

void Ipv4Batch::address(const std::string& dev, const Ipv4Prefix& prefix) {
  NlMessage message = make_message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE);
  ifaddrmsg header{};
  header.ifa_family = AF_INET;
  header.ifa_prefixlen = prefix.length;
  header.ifa_scope = RT_SCOPE_UNIVERSE;
  header.ifa_index = netlink_.ifindex(dev);
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  put_address(message.get(), IFA_LOCAL, prefix.address);
  put_address(message.get(), IFA_ADDRESS, prefix.address);
  nla_put_u32(message.get(), IFA_FLAGS, IFA_F_NOPREFIXROUTE);
  netlink_.socket().queue(std::move(message), "add address " + prefix_text(prefix) + " to " + dev +
                                                  " in " + netlink_.namespace_name());
}

void Ipv4Batch::neighbour(const std::string& dev, uint32_t address, const MacAddress& mac) {
  NlMessage message = make_message(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
  ndmsg header{};
  header.ndm_family = AF_INET;
  header.ndm_ifindex = static_cast<int>(netlink_.ifindex(dev));
  header.ndm_state = NUD_PERMANENT;
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  put_address(message.get(), NDA_DST, address);
  nla_put(message.get(), NDA_LLADDR, static_cast<int>(mac.size()), mac.data());
  netlink_.socket().queue(std::move(message), "add neighbour " + ipv4_text(address) + " on " + dev +
                                                  " in " + netlink_.namespace_name());
}

void Ipv4Batch::route(const std::string& dev, const Ipv4Prefix& to, std::optional<uint32_t> via) {
  NlMessage message = make_message(RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE);
  rtmsg header{};
  header.rtm_family = AF_INET;
  header.rtm_dst_len = to.length;
  header.rtm_table = RT_TABLE_MAIN;
  header.rtm_protocol = RTPROT_STATIC;
  header.rtm_scope = via ? RT_SCOPE_UNIVERSE : RT_SCOPE_LINK;
  header.rtm_type = RTN_UNICAST;
  if (via) header.rtm_flags = RTNH_F_ONLINK;
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  put_address(message.get(), RTA_DST, to.address);
  nla_put_u32(message.get(), RTA_OIF, netlink_.ifindex(dev));
  if (via) put_address(message.get(), RTA_GATEWAY, *via);
  netlink_.socket().queue(std::move(message), "add route " + prefix_text(to) + " dev " + dev +
                                                  " in " + netlink_.namespace_name());
}

}  // namespace mrclab::netio
