#include "fabric/topology/topology.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <utility>

namespace mrclab {

void Topology::set_cabling(Cabling cabling) {
  cabling_ = std::make_shared<Cabling>(std::move(cabling));
  for (NodeSite& site : nodes) site.ports = Ports(*cabling_, site.id);
  links = Links(*cabling_);
  optics = Optics(*cabling_);
}

void Topology::change_cabling(const std::function<void(Cabling&)>& change) {
  if (cabling_->copies > 1 || cabling_.use_count() > 1) set_cabling(cabling_->unfolded());
  change(*cabling_);
}

NodeId Topology::t0(uint32_t plane, uint32_t index) const {
  return NodeId{host_count() + plane * (t0_per_plane + t1_per_plane + t2_per_plane) + index};
}

NodeId Topology::t1(uint32_t plane, uint32_t index) const {
  return NodeId{t0(plane, t0_per_plane).value + index};
}

NodeId Topology::t2(uint32_t plane, uint32_t index) const {
  return NodeId{t1(plane, t1_per_plane).value + index};
}

FabricTime cut_through_lead(BitRate in, FabricTime latency, Bytes length) {
  if (length <= kLookupLength) return {};
  return std::min(serialization_time({length.value - kLookupLength.value}, in), latency);
}

FabricTime Topology::lookahead(WireId id) const {
  const Wire& w = wire(id);
  const Bytes smallest = mrclab::wire_length({0});
  return serialization_time(smallest, w.rate) + w.propagation + ingress_latency(w.to.node);
}

Topology::NicPlace Topology::nic_place(uint32_t host) const {
  if (!has_planes()) return {host / nics_per_node, host % nics_per_node};
  const uint32_t row = host_row(host);
  return {row / nics_per_node * hosts_per_t0 + host_downlink(host), row % nics_per_node};
}

std::string Topology::line_card_name(PortRef ref) const {
  return node(ref.node).name + ":c" + std::to_string(ref.port.value / line_card_ports);
}

std::vector<PortRef> Topology::line_card_of(PortRef ref) const {
  const auto ports = static_cast<uint32_t>(node(ref.node).ports.size());
  const uint32_t first = ref.port.value / line_card_ports * line_card_ports;
  std::vector<PortRef> card;
  for (uint32_t i = first; i < std::min(first + line_card_ports, ports); ++i) {
    card.push_back({ref.node, PortId{i}});
  }
  return card;
}

std::string Topology::port_name(PortRef ref) const {
  return node(ref.node).name + ":" + port(ref).name();
}

std::string Topology::link_name(LinkId id) const {
  return port_name(link(id).a) + "--" + port_name(link(id).b);
}

std::string Topology::wire_name(WireId id) const {
  return port_name(wire(id).from) + "->" + port_name(wire(id).to);
}

bool Topology::has_forwarding(Forwarding by) const {
  return std::any_of(nodes.begin(), nodes.end(), [by](const NodeSite& site) {
    return site.role != NodeRole::kHost && site.forwarding == by;
  });
}

bool Topology::carries_time() const {
  return std::none_of(std::begin(kForwardings), std::end(kForwardings), [this](Forwarding by) {
    return by != Forwarding::kSwitchd && has_forwarding(by);
  });
}

bool Topology::marks_and_trims() const {
  return std::any_of(std::begin(kForwardings), std::end(kForwardings), [this](Forwarding by) {
    return mrclab::marks_and_trims(by) && has_forwarding(by);
  });
}

std::optional<NodeId> Topology::find_node(std::string_view wanted) const {
  // Host 7 is mostly called h7, and is looked up for each line of a file of events.
  uint32_t number = 0;
  const char* const end = wanted.data() + wanted.size();
  if (wanted.starts_with('h') && std::from_chars(wanted.data() + 1, end, number).ptr == end &&
      number < hosts && nodes[number].name == wanted) {
    return nodes[number].id;
  }
  for (const NodeSite& site : nodes) {
    if (site.name == wanted) return site.id;
  }
  return std::nullopt;
}

PortRef Topology::planned_peer(PortRef ref) const {
  for (const auto& [replugged_port, planned] : replugged) {
    if (replugged_port == ref) return planned;
  }
  return port(ref).peer;
}

std::optional<PortRef> Topology::find_port(std::string_view wanted) const {
  const size_t colon = wanted.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<NodeId> owner = find_node(wanted.substr(0, colon));
  if (!owner) return std::nullopt;
  const Ports& ports = node(*owner).ports;
  for (uint32_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name() == wanted.substr(colon + 1)) return PortRef{*owner, PortId{i}};
  }
  return std::nullopt;
}

namespace {

/// Written by `tests/bench/bench_nic_losses --fit --write`; its error stands in tests/bench/README.md. In the MRC API an ACK timeout
/// is 1.024 us x 2^n, 262 us in its example; the retries, 5.1 s in all, are our choice.
NicLosses fitted_losses(uint32_t compress) {
  NicLosses losses;
  losses.reorder_window = FabricTime::from_ns(156'000) / compress;
  losses.tail_probe = FabricTime::from_ns(312'000) / compress;
  losses.ack_timeout = FabricTime::from_ns(1'248'000) / compress;
  losses.exponential_retries = 11;
  return losses;
}

}  // namespace

NicProfile pollara_profile(uint32_t compress) {
  NicProfile nic;
  nic.name = "pollara";
  nic.losses = fitted_losses(compress);
  return nic;
}

NicProfile cx8_profile(uint32_t compress) {
  const auto ms = [compress](int64_t n) { return FabricTime::from_ms(n) / compress; };
  NicProfile nic;
  nic.name = "cx8";
  nic.port_down_delay = ms(10);
  nic.port_up_delay = ms(10);
  nic.remap_down = {ms(200), ms(1600)};
  nic.remap_up = {ms(200), ms(500)};
  nic.losses = fitted_losses(compress);
  return nic;
}

std::string to_string(const MacAddress& mac) {
  std::array<char, 18> text{};
  std::snprintf(text.data(), text.size(), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
                mac[3], mac[4], mac[5]);
  return text.data();
}

}  // namespace mrclab
