#include "netio/kernel/route.h"

#include <arpa/inet.h>
#include <linux/fib_rules.h>
#include <linux/if_addr.h>
#include <linux/lwtunnel.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/seg6.h>
#include <linux/seg6_iptunnel.h>
#include <linux/seg6_local.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <array>
#include <charconv>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <thread>

namespace mrclab::netio {
namespace {

/// An address becomes usable by a work queue of the kernel, which waits for a
/// lock that all labs of the machine share.
constexpr std::chrono::seconds kAddressPatience{30};
constexpr std::chrono::microseconds kAddressLook{200};

std::string address_text(const Ipv6Address& address) {
  char text[INET6_ADDRSTRLEN];
  return ::inet_ntop(AF_INET6, address.data(), text, sizeof text);
}

void put_attribute(nl_msg* message, int attribute, const Ipv6Address& address) {
  nla_put(message, attribute, static_cast<int>(address.size()), address.data());
}

void put_counters(nl_msg* message) {
  nlattr* counters = nla_nest_start(message, SEG6_LOCAL_COUNTERS);
  for (const int counter : {SEG6_LOCAL_CNT_PACKETS, SEG6_LOCAL_CNT_BYTES, SEG6_LOCAL_CNT_ERRORS})
    nla_put_u64(message, counter, 0);
  nla_nest_end(message, counters);
}

/// Writes RTA_ENCAP_TYPE and RTA_ENCAP for each kind of action.
struct ActionWriter {
  nl_msg* message;

  void operator()(std::monostate) const {}

  void operator()(const EncapRed& encap) const {
    nla_put_u16(message, RTA_ENCAP_TYPE, LWTUNNEL_ENCAP_SEG6);
    nlattr* nest = nla_nest_start(message, RTA_ENCAP);
    // A mode, then a segment routing header (RFC 8754 §2) with one segment.
    struct {
      int32_t mode = SEG6_IPTUN_MODE_ENCAP_RED;
      uint8_t next_header = 0, length = 2, type = 4, segments_left = 0;
      uint8_t first_segment = 0, flags = 0;
      uint16_t tag = 0;
      Ipv6Address segment;
    } tunnel;
    static_assert(sizeof tunnel == sizeof(seg6_iptunnel_encap) + sizeof(ipv6_sr_hdr) + 16);
    tunnel.segment = encap.segment;
    nla_put(message, SEG6_IPTUNNEL_SRH, sizeof tunnel, &tunnel);
    nla_nest_end(message, nest);
  }

  void put_next_csid(uint8_t block_bits, uint8_t usid_bits) const {
    nlattr* flavors = nla_nest_start(message, SEG6_LOCAL_FLAVORS);
    nla_put_u32(message, SEG6_LOCAL_FLV_OPERATION, 1u << SEG6_LOCAL_FLV_OP_NEXT_CSID);
    nla_put_u8(message, SEG6_LOCAL_FLV_LCBLOCK_BITS, block_bits);
    nla_put_u8(message, SEG6_LOCAL_FLV_LCNODE_FN_BITS, usid_bits);
    nla_nest_end(message, flavors);
    put_counters(message);
  }

  void operator()(const EndNextCsid& end) const {
    nla_put_u16(message, RTA_ENCAP_TYPE, LWTUNNEL_ENCAP_SEG6_LOCAL);
    nlattr* nest = nla_nest_start(message, RTA_ENCAP);
    nla_put_u32(message, SEG6_LOCAL_ACTION, SEG6_LOCAL_ACTION_END);
    put_next_csid(end.block_bits, end.usid_bits);
    nla_nest_end(message, nest);
  }

  void operator()(const EndXNextCsid& end) const {
    nla_put_u16(message, RTA_ENCAP_TYPE, LWTUNNEL_ENCAP_SEG6_LOCAL);
    nlattr* nest = nla_nest_start(message, RTA_ENCAP);
    nla_put_u32(message, SEG6_LOCAL_ACTION, SEG6_LOCAL_ACTION_END_X);
    put_attribute(message, SEG6_LOCAL_NH6, end.next_hop);
    put_next_csid(end.block_bits, end.usid_bits);
    nla_nest_end(message, nest);
  }

