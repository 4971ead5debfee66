#include "switchd/openflow_rules.h"

#include <charconv>
#include <cstdio>
#include <optional>

#include "fabric/paths/ecmp.h"
#include "fabric/topology/path.h"
#include "fabric/topology/routes.h"

namespace mrclab::switchd {
namespace {

/// The argument moves over the active uSID and zeros follow: bits count from the address's low end.
constexpr std::string_view kShift =
    "move:NXM_NX_IPV6_DST[0..79]->NXM_NX_IPV6_DST[16..95],load:0->NXM_NX_IPV6_DST[0..15]";

constexpr int kUplinkGroup = 1;
constexpr int kSegmentPriority = 200, kRoutePriority = 100;

std::string usid_prefix(Usid usid, int bits) {
  Ipv6Address address{};
  address[0] = kUsidBlock >> 24;
  address[1] = kUsidBlock >> 16 & 0xFF;
  address[4] = static_cast<uint8_t>(usid.value >> 8);
  address[5] = static_cast<uint8_t>(usid.value & 0xFF);
  return to_string(address) + "/" + std::to_string(bits);
}

std::string rule_text(int table, int priority, RuleKind kind, Usid usid, const std::string& match,
                      const std::string& actions) {
  char cookie[24];
  std::snprintf(cookie, sizeof cookie, "0x%llx",
                static_cast<unsigned long long>(cookie_of(kind, usid)));
  return "cookie=" + std::string(cookie) + ",table=" + std::to_string(table) +
         ",priority=" + std::to_string(priority) + (match.empty() ? "" : "," + match) +
         ",actions=" + actions;
}

/// A frame leaves by a port, also by the one that it came from.
std::string out_of(const Topology& topology, PortRef port) {
  return "mod_dl_src:" + to_string(topology.port(port).mac) +
         ",mod_dl_dst:" + to_string(topology.port(topology.port(port).peer).mac) +
         ",load:0->NXM_OF_IN_PORT[],output:" + std::to_string(openflow_port(port.port));
}

/// How a rule matches packets to a host without a carrier.
std::string match_host(const Topology& topology, uint32_t host) {
  if (topology.routing.underlay == Underlay::kIpv6) {
    return "ipv6,ipv6_dst=" + to_string(host_address(topology, host));
  }
  const Ipv6Address mapped = host_address_ipv4(host);
  std::string text = "ip,nw_dst=";
  for (size_t i = 12; i < mapped.size(); ++i) {
    text += (i == 12 ? "" : ".") + std::to_string(mapped[i]);
  }
  return text;
}

/// What becomes of a packet to a host: the port below that leads there, or a T0's group.
std::string to_host(const Topology& topology, NodeId self, uint32_t host) {
  const NodeSite& site = topology.node(self);
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const NodeSite& peer = topology.node(site.ports[i].peer.node);
    const bool host_there = peer.role == NodeRole::kHost && peer.index == host;
    const bool row_there = site.role == NodeRole::kT1 && peer.index == topology.host_row(host);
    if (host_there || row_there) return "dec_ttl," + out_of(topology, {self, PortId{i}});
  }
  return "dec_ttl,group:" + std::to_string(kUplinkGroup);
}

/// The number behind `key` in one line; empty if there is none.
std::optional<uint64_t> number_behind(std::string_view line, std::string_view key, int base) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  uint64_t value = 0;
  const char* first = line.data() + at + key.size();
  const auto [end, error] = std::from_chars(first, line.data() + line.size(), value, base);
  if (error != std::errc() || end == first) return std::nullopt;
  return value;
}

}  // namespace

std::vector<RuleCounter> parse_rule_counters(std::string_view text) {
  std::vector<RuleCounter> counters;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const auto cookie = number_behind(line, "cookie=0x", 16),
               table = number_behind(line, "table=", 10);
    const auto packets = number_behind(line, "n_packets=", 10);
    const auto bytes = number_behind(line, "n_bytes=", 10);
    if (!cookie || !table || !packets || !bytes) continue;
    const auto kind = static_cast<RuleKind>(*cookie >> 16);
    if (name_of(kind).empty()) continue;
    counters.push_back({kind, Usid{static_cast<uint16_t>(*cookie & 0xFFFF)},
                        static_cast<uint32_t>(*table), *packets, *bytes});
    // A port's own number is one more than ours.
    const auto out = number_behind(line, "output:", 10);
    if (out && *out > 0) counters.back().port = PortId{static_cast<uint32_t>(*out - 1)};
    counters.back().group = number_behind(line, "group:", 10) == kUplinkGroup;
  }
  return counters;
}

