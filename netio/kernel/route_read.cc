// The routes and neighbours that the kernel has in a namespace, read back.

#include <arpa/inet.h>
#include <linux/lwtunnel.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <linux/seg6.h>
#include <linux/seg6_iptunnel.h>
#include <linux/seg6_local.h>
#include <netlink/attr.h>
#include <netlink/msg.h>

#include <array>
#include <cstring>
#include <span>

#include "netio/kernel/route.h"

namespace mrclab::netio {
namespace {

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

/// The encapsulation with a single segment (RFC 8754 section 2); none for any other.
RouteAction read_encap(nlattr* encap) {
  std::array<nlattr*, SEG6_IPTUNNEL_MAX + 1> tunnel{};
  if (nla_parse_nested(tunnel.data(), SEG6_IPTUNNEL_MAX, encap, nullptr) < 0) return {};
  constexpr size_t kSegmentAt = sizeof(seg6_iptunnel_encap) + sizeof(ipv6_sr_hdr);
  const nlattr* header = tunnel[SEG6_IPTUNNEL_SRH];
  EncapRed action;
  if (header == nullptr ||
      static_cast<size_t>(nla_len(header)) != kSegmentAt + action.segment.size())
    return {};
  std::memcpy(action.segment.data(), static_cast<const uint8_t*>(nla_data(header)) + kSegmentAt,
              action.segment.size());
  return action;
}

RouteWay read_way(uint32_t ifindex, std::span<nlattr* const> attributes,
                  const std::vector<LinkState>& links) {
  RouteWay way{name_of(ifindex, links)};
  if (attributes[RTA_GATEWAY] != nullptr) way.via = address_in(attributes[RTA_GATEWAY]);
  if (attributes[RTA_ENCAP] == nullptr || attributes[RTA_ENCAP_TYPE] == nullptr) return way;
  if (nla_get_u16(attributes[RTA_ENCAP_TYPE]) == LWTUNNEL_ENCAP_SEG6)
    way.action = read_encap(attributes[RTA_ENCAP]);
  return way;
}

void read_multipath(nlattr* multipath, const std::vector<LinkState>& links,
                    std::vector<RouteWay>& ways) {
  int left = nla_len(multipath);
  auto* hop = static_cast<rtnexthop*>(nla_data(multipath));
  for (; RTNH_OK(hop, left); left -= RTNH_ALIGN(hop->rtnh_len), hop = RTNH_NEXT(hop)) {
    std::array<nlattr*, RTA_MAX + 1> attributes{};
    const int length = hop->rtnh_len - static_cast<int>(sizeof *hop);
    auto* first = reinterpret_cast<nlattr*>(RTNH_DATA(hop));
    if (nla_parse(attributes.data(), RTA_MAX, first, length, nullptr) < 0) return;
    if ((hop->rtnh_flags & RTNH_F_DEAD) != 0) continue;
    ways.push_back(read_way(static_cast<uint32_t>(hop->rtnh_ifindex), attributes, links));
    ways.back().weight = hop->rtnh_hops + 1u;
  }
}

/// Empty for a route that no program has set: those of the local table, and the kernel's own.
std::optional<InstalledRoute> read_route(const nlmsghdr& message,
                                         const std::vector<LinkState>& links) {
  std::array<nlattr*, RTA_MAX + 1> attributes{};
  if (message.nlmsg_type != RTM_NEWROUTE ||
      nlmsg_parse(const_cast<nlmsghdr*>(&message), sizeof(rtmsg), attributes.data(), RTA_MAX,
                  nullptr) < 0)
    return std::nullopt;
  const auto* header = static_cast<const rtmsg*>(nlmsg_data(&message));
  const bool ours = header->rtm_table != RT_TABLE_LOCAL && header->rtm_protocol != RTPROT_KERNEL &&
                    (header->rtm_type == RTN_UNICAST || header->rtm_type == RTN_BLACKHOLE);
  if (!ours || (header->rtm_flags & RTM_F_CLONED) != 0) return std::nullopt;
  InstalledRoute route;
  route.destination.length = header->rtm_dst_len;
  route.table = header->rtm_table;
  route.protocol = header->rtm_protocol;
  route.blackhole = header->rtm_type == RTN_BLACKHOLE;
  if (attributes[RTA_DST]) route.destination.address = address_in(attributes[RTA_DST]);
  if (attributes[RTA_GATEWAY]) route.via = address_in(attributes[RTA_GATEWAY]);
  if (attributes[RTA_PRIORITY]) route.metric = nla_get_u32(attributes[RTA_PRIORITY]);
  if (attributes[RTA_OIF] && !route.blackhole)
    route.dev = name_of(nla_get_u32(attributes[RTA_OIF]), links);
  if (attributes[RTA_MULTIPATH]) read_multipath(attributes[RTA_MULTIPATH], links, route.ways);
  if (attributes[RTA_ENCAP] && attributes[RTA_ENCAP_TYPE]) {
    const bool local = nla_get_u16(attributes[RTA_ENCAP_TYPE]) == LWTUNNEL_ENCAP_SEG6_LOCAL;
    route.action = "encap";
    if (local) read_seg6_local(attributes[RTA_ENCAP], route);
  }
  return route;
}

std::vector<RouteWay> read_ways(const nlmsghdr& message, const std::vector<LinkState>& links) {
  std::array<nlattr*, RTA_MAX + 1> attributes{};
  std::vector<RouteWay> ways;
  if (message.nlmsg_type != RTM_NEWROUTE ||
      nlmsg_parse(const_cast<nlmsghdr*>(&message), sizeof(rtmsg), attributes.data(), RTA_MAX,
                  nullptr) < 0)
    return ways;
  if (attributes[RTA_MULTIPATH] != nullptr) {
    read_multipath(attributes[RTA_MULTIPATH], links, ways);
  } else if (attributes[RTA_OIF] != nullptr) {
    ways.push_back(read_way(nla_get_u32(attributes[RTA_OIF]), attributes, links));
  }
  return ways;
}

/// The ways in the kernel's answer to `request`; empty if it has no route to `destination`.
std::vector<RouteWay> ask_for_route(NamespaceNetlink& netlink, NlMessage request,
                                    const Ipv6Address& destination) {
  const std::vector<LinkState> links = netlink.links();
  std::vector<RouteWay> ways;
  try {
    netlink.socket().dump(
        std::move(request),
        "ask " + netlink.namespace_name() + " for its route to " + prefix_text({destination, 128}),
        [&](const nlmsghdr& answer) { ways = read_ways(answer, links); });
  } catch (const SystemError& error) {
    if (error.error_number() != ENETUNREACH && error.error_number() != EHOSTUNREACH) throw;
  }
  return ways;
}

NlMessage route_question(uint32_t from, const Ipv6Address& destination, uint32_t flags) {
  NlMessage message = make_message(RTM_GETROUTE, 0);
  rtmsg header{};
  header.rtm_family = AF_INET6;
  header.rtm_dst_len = 128;
  header.rtm_flags = flags;
  nlmsg_append(message.get(), &header, sizeof header, NLMSG_ALIGNTO);
  nla_put(message.get(), RTA_DST, static_cast<int>(destination.size()), destination.data());
  nla_put_u32(message.get(), RTA_IIF, from);
  return message;
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

}  // namespace

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

std::vector<RouteWay> installed_ways(NamespaceNetlink& netlink, const std::string& from,
                                     const Ipv6Address& destination) {
  return ask_for_route(netlink, route_question(netlink.ifindex(from), destination, RTM_F_FIB_MATCH),
                       destination);
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

}  // namespace mrclab::netio
