#include "fabric/topology.h"

#include <cassert>
#include <stdexcept>

namespace mrclab {
namespace {

constexpr uint64_t kOuterAndMrcHeaders =
    40 + 40 + 8 + 12 + 4 + 4 + 16 + 4;  // with ICRC, without payload
constexpr uint64_t kEthernetHeader = 14;
constexpr uint64_t kSackFrame = kEthernetHeader + 40 + 40 + 8 + 12 + 36 + 4;

/// Base RTT and the queue thresholds that follow from it.
void derive_timing(const RegularPlanes& shape, Topology& topology) {
  const Bytes data = wire_length({kEthernetHeader + kOuterAndMrcHeaders + shape.pmtu});
  const Bytes sack = wire_length({kSackFrame});
  const bool has_spine = shape.t1 > 0 && shape.t0 > 1;
  const int64_t switches = has_spine ? 3 : 1;
  const auto crossing = [&](Bytes size) {
    FabricTime t = serialization_time(size, shape.host_rate) * 2 +
                   serialization_time(size, shape.fabric_rate) * (has_spine ? 2 : 0);
    t += shape.propagation * (switches + 1) + shape.switch_latency * switches;
    return t + shape.host_latency;
  };
  topology.base_rtt = crossing(data) + crossing(sack);
  const uint64_t bdp = bytes_in(shape.host_rate, topology.base_rtt).value;
  QueueProfile& q = topology.queues;
  const auto times = [bdp](uint32_t thousandths) { return Bytes{bdp * thousandths / 1000}; };
  q.ecn = shape.queues.ecn;
  q.trim = shape.queues.trim;
  q.ecn_min = times(shape.queues.ecn_min);
  q.ecn_max = times(shape.queues.ecn_max);
  q.trim_threshold = times(shape.queues.trim_threshold);
  q.trim_threshold_last_hop = times(shape.queues.trim_threshold_last_hop);
  q.control_limit = times(shape.queues.control_limit);
  q.tail_drop = times(shape.queues.tail_drop);
}

bool has_room(const UsidLayout& usids, const RegularPlanes& shape) {
  return shape.planes <= usids.planes() && shape.t0 <= usids.count(UsidRole::kT0) &&
         shape.t1 <= usids.count(UsidRole::kT1) &&
         shape.hosts_per_t0 <= usids.count(UsidRole::kNicPort);
}

class Builder {
 public:
  explicit Builder(const RegularPlanes& shape)
      : shape_(shape), topology_(outline_regular_planes(shape)) {}

  Topology build() {
    add_nodes();
    connect_all();
    add_optics();
    return std::move(topology_);
  }

 private:
  void add_node(NodeRole role, uint32_t plane, uint32_t index, std::string name) {
    NodeSite site;
    site.id = NodeId{static_cast<uint32_t>(topology_.nodes.size())};
    site.role = role;
    site.plane = plane;
    site.index = index;
    site.name = std::move(name);
    if (role != NodeRole::kHost) {
      site.forwarding = shape_.forwarding.of("p" + std::to_string(plane), site.name);
    }
    topology_.nodes.push_back(std::move(site));
  }

  void add_nodes() {
    for (uint32_t h = 0; h < topology_.host_count(); ++h) {
      add_node(NodeRole::kHost, 0, h, "h" + std::to_string(h));
    }
    for (uint32_t p = 0; p < shape_.planes; ++p) {
      const std::string prefix = "p" + std::to_string(p) + ".";
      for (uint32_t i = 0; i < shape_.t0; ++i) {
        add_node(NodeRole::kT0, p, i, prefix + "t0-" + std::to_string(i));
      }
      for (uint32_t i = 0; i < shape_.t1; ++i) {
        add_node(NodeRole::kT1, p, i, prefix + "t1-" + std::to_string(i));
      }
    }
  }

  PortRef add_port(NodeId node, uint32_t plane, std::string name) {
    NodeSite& site = topology_.nodes[node.value];
    const auto index = static_cast<uint32_t>(site.ports.size());
    Port port;
    port.name = std::move(name);
    port.plane = plane;
    port.mac = port_mac(site.role, site.plane, site.index, index);
    site.ports.push_back(std::move(port));
    return {node, PortId{index}};
  }

  void connect(PortRef a, PortRef b, BitRate rate) {
    const LinkId link{static_cast<uint32_t>(topology_.links.size())};
    const WireId out{static_cast<uint32_t>(topology_.wires_list.size())};
    const WireId back{out.value + 1};
    topology_.links.push_back({link, a, b, out, back, rate, shape_.propagation});
    topology_.wires_list.push_back({out, link, a, b, rate, shape_.propagation});
    topology_.wires_list.push_back({back, link, b, a, rate, shape_.propagation});
    Port& port_a = topology_.nodes[a.node.value].ports[a.port.value];
    Port& port_b = topology_.nodes[b.node.value].ports[b.port.value];
    port_a.link = port_b.link = link;
    port_a.out = port_b.in = out;
    port_a.in = port_b.out = back;
    port_a.peer = b;
    port_b.peer = a;
  }

