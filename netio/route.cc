#include "netio/route.h"

#include <arpa/inet.h>
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

/// The kernel's work queue waits for a lock that every lab of the machine wants.
constexpr std::chrono::seconds kAddressPatience{30};
constexpr std::chrono::microseconds kAddressLook{200};

std::string address_text(const Ipv6Address& address) {
  char text[INET6_ADDRSTRLEN];
  return ::inet_ntop(AF_INET6, address.data(), text, sizeof text);
}

void put(nl_msg* message, int attribute, const Ipv6Address& address) {
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
    put(message, SEG6_LOCAL_NH6, end.next_hop);
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

std::string describe(const Route& route) {
  std::string text = (route.blackhole ? "blackhole " : "") + prefix_text(route.destination);
  if (const auto* encap = std::get_if<EncapRed>(&route.action))
    text += " encap.red " + address_text(encap->segment);
  if (std::holds_alternative<EndNextCsid>(route.action)) text += " End next-csid";
  if (const auto* end = std::get_if<EndXNextCsid>(&route.action))
    text += " End.X next-csid to " + address_text(end->next_hop);
  if (const auto* end = std::get_if<EndDt6>(&route.action))
    text += " End.DT6 table " + std::to_string(end->table);
  if (route.via) text += " via " + address_text(*route.via);
  if (!route.dev.empty()) text += " dev " + route.dev;
  return text;
}

std::string_view action_name(uint32_t seg6_local_action) {
  switch (seg6_local_action) {
    case SEG6_LOCAL_ACTION_END: return "End";
    case SEG6_LOCAL_ACTION_END_X: return "End.X";
    case SEG6_LOCAL_ACTION_END_DT6: return "End.DT6";
    default: return "seg6local";
  }
}

Ipv6Address address_in(nlattr* attribute) {
  Ipv6Address address{};
  nla_memcpy(address.data(), attribute, static_cast<int>(address.size()));
  return address;
}

void read_seg6_local(nlattr* encap, InstalledRoute& route) {
  std::array<nlattr*, SEG6_LOCAL_MAX + 1> local{};
  if (nla_parse_nested(local.data(), SEG6_LOCAL_MAX, encap, nullptr) < 0) return;
  if (local[SEG6_LOCAL_ACTION] == nullptr) return;
  route.action = action_name(nla_get_u32(local[SEG6_LOCAL_ACTION]));
  if (local[SEG6_LOCAL_NH6] != nullptr) route.via = address_in(local[SEG6_LOCAL_NH6]);
  if (local[SEG6_LOCAL_COUNTERS] == nullptr) return;
  std::array<nlattr*, SEG6_LOCAL_CNT_MAX + 1> counts{};
  if (nla_parse_nested(counts.data(), SEG6_LOCAL_CNT_MAX, local[SEG6_LOCAL_COUNTERS], nullptr) < 0)
    return;
  const auto count = [&](int which) { return counts[which] ? nla_get_u64(counts[which]) : 0; };
  route.counters = {count(SEG6_LOCAL_CNT_PACKETS), count(SEG6_LOCAL_CNT_BYTES),
                    count(SEG6_LOCAL_CNT_ERRORS)};
}

std::string name_of(uint32_t ifindex, const std::vector<LinkState>& links) {
  for (const LinkState& link : links) {
    if (link.ifindex == ifindex) return link.name;
  }
  return "";
}

/// Empty for a route that nobody set: of another table, or the kernel's own.
std::optional<InstalledRoute> read_route(const nlmsghdr& message,
                                         const std::vector<LinkState>& links) {
  std::array<nlattr*, RTA_MAX + 1> attributes{};
  if (message.nlmsg_type != RTM_NEWROUTE ||
      nlmsg_parse(const_cast<nlmsghdr*>(&message), sizeof(rtmsg), attributes.data(), RTA_MAX,
                  nullptr) < 0)
    return std::nullopt;
  const auto* header = static_cast<const rtmsg*>(nlmsg_data(&message));
  const bool ours = header->rtm_table == RT_TABLE_MAIN && header->rtm_protocol != RTPROT_KERNEL &&
                    (header->rtm_type == RTN_UNICAST || header->rtm_type == RTN_BLACKHOLE);
  if (!ours || (header->rtm_flags & RTM_F_CLONED) != 0) return std::nullopt;
  InstalledRoute route;
  route.destination.length = header->rtm_dst_len;
  route.blackhole = header->rtm_type == RTN_BLACKHOLE;
  if (attributes[RTA_DST]) route.destination.address = address_in(attributes[RTA_DST]);
  if (attributes[RTA_GATEWAY]) route.via = address_in(attributes[RTA_GATEWAY]);
  if (attributes[RTA_PRIORITY]) route.metric = nla_get_u32(attributes[RTA_PRIORITY]);
  if (attributes[RTA_OIF] && !route.blackhole)
    route.dev = name_of(nla_get_u32(attributes[RTA_OIF]), links);
  if (attributes[RTA_ENCAP] && attributes[RTA_ENCAP_TYPE]) {
    const bool local = nla_get_u16(attributes[RTA_ENCAP_TYPE]) == LWTUNNEL_ENCAP_SEG6_LOCAL;
    route.action = "encap";
    if (local) read_seg6_local(attributes[RTA_ENCAP], route);
  }
  return route;
}

/// Empty for an entry that is not permanent.
std::optional<InstalledNeighbour> read_neighbour(const nlmsghdr& message,
                                                 const std::vector<LinkState>& links) {
  std::array<nlattr*, NDA_MAX + 1> attributes{};
  if (message.nlmsg_type != RTM_NEWNEIGH ||
      nlmsg_parse(const_cast<nlmsghdr*>(&message), sizeof(ndmsg), attributes.data(), NDA_MAX,
                  nullptr) < 0)
    return std::nullopt;
  const auto* header = static_cast<const ndmsg*>(nlmsg_data(&message));
  if (header->ndm_family != AF_INET6 || header->ndm_state != NUD_PERMANENT) return std::nullopt;
  if (!attributes[NDA_DST] || !attributes[NDA_LLADDR]) return std::nullopt;
  InstalledNeighbour neighbour;
  neighbour.dev = name_of(static_cast<uint32_t>(header->ndm_ifindex), links);
  neighbour.address = address_in(attributes[NDA_DST]);
  nla_memcpy(neighbour.mac.data(), attributes[NDA_LLADDR], static_cast<int>(neighbour.mac.size()));
  return neighbour;
}

NlMessage route_message(NamespaceNetlink& netlink, const Route& route, int type, int flags) {
  NlMessage message = make_message(type, flags);
  rtmsg header{};
  header.rtm_family = AF_INET6;
  header.rtm_dst_len = route.destination.length;
  header.rtm_table = RT_TABLE_MAIN;
  header.rtm_protocol = type == RTM_NEWROUTE ? RTPROT_STATIC : RTPROT_UNSPEC;
  header.rtm_scope = type == RTM_NEWROUTE ? RT_SCOPE_UNIVERSE : RT_SCOPE_NOWHERE;
  header.rtm_type =
      route.blackhole ? RTN_BLACKHOLE : (type == RTM_NEWROUTE ? RTN_UNICAST : RTN_UNSPEC);
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  put(message.get(), RTA_DST, route.destination.address);
  if (!route.dev.empty()) nla_put_u32(message.get(), RTA_OIF, netlink.ifindex(route.dev));
  if (route.via) put(message.get(), RTA_GATEWAY, *route.via);
  if (route.metric != 0) nla_put_u32(message.get(), RTA_PRIORITY, route.metric);
  if (type == RTM_DELROUTE) return message;
  if (route.source) put(message.get(), RTA_PREFSRC, *route.source);
  if (route.mtu != 0) {
    nlattr* metrics = nla_nest_start(message.get(), RTA_METRICS);
    nla_put_u32(message.get(), RTAX_MTU, route.mtu);
    nla_nest_end(message.get(), metrics);
  }
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

std::vector<InstalledRoute> installed_routes(NamespaceNetlink& netlink) {
  const std::vector<LinkState> links = netlink.links();
  NlMessage request = make_message(RTM_GETROUTE, NLM_F_DUMP);
  rtmsg header{};
  header.rtm_family = AF_INET6;
  nlmsg_append(request.get(), &header, sizeof header, NLMSG_ALIGNTO);
  std::vector<InstalledRoute> routes;
  netlink.socket().dump(std::move(request), "list the routes of " + netlink.namespace_name(),
                        [&](const nlmsghdr& answer) {
                          if (auto route = read_route(answer, links)) {
                            routes.push_back(std::move(*route));
                          }
                        });
  return routes;
}

std::vector<InstalledNeighbour> installed_neighbours(NamespaceNetlink& netlink) {
  const std::vector<LinkState> links = netlink.links();
  NlMessage request = make_message(RTM_GETNEIGH, NLM_F_DUMP);
  ndmsg header{};
  header.ndm_family = AF_INET6;
  nlmsg_append(request.get(), &header, sizeof header, NLMSG_ALIGNTO);
  std::vector<InstalledNeighbour> neighbours;
  netlink.socket().dump(std::move(request), "list the neighbours of " + netlink.namespace_name(),
                        [&](const nlmsghdr& answer) {
                          if (auto neighbour = read_neighbour(answer, links)) {
                            neighbours.push_back(std::move(*neighbour));
                          }
                        });
  return neighbours;
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
  put(message.get(), IFA_LOCAL, prefix.address);
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
  put(request.get(), RTA_DST, address);
  bool local = false;
  try {
    netlink_.socket().dump(std::move(request), "find the route to " + address_text(address),
                           [&local](const nlmsghdr& answer) {
                             const auto* route = static_cast<const rtmsg*>(NLMSG_DATA(&answer));
                             local = route->rtm_type == RTN_LOCAL;
                           });
  } catch (const SystemError&) {  // there is none yet, or one that refuses
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
  put(message.get(), NDA_DST, address);
  nla_put(message.get(), NDA_LLADDR, static_cast<int>(mac.size()), mac.data());
  netlink_.socket().queue(std::move(message), "add neighbour " + address_text(address) + " on " +
                                                  dev + " in " + netlink_.namespace_name());
}

void RouteBatch::route(const Route& route) {
  netlink_.socket().queue(
      route_message(netlink_, route, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_REPLACE),
      "add route " + describe(route) + " in " + netlink_.namespace_name());
}

void RouteBatch::remove_route(const Route& route) {
  netlink_.socket().queue(route_message(netlink_, route, RTM_DELROUTE, 0),
                          "remove route " + describe(route) + " in " + netlink_.namespace_name(),
                          ESRCH);
}

}  // namespace mrclab::netio