  void operator()(const EndDt6& end) const {
    nla_put_u16(message, RTA_ENCAP_TYPE, LWTUNNEL_ENCAP_SEG6_LOCAL);
    nlattr* nest = nla_nest_start(message, RTA_ENCAP);
    nla_put_u32(message, SEG6_LOCAL_ACTION, SEG6_LOCAL_ACTION_END_DT6);
    nla_put_u32(message, SEG6_LOCAL_TABLE, end.table);
    put_counters(message);
    nla_nest_end(message, nest);
  }
};

std::string describe(const RouteAction& action) {
  if (const auto* encap = std::get_if<EncapRed>(&action))
    return " encap.red " + address_text(encap->segment);
  if (std::holds_alternative<EndNextCsid>(action)) return " End next-csid";
  if (const auto* end = std::get_if<EndXNextCsid>(&action))
    return " End.X next-csid to " + address_text(end->next_hop);
  if (const auto* end = std::get_if<EndDt6>(&action))
    return " End.DT6 table " + std::to_string(end->table);
  return "";
}

std::string describe(const Route& route) {
  std::string text = prefix_text(route.destination);
  if (route.end == RouteEnd::kBlackhole) text = "blackhole " + text;
  if (route.end == RouteEnd::kUnreachable) text = "unreachable " + text;
  text += describe(route.action);
  if (route.via) text += " via " + address_text(*route.via);
  if (!route.dev.empty()) text += " dev " + route.dev;
  for (const RouteWay& way : route.ways) text += describe(way.action) + " dev " + way.dev;
  return text;
}

void put_ways(NamespaceNetlink& netlink, nl_msg* message, const std::vector<RouteWay>& ways) {
  nlattr* nest = nla_nest_start(message, RTA_MULTIPATH);
  for (const RouteWay& way : ways) {
    auto* hop = static_cast<rtnexthop*>(nlmsg_reserve(message, sizeof(rtnexthop), NLMSG_ALIGNTO));
    std::memset(hop, 0, sizeof *hop);
    hop->rtnh_hops = static_cast<uint8_t>(way.weight - 1);
    hop->rtnh_ifindex = static_cast<int>(netlink.ifindex(way.dev));
    put_attribute(message, RTA_GATEWAY, way.via);
    std::visit(ActionWriter{message}, way.action);
    const auto* end = static_cast<const uint8_t*>(nlmsg_tail(nlmsg_hdr(message)));
    hop->rtnh_len = static_cast<uint16_t>(end - reinterpret_cast<const uint8_t*>(hop));
  }
  nla_nest_end(message, nest);
}

NlMessage route_message(NamespaceNetlink& netlink, const Route& route, int type, int flags) {
  NlMessage message = make_message(type, flags);
  rtmsg header{};
  header.rtm_family = AF_INET6;
  header.rtm_dst_len = route.destination.length;
  header.rtm_table = static_cast<uint8_t>(route.table);
  header.rtm_protocol = type == RTM_NEWROUTE ? route.protocol : RTPROT_UNSPEC;
  header.rtm_scope = type == RTM_NEWROUTE ? RT_SCOPE_UNIVERSE : RT_SCOPE_NOWHERE;
  header.rtm_type = type == RTM_NEWROUTE ? RTN_UNICAST : RTN_UNSPEC;
  if (route.end == RouteEnd::kBlackhole) header.rtm_type = RTN_BLACKHOLE;
  if (route.end == RouteEnd::kUnreachable) header.rtm_type = RTN_UNREACHABLE;
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  put_attribute(message.get(), RTA_DST, route.destination.address);
  if (!route.dev.empty()) nla_put_u32(message.get(), RTA_OIF, netlink.ifindex(route.dev));
  if (route.via) put_attribute(message.get(), RTA_GATEWAY, *route.via);
  if (route.metric != 0) nla_put_u32(message.get(), RTA_PRIORITY, route.metric);
  if (type == RTM_DELROUTE) return message;
  if (route.source) put_attribute(message.get(), RTA_PREFSRC, *route.source);
  if (route.mtu != 0) {
    nlattr* metrics = nla_nest_start(message.get(), RTA_METRICS);
    nla_put_u32(message.get(), RTAX_MTU, route.mtu);
    nla_nest_end(message.get(), metrics);
  }
  if (!route.ways.empty()) put_ways(netlink, message.get(), route.ways);
  std::visit(ActionWriter{message.get()}, route.action);
  return message;
}

}  // namespace

Ipv6Address parse_address(const std::string& text) {
  Ipv6Address address{};
  if (::inet_pton(AF_INET6, text.c_str(), address.data()) != 1)
    throw std::invalid_argument("\"" + text + "\" is no IPv6 address");
  return address;
}

Ipv6Prefix parse_prefix(const std::string& text) {
  const size_t slash = text.find('/');
  Ipv6Prefix prefix{parse_address(text.substr(0, slash)), 128};
  if (slash == std::string::npos) return prefix;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + slash + 1, end, prefix.length);
  if (error != std::errc{} || rest != end || prefix.length > 128)
    throw std::invalid_argument("\"" + text + "\" is no IPv6 prefix");
  return prefix;
}