std::string_view name_of(RuleKind kind) {
  switch (kind) {
    case RuleKind::kOwnUsid: return "own uSID";
    case RuleKind::kEndOfCarrier: return "end of carrier";
    case RuleKind::kNeighbour: return "not shifted";
    case RuleKind::kNextUsid: return "next uSID";
    case RuleKind::kUnknownUsid: return "unknown uSID";
    case RuleKind::kNoCarrier: return "no carrier";
    case RuleKind::kLink: return "link uSID";
    case RuleKind::kHost: return "host";
  }
  return "";
}

std::vector<std::string> openflow_groups(const Topology& topology, NodeId self) {
  const std::vector<PortId> uplinks = uplinks_of(topology, self);
  if (uplinks.empty()) return {};
  const bool ipv4 = topology.routing.underlay == Underlay::kIpv4;
  std::string text = "group_id=" + std::to_string(kUplinkGroup) +
                     ",type=select,selection_method=hash,fields(" +
                     (ipv4 ? "ip_src,ip_dst,nw_proto,udp_src,udp_dst"
                           : "ipv6_src,ipv6_dst,ipv6_label,nw_proto,udp_src,udp_dst") +
                     ")";
  for (size_t i = 0; i < uplinks.size(); ++i) {
    text += ",bucket=bucket_id:" + std::to_string(i) +
            ",watch_port:" + std::to_string(openflow_port(uplinks[i])) +
            ",actions=" + out_of(topology, {self, uplinks[i]});
  }
  return {text};
}

std::string openflow_route(const Topology& topology, NodeId self, Usid usid, PortId out) {
  const std::string match = "ipv6,ipv6_dst=" + usid_prefix(usid, kUsidBlockBits + kUsidBits);
  const std::string leaves = out_of(topology, {self, out});
  if (port_of_adjacency(topology, self, usid)) {
    return rule_text(0, kSegmentPriority, RuleKind::kLink, usid, match,
                     std::string(kShift) + ",dec_ttl," + leaves);
  }
  return rule_text(1, kRoutePriority, RuleKind::kNextUsid, usid, match, leaves);
}

std::string openflow_route_match(const Topology& topology, NodeId self, Usid usid) {
  const bool link = port_of_adjacency(topology, self, usid).has_value();
  return "table=" + std::to_string(link ? 0 : 1) +
         ",priority=" + std::to_string(link ? kSegmentPriority : kRoutePriority) +
         ",ipv6,ipv6_dst=" + usid_prefix(usid, kUsidBlockBits + kUsidBits);
}

std::vector<std::string> openflow_rules(const Topology& topology, NodeId self) {
  const NodeSite& site = topology.node(self);
  const Usid own = site.usid;
  std::vector<std::string> rules;
  rules.push_back(rule_text(0, 300, RuleKind::kEndOfCarrier, own,
                            "ipv6,ipv6_dst=" + usid_prefix(own, 128), "drop"));
  // reg0 marks that a hop has been counted, so that an unshifted carrier costs one as well.
  rules.push_back(rule_text(0, kSegmentPriority, RuleKind::kOwnUsid, own,
                            "ipv6,ipv6_dst=" + usid_prefix(own, 48),
                            std::string(kShift) + ",dec_ttl,load:1->NXM_NX_REG0[],resubmit(,0)"));
  const std::string block = "ipv6,ipv6_dst=" + usid_prefix(Usid{0}, kUsidBlockBits);
  rules.push_back(rule_text(0, 100, RuleKind::kNextUsid, {}, block + ",reg0=1", "resubmit(,1)"));
  rules.push_back(rule_text(0, 90, RuleKind::kNeighbour, {}, block, "dec_ttl,resubmit(,1)"));
  rules.push_back(rule_text(0, 0, RuleKind::kNoCarrier, {}, "", "drop"));
  const bool has_group = !uplinks_of(topology, self).empty();
  const uint32_t hosts = topology.regular() ? topology.host_count() : 0;
  for (uint32_t host = 0; host < hosts; ++host) {
    const std::string actions = to_host(topology, self, host);
    if (!has_group && actions.ends_with("group:" + std::to_string(kUplinkGroup))) continue;
    rules.push_back(rule_text(0, 80, RuleKind::kHost, Usid{static_cast<uint16_t>(host)},
                              match_host(topology, host), actions));
  }
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    for (const Usid usid : usids_behind(topology, {self, PortId{i}})) {
      if (port_of_adjacency(topology, self, usid)) {
        rules.push_back(rule_text(0, 300, RuleKind::kEndOfCarrier, usid,
                                  "ipv6,ipv6_dst=" + usid_prefix(usid, 128), "drop"));
      }
      rules.push_back(openflow_route(topology, self, usid, PortId{i}));
    }
  }
  rules.push_back(rule_text(1, 0, RuleKind::kUnknownUsid, {}, "", "drop"));
  return rules;
}

}  // namespace mrclab::switchd
