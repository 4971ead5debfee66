#include "switchd/forwarding_table.h"

#include <algorithm>
#include <cassert>
#include <cstdio>

#include "fabric/topology/routes.h"
#include "switchd/outer_header.h"
#include "switchd/usid_carrier.h"

namespace mrclab::switchd {
namespace {

std::string usid_text(Usid usid) {
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "%04x", usid.value);
  return text.data();
}

ForwardingDecision dropped(DropCause cause) { return {cause, PortId{}, 0}; }

/// The same checks on an IPv4 header (RFC 1812 §5.2.2); a header with options is refused, as no
/// table here takes one.
DropCause check_ipv4(std::span<const uint8_t> frame, Bytes modelled_size) {
  if (frame.size() < kOuterOffset + kIpv4Bytes) return DropCause::kMalformed;
  if (frame[kOuterOffset] != 0x45 || ipv4_checksum(&frame[kOuterOffset]) != 0) {
    return DropCause::kMalformed;
  }
  const uint64_t length = load_be<uint16_t>(frame.data() + kTotalLengthOffset);
  const uint64_t ip_end = kOuterOffset + length;
  const bool fits = ip_end <= std::max<uint64_t>(frame.size(), modelled_size.value);
  return fits && length >= kIpv4Bytes ? DropCause::kNone : DropCause::kMalformed;
}

/// What the frame's outer header must be before its destination means anything.
DropCause check_outer(std::span<const uint8_t> frame, Bytes modelled_size, bool ipv4_too) {
  if (frame.size() < kEthernetBytes) return DropCause::kMalformed;
  const auto ethertype = load_be<uint16_t>(frame.data() + kEthertypeOffset);
  if (ethertype == kEthertypeIpv4 && ipv4_too) return check_ipv4(frame, modelled_size);
  if (ethertype != kEthertypeIpv6) return DropCause::kNotIpv6;
  if (frame.size() < kInnerOffset) return DropCause::kMalformed;
  if (frame[kOuterOffset] >> 4 != 6) return DropCause::kMalformed;
  const uint64_t ip_end = kInnerOffset + load_be<uint16_t>(frame.data() + kPayloadLengthOffset);
  // Longer is Ethernet padding, which is legal; shorter is not.
  if (ip_end > std::max<uint64_t>(frame.size(), modelled_size.value)) return DropCause::kMalformed;
  return DropCause::kNone;
}

}  // namespace

ForwardingTable::ForwardingTable(const Topology& topology, NodeId self)
    : topology_(topology), self_(self), pages_(1), hosts_(topology, self) {
  const NodeSite& site = topology.node(self);
  assert(site.role != NodeRole::kHost);
  assert(site.ports.size() < kShifts - 1u);
  if (topology.routing.is_fare()) fare_ = std::make_unique<FareTable>(topology, self);
  own_ = site.usid;
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const Port& port = site.ports[i];
    const NodeSite& peer = topology.node(topology.planned_peer({self, PortId{i}}).node);
    if (peer.role == NodeRole::kHost) attached_.try_emplace(peer.index, PortId{i});
    for (const Usid usid : usids_behind(topology, {self, PortId{i}})) {
      entry_of(usid) = entry_for(usid, PortId{i});
      ++routes_;
    }
    std::array<uint8_t, 12> macs;
    const MacAddress& peer_mac = topology.port(port.peer).mac;
    std::copy(peer_mac.begin(), peer_mac.end(), macs.begin());
    std::copy(port.mac.begin(), port.mac.end(), macs.begin() + 6);
    macs_.push_back(macs);
  }
}

/// A uA shifts the carrier; a fault that leads it elsewhere does not change that.
uint16_t ForwardingTable::entry_for(Usid usid, PortId port) const {
  const bool link = port_of_adjacency(topology_, self_, usid).has_value();
  return static_cast<uint16_t>((port.value + 1) | (link ? kShifts : 0));
}