  void connect_all() {
    for (uint32_t p = 0; p < shape_.planes; ++p) {
      for (uint32_t h = 0; h < topology_.host_count(); ++h) {
        const PortRef nic = add_port(topology_.host(h), p, "p" + std::to_string(p));
        const PortRef down = add_port(topology_.t0(p, topology_.host_row(h)), p,
                                      "d" + std::to_string(topology_.host_downlink(h)));
        connect(nic, down, shape_.host_rate);
      }
      for (uint32_t leaf = 0; leaf < shape_.t0; ++leaf) {
        for (uint32_t spine = 0; spine < shape_.t1; ++spine) {
          const PortRef up = add_port(topology_.t0(p, leaf), p, "u" + std::to_string(spine));
          const PortRef down = add_port(topology_.t1(p, spine), p, "d" + std::to_string(leaf));
          connect(up, down, shape_.fabric_rate);
        }
      }
    }
  }

  void add_optics() {
    if (shape_.links_per_optic == 0) return;
    for (NodeSite& site : topology_.nodes) {
      if (site.role != NodeRole::kT0) continue;
      for (uint32_t d = 0; d < shape_.hosts_per_t0; ++d) {
        const uint32_t number = d / shape_.links_per_optic;
        if (d % shape_.links_per_optic == 0) {
          topology_.optics.push_back({OpticId{static_cast<uint32_t>(topology_.optics.size())},
                                      site.name + ":o" + std::to_string(number),
                                      {}});
        }
        site.ports[d].optic = topology_.optics.back().id;
        topology_.optics.back().links.push_back(site.ports[d].link);
      }
    }
  }

  const RegularPlanes& shape_;
  Topology topology_;
};

}  // namespace

NodeId Topology::t0(uint32_t plane, uint32_t index) const {
  return NodeId{host_count() + plane * (t0_per_plane + t1_per_plane) + index};
}

NodeId Topology::t1(uint32_t plane, uint32_t index) const {
  return NodeId{t0(plane, t0_per_plane).value + index};
}

FabricTime Topology::lookahead(WireId id) const {
  const Wire& w = wire(id);
  const Bytes smallest = mrclab::wire_length({0});
  return serialization_time(smallest, w.rate) + w.propagation + ingress_latency(w.to.node);
}

std::string Topology::port_name(PortRef ref) const {
  return node(ref.node).name + ":" + port(ref).name;
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
  return !has_forwarding(Forwarding::kKernel) && !has_forwarding(Forwarding::kOvs);
}

std::optional<NodeId> Topology::find_node(std::string_view wanted) const {
  for (const NodeSite& site : nodes) {
    if (site.name == wanted) return site.id;
  }
  return std::nullopt;
}

std::optional<PortRef> Topology::find_port(std::string_view wanted) const {
  const size_t colon = wanted.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const std::optional<NodeId> owner = find_node(wanted.substr(0, colon));
  if (!owner) return std::nullopt;
  const auto& ports = node(*owner).ports;
  for (uint32_t i = 0; i < ports.size(); ++i) {
    if (ports[i].name == wanted.substr(colon + 1)) return PortRef{*owner, PortId{i}};
  }
  return std::nullopt;
}

NicProfile cx8_profile(uint32_t compress) {
  const auto ms = [compress](int64_t n) { return FabricTime::from_ms(n) / compress; };
  NicProfile nic;
  nic.name = "cx8";
  nic.port_down_delay = ms(10);
  nic.port_up_delay = ms(10);
  nic.remap_down = {ms(200), ms(1600)};
  nic.remap_up = {ms(200), ms(500)};
  return nic;
}

std::string to_string(const MacAddress& mac) {
  std::array<char, 18> text{};
  std::snprintf(text.data(), text.size(), "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2],
                mac[3], mac[4], mac[5]);
  return text.data();
}

MacAddress port_mac(NodeRole role, uint32_t plane, uint32_t index, uint32_t port) {
  // 02:6<role>, then a host's index (24 bits) and port, or a switch's plane, the high bits of port
  // and index (4 and 4), the low byte of each.
  assert(port < 4096 && (role == NodeRole::kHost ? port < 256 && plane == 0 : index < 4096));
  const uint32_t rest = role == NodeRole::kHost
                            ? index << 8 | port
                            : plane << 24 | (port >> 8) << 20 | index << 8 | (port & 0xFF);
  return {0x02,
          static_cast<uint8_t>(0x60 | static_cast<uint32_t>(role)),
          static_cast<uint8_t>(rest >> 24),
          static_cast<uint8_t>(rest >> 16),
          static_cast<uint8_t>(rest >> 8),
          static_cast<uint8_t>(rest)};
}

Topology outline_regular_planes(const RegularPlanes& shape) {
  if (shape.planes == 0 || shape.t0 == 0 || shape.hosts_per_t0 == 0) {
    throw std::invalid_argument("a fabric needs at least one plane, one T0 and one host per T0");
  }
  if (shape.t0 > 1 && shape.t1 == 0) {
    throw std::invalid_argument("several T0s per plane need at least one T1");
  }
  Topology topology;
  topology.usids = UsidLayout::of(shape.address_plan);
  if (!has_room(topology.usids, shape)) {
    throw std::invalid_argument(
        "the address plan has no room for so many planes, T0s, T1s or hosts");
  }
  topology.name = shape.name;
  topology.planes = shape.planes;
  topology.t0_per_plane = shape.t0;
  topology.t1_per_plane = shape.t1;
  topology.hosts_per_t0 = shape.hosts_per_t0;
  topology.pmtu = shape.pmtu;
  topology.switch_latency = shape.switch_latency;
  topology.host_latency = shape.host_latency;
  topology.host_rate = shape.host_rate;
  topology.wires = shape.wires;
  topology.nic = shape.nic;
  derive_timing(shape, topology);
  return topology;
}

Topology build_regular_planes(const RegularPlanes& shape) { return Builder(shape).build(); }

}  // namespace mrclab