std::string prefix_text(const Ipv6Prefix& prefix) {
  return address_text(prefix.address) + "/" + std::to_string(prefix.length);
}

void RouteBatch::address(const std::string& dev, const Ipv6Prefix& prefix) {
  NlMessage message = make_message(RTM_NEWADDR, NLM_F_CREATE | NLM_F_REPLACE);
  ifaddrmsg header{};
  header.ifa_family = AF_INET6;
  header.ifa_prefixlen = prefix.length;
  header.ifa_flags = IFA_F_NODAD;
  header.ifa_scope = RT_SCOPE_UNIVERSE;
  header.ifa_index = netlink_.ifindex(dev);
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  put_attribute(message.get(), IFA_LOCAL, prefix.address);
  addresses_.push_back(prefix.address);
  netlink_.socket().queue(std::move(message), "add address " + prefix_text(prefix) + " to " + dev +
                                                  " in " + netlink_.namespace_name());
}

void RouteBatch::commit() {
  flush();
  const auto deadline = std::chrono::steady_clock::now() + kAddressPatience;
  for (; !addresses_.empty(); addresses_.pop_back()) {
    while (!is_local(addresses_.back())) {
      if (std::chrono::steady_clock::now() > deadline) {
        throw SystemError(
            "use address " + address_text(addresses_.back()) + " in " + netlink_.namespace_name(),
            ETIMEDOUT);
      }
      std::this_thread::sleep_for(kAddressLook);
    }
  }
}

bool RouteBatch::is_local(const Ipv6Address& address) {
  NlMessage request = make_message(RTM_GETROUTE, 0);
  rtmsg header{};
  header.rtm_family = AF_INET6;
  header.rtm_dst_len = 128;
  nlmsg_append(request.get(), &header, sizeof header, NLMSG_ALIGNTO);
  put_attribute(request.get(), RTA_DST, address);
  bool local = false;
  try {
    netlink_.socket().dump(std::move(request), "find the route to " + address_text(address),
                           [&local](const nlmsghdr& answer) {
                             const auto* route = static_cast<const rtmsg*>(NLMSG_DATA(&answer));
                             local = route->rtm_type == RTN_LOCAL;
                           });
  } catch (const SystemError&) {  // there is no route yet, or one that refuses packets
  }
  return local;
}

void RouteBatch::neighbour(const std::string& dev, const Ipv6Address& address,
                           const MacAddress& mac) {
  NlMessage message = make_message(RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_REPLACE);
  ndmsg header{};
  header.ndm_family = AF_INET6;
  header.ndm_ifindex = static_cast<int>(netlink_.ifindex(dev));
  header.ndm_state = NUD_PERMANENT;
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  put_attribute(message.get(), NDA_DST, address);
  nla_put(message.get(), NDA_LLADDR, static_cast<int>(mac.size()), mac.data());
  netlink_.socket().queue(std::move(message), "add neighbour " + address_text(address) + " on " +
                                                  dev + " in " + netlink_.namespace_name());
}

void RouteBatch::route(const Route& route, int tolerated) {
  netlink_.socket().queue(
      route_message(netlink_, route, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE),
      "add route " + describe(route) + " in " + netlink_.namespace_name(), tolerated);
}

void RouteBatch::rule(const RouteRule& rule, uint32_t place) {
  NlMessage message = make_message(RTM_NEWRULE, NLM_F_CREATE | NLM_F_EXCL);
  fib_rule_hdr header{};
  header.family = AF_INET6;
  header.table = static_cast<uint8_t>(rule.table);
  header.action = FR_ACT_TO_TBL;
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  nla_put_string(message.get(), FRA_IIFNAME, rule.from.c_str());
  nla_put_u32(message.get(), FRA_PRIORITY, place);
  netlink_.socket().queue(std::move(message), "add the rule for what comes from " + rule.from +
                                                  " in " + netlink_.namespace_name());
}

void RouteBatch::remove_route(const Route& route) {
  netlink_.socket().queue(route_message(netlink_, route, RTM_DELROUTE, 0),
                          "remove route " + describe(route) + " in " + netlink_.namespace_name(),
                          ESRCH);
}

}  // namespace mrclab::netio
