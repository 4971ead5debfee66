#include "switchd/fare_table.h"

#include <algorithm>

#include "routing/rib/spread_members.h"
#include "switchd/outer_header.h"

namespace mrclab::switchd {

FareTable::FareTable(const Topology& topology, NodeId self)
    : topology_(topology),
      self_(self),
      seed_(ecmp_seed(topology, self)),
      group_of_(topology.host_count(), 0) {
  clear();
}

void FareTable::clear() {
  groups_.assign(1, {});
  std::fill(group_of_.begin(), group_of_.end(), 0);
  const NodeSite& site = topology_.node(self_);
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const NodeSite& peer = topology_.node(site.ports[i].peer.node);
    if (peer.role == NodeRole::kHost) set_hops(peer.index, {{PortId{i}, 1}});
  }
}

/// Groups that no host uses give their place to new ones.
uint32_t FareTable::group_with(const Hops& hops) {
  if (hops.empty()) return 0;
  uint32_t place = static_cast<uint32_t>(groups_.size());
  for (uint32_t i = 1; i < groups_.size(); ++i) {
    if (groups_[i].hops == hops && groups_[i].users > 0) return i;
    if (groups_[i].users == 0) place = std::min(place, i);
  }
  if (place == groups_.size()) groups_.emplace_back();
  Group& group = groups_[place];
  group = {};
  group.hops = hops;
  group.members = routing::spread_members(hops);
  // Neighbouring switches begin with different members.
  if (!group.members.empty()) {
    const auto size = static_cast<uint32_t>(group.members.size());
    group.next.fill(static_cast<uint32_t>(seed_ % size));
  }
  return place;
}

void FareTable::set_hops(uint32_t host, const Hops& hops) {
  const uint32_t before = group_of_[host];
  group_of_[host] = group_with(hops);
  ++groups_[group_of_[host]].users;
  if (groups_[before].users > 0) --groups_[before].users;
}

std::optional<PortId> FareTable::choose(Group& group, std::span<const uint8_t> frame) {
  if (group.members.size() <= 1) {
    return group.members.empty() ? std::nullopt : std::optional(group.members.front());
  }
  if (topology_.routing.fare.spray == Spray::kFlow) {
    return group.members[ecmp_hash(flow_key(frame), seed_) % group.members.size()];
  }
  const uint8_t dscp = dscp_of(frame);
  const bool data = topology_.dscps.is_data(dscp) || dscp == topology_.dscps.lossless;
  uint32_t& next = group.next[data ? 0 : 1];
  const PortId port = group.members[next];
  next = next + 1 == group.members.size() ? 0 : next + 1;
  return port;
}

EcmpTable::Route FareTable::route(std::span<const uint8_t> frame) {
  if (is_ipv4(frame)) return {};
  Ipv6Address destination;
  std::memcpy(destination.data(), &frame[kDestinationOffset], destination.size());
  const std::optional<uint32_t> host = host_of_address(topology_, destination);
  if (!host) return {};
  return {true, choose(groups_[group_of_[*host]], frame)};
}

std::vector<PortId> FareTable::ports_to(uint32_t host) const {
  std::vector<PortId> ports;
  for (const routing::WeightedHop& hop : hops_to(host)) ports.push_back(hop.port);
  return ports;
}

uint32_t FareTable::routed_hosts() const {
  uint32_t count = 0;
  for (uint32_t host = 0; host < group_of_.size(); ++host) {
    const Hops& hops = hops_to(host);
    if (hops.empty()) continue;
    const NodeId behind = topology_.node(self_).ports[hops.front().port.value].peer.node;
    if (topology_.node(behind).role != NodeRole::kHost) ++count;
  }
  return count;
}

uint32_t FareTable::groups() const {
  return static_cast<uint32_t>(std::count_if(
      groups_.begin(), groups_.end(),
      [](const Group& group) { return group.users > 0 && group.members.size() > 1; }));
}

}  // namespace mrclab::switchd