uint16_t& ForwardingTable::entry_of(Usid usid) {
  uint16_t& page = page_of_[usid.value >> 8];
  if (page == 0) {
    page = static_cast<uint16_t>(pages_.size());
    pages_.emplace_back();
  }
  return pages_[page][usid.value & 0xFF];
}

void ForwardingTable::set_route(Usid usid, RouteKind kind, PortId port) {
  if (kind == RouteKind::kWrong && port.value >= macs_.size()) return;
  const std::optional<PortId> to = kind == RouteKind::kAsBuilt ? port_toward(topology_, self_, usid)
                                   : kind == RouteKind::kWrong ? std::optional(port)
                                                               : std::nullopt;
  uint16_t& entry = entry_of(usid);
  if (entry != 0) --routes_;
  if (to) ++routes_;
  entry = to ? entry_for(usid, *to) : uint16_t{0};
}

std::optional<PortId> ForwardingTable::next_hop(Usid usid) const {
  const uint16_t entry = lookup(usid.value);
  if (entry == 0) return std::nullopt;
  return PortId{static_cast<uint32_t>(port_in(entry))};
}

std::string ForwardingTable::difference() const {
  const Ports ports = topology_.node(self_).ports;
  size_t planned = 0, wrong = 0;
  std::string first;
  for (uint32_t i = 0; i < ports.size(); ++i) {
    for (const Usid usid : usids_behind(topology_, {self_, PortId{i}})) {
      ++planned;
      const std::optional<PortId> found = next_hop(usid);
      if (found == PortId{i} || wrong++ > 0) continue;
      first = usid_text(usid) + " leads " +
              (found ? "to " + ports[found->value].name() : std::string("nowhere")) + ", planned " +
              ports[i].name();
    }
  }
  if (wrong == 0 && planned == routes_) return {};
  if (wrong == 0) return "routes that are not planned";
  return first + (wrong > 1 ? " and " + std::to_string(wrong - 1) + " more" : "");
}

std::vector<std::vector<PortId>> ForwardingTable::host_routes() const {
  std::vector<std::vector<PortId>> routes;
  for (uint32_t host = 0; loaded_ && host < hosts_.hosts(); ++host) {
    routes.push_back(fare_ ? fare_->ports_to(host) : hosts_.ports_to(host));
  }
  return routes;
}

std::vector<std::pair<Usid, PortId>> ForwardingTable::routes() const {
  std::vector<std::pair<Usid, PortId>> routes;
  for (uint32_t usid = 0; loaded_ && usid <= UINT16_MAX; ++usid) {
    const auto to = next_hop(Usid{static_cast<uint16_t>(usid)});
    if (to) routes.emplace_back(Usid{static_cast<uint16_t>(usid)}, *to);
  }
  return routes;
}

ForwardingDecision ForwardingTable::forward(std::span<uint8_t> frame, Bytes modelled_size) const {
  const bool ipv4_too = topology_.routing.underlay == Underlay::kIpv4;
  if (const DropCause bad = check_outer(frame, modelled_size, ipv4_too); bad != DropCause::kNone) {
    return dropped(bad);
  }
  if (is_ipv4(frame)) return forward_by_host(frame);
  UsidCarrier carrier(frame.data() + kDestinationOffset);
  if (!carrier.in_block()) return forward_by_host(frame);
  if (!loaded_) return dropped(DropCause::kUnknownUsid);

  uint8_t hop_limit = frame[kHopLimitOffset];
  size_t shifts = 0;
  // End with NEXT-CSID, again if the next uSID is our own as well. Every turn shifts a zero in, so
  // the argument is empty after six at the latest.
  while (carrier.active() == own_.value) {
    assert(shifts < UsidCarrier::kUsids);
    if (carrier.argument_empty()) return forward_inner(frame);
    if (hop_limit <= 1) return dropped(DropCause::kHopLimit);
    --hop_limit;
    carrier.shift();
    ++shifts;
  }
  const uint16_t entry = lookup(carrier.active());
  const bool link = (entry & kShifts) != 0;  // End.X with NEXT-CSID: a segment of its own
  if (link && carrier.argument_empty()) return dropped(DropCause::kEndOfCarrier);
  if (shifts == 0 || link) {  // not shifted yet: an ordinary /48 route costs a hop as well
    if (hop_limit <= 1) return dropped(DropCause::kHopLimit);
    --hop_limit;
  }
  if (entry == 0) return dropped(DropCause::kUnknownUsid);
  if (link) carrier.shift();

  carrier.write_to(frame.data() +
                   kDestinationOffset);  // only now: a frame that is dropped stays as it arrived
  frame[kHopLimitOffset] = hop_limit;
  return send(frame, PortId{static_cast<uint32_t>(port_in(entry))});
}

