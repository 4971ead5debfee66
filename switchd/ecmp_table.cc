#include "switchd/ecmp_table.h"

#include <algorithm>
#include <map>

#include "fabric/topology/graph_paths.h"
#include "fabric/topology/path.h"
#include "switchd/outer_header.h"

namespace mrclab::switchd {
namespace {

constexpr uint8_t kProtocolTcp = 6;
/// Shorter frames than this go by their hash where routing is adaptive (uet-htsim).
constexpr uint64_t kLeastSprayed = 100;
constexpr uint32_t kNoPort = 0xFFFF'FFFF;

Ipv6Address address_at(std::span<const uint8_t> frame, size_t offset, bool ipv4) {
  Ipv6Address address{};
  const size_t bytes = ipv4 ? 4 : address.size();
  if (ipv4) address[10] = address[11] = 0xFF;
  std::memcpy(address.data() + address.size() - bytes, &frame[offset], bytes);
  return address;
}

/// RoCE runs over IPv6 here.
bool is_sprayed(std::span<const uint8_t> frame) {
  return !is_ipv4(frame) &&
         kInnerOffset + load_be<uint16_t>(&frame[kPayloadLengthOffset]) >= kLeastSprayed;
}

}  // namespace

FlowKey flow_key(std::span<const uint8_t> frame) {
  const bool ipv4 = is_ipv4(frame);
  FlowKey key;
  key.source = address_at(frame, kOuterOffset + (ipv4 ? 12 : 8), ipv4);
  key.destination = address_at(frame, ipv4 ? kIpv4DestinationOffset : kDestinationOffset, ipv4);
  if (!ipv4) key.flow_label = load_be<uint32_t>(&frame[kOuterOffset]) & 0xF'FFFF;
  key.protocol = frame[kOuterOffset + (ipv4 ? 9 : 6)];
  const size_t ports = kOuterOffset + (ipv4 ? kIpv4Bytes : kIpv6Bytes);
  const bool has_ports = key.protocol == kNextHeaderUdp || key.protocol == kProtocolTcp;
  if (has_ports && frame.size() >= ports + 4) {
    key.source_port = load_be<uint16_t>(&frame[ports]);
    key.destination_port = load_be<uint16_t>(&frame[ports + 2]);
  }
  return key;
}

EcmpTable::EcmpTable(const Topology& topology, NodeId self)
    : topology_(topology),
      t0_(topology.node(self).role == NodeRole::kT0),
      row_(topology.node(self).index),
      seed_(ecmp_seed(topology, self)),
      uplinks_(uplinks_of(topology, self), topology.routing.resilient),
      ports_(t0_ ? topology.hosts_per_t0 : topology.t0_per_plane, kNoPort) {
  if (!topology.regular()) {
    list_ports(self);
    return;
  }
  const NodeSite& site = topology.node(self);
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const NodeSite& peer = topology.node(topology.planned_peer({self, PortId{i}}).node);
    const bool below = peer.role == (t0_ ? NodeRole::kHost : NodeRole::kT0);
    if (below) ports_[t0_ ? topology.host_downlink(peer.index) : peer.index] = i;
  }
}

void EcmpTable::list_ports(NodeId self) {
  if (!topology_.planes_apart) return;
  std::map<std::vector<PortId>, uint32_t> known;
  for (uint32_t host = 0; host < topology_.host_count(); ++host) {
    const std::vector<PortId> ports = topology_.graph->next_hops(self, host);
    const auto [at, added] = known.try_emplace(ports, static_cast<uint32_t>(groups_.size()));
    if (added) groups_.emplace_back(ports, topology_.routing.resilient);
    group_of_host_.push_back(at->second);
  }
}

void EcmpTable::set_live(PortId port, bool live) {
  uplinks_.set_live(port, live);
  for (EcmpGroup& group : groups_) group.set_live(port, live);
}

const EcmpGroup* EcmpTable::group_to(uint32_t host) const {
  if (!group_of_host_.empty()) return &groups_[group_of_host_[host]];
  return by_uplinks(host) ? &uplinks_ : nullptr;
}

std::optional<uint32_t> EcmpTable::destination_of(std::span<const uint8_t> frame) const {
  const bool ipv4 = is_ipv4(frame);
  if (hosts() == 0) return std::nullopt;
  if (ipv4 != (topology_.routing.underlay == Underlay::kIpv4)) return std::nullopt;
  return host_of_address(
      topology_, address_at(frame, ipv4 ? kIpv4DestinationOffset : kDestinationOffset, ipv4));
}

std::optional<PortId> EcmpTable::port_below(uint32_t host) const {
  const uint32_t port = ports_[t0_ ? topology_.host_downlink(host) : topology_.host_row(host)];
  return port == kNoPort ? std::nullopt : std::optional(PortId{port});
}

EcmpTable::Route EcmpTable::route(std::span<const uint8_t> frame) const {
  const std::optional<uint32_t> host = destination_of(frame);
  if (!host) return {};
  const EcmpGroup* const group = group_to(*host);
  if (group == nullptr) return {true, port_below(*host)};
  if (group->empty()) return {true, std::nullopt};
  if (choice_ && dscp_of(frame) == topology_.dscps.lossless && is_sprayed(frame)) {
    return {true, choice_(group->live())};
  }
  return {true, group->choose(ecmp_hash(flow_key(frame), seed_))};
}

std::vector<PortId> EcmpTable::ports_to(uint32_t host) const {
  if (const EcmpGroup* const group = group_to(host)) return group->live();
  const std::optional<PortId> port = port_below(host);
  return port ? std::vector{*port} : std::vector<PortId>{};
}

}  // namespace mrclab::switchd