/// uN with USD (RFC 8986 §4.16.3): the upper layer of a carrier that ends here is forwarded by itself.
ForwardingDecision ForwardingTable::forward_inner(std::span<uint8_t> frame) const {
  if (topology_.decap != Decap::kLeaf) return dropped(DropCause::kEndOfCarrier);
  if (frame[kNextHeaderOffset] != kNextHeaderIpv6) return dropped(DropCause::kEndOfCarrier);
  const std::span<uint8_t> inner = frame.subspan(kIpv6Bytes);  // with the inner header in its place
  const uint64_t carried = load_be<uint16_t>(&frame[kPayloadLengthOffset]);
  if (inner.size() < kInnerOffset || carried < kIpv6Bytes || inner[kOuterOffset] >> 4 != 6) {
    return dropped(DropCause::kMalformed);
  }
  Ipv6Address destination;
  std::memcpy(destination.data(), &inner[kDestinationOffset], destination.size());
  const std::optional<uint32_t> host = host_of_address(topology_, destination);
  const auto attached = host ? attached_.find(*host) : attached_.end();
  if (attached == attached_.end()) return dropped(DropCause::kNoRoute);
  if (inner[kHopLimitOffset] <= 1) return dropped(DropCause::kHopLimit);
  --inner[kHopLimitOffset];
  // A switch that trimmed it read the outer header alone.
  const uint64_t left = carried - kIpv6Bytes;
  if (load_be<uint16_t>(&inner[kPayloadLengthOffset]) > left) {
    store_be<uint16_t>(&inner[kPayloadLengthOffset], static_cast<uint16_t>(left));
  }
  set_dscp(inner, dscp_of(frame));
  if (is_ce(frame) && is_ect(inner)) mark_ce(inner);  // RFC 6040 §4.2
  ForwardingDecision decision = send(frame, attached->second);
  decision.strip = true;
  return decision;
}

ForwardingDecision ForwardingTable::send(std::span<uint8_t> frame, PortId port) const {
  std::memcpy(frame.data(), macs_[port.value].data(), macs_[port.value].size());
  return {DropCause::kNone, port, dscp_of(frame)};
}

/// No carrier: an ordinary router, with routes to the hosts of the fabric.
ForwardingDecision ForwardingTable::forward_by_host(std::span<uint8_t> frame) const {
  const bool ipv4 = is_ipv4(frame);
  const EcmpTable::Route route = fare_ ? fare_->route(frame) : hosts_.route(frame);
  if (!route.known) return dropped(ipv4 ? DropCause::kNoRoute : DropCause::kForeignCarrier);
  uint8_t& hop_limit = frame[ipv4 ? kTtlOffset : kHopLimitOffset];
  if (hop_limit <= 1) return dropped(DropCause::kHopLimit);
  if (!loaded_ || !route.port) return dropped(DropCause::kNoRoute);
  --hop_limit;
  if (ipv4) renew_checksum(frame);
  return send(frame, *route.port);
}

}  // namespace mrclab::switchd
