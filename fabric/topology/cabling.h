#pragma once
// What leads where: ports, the links between them, and the directed wires and the transceivers that those have. The planes
// of a regular fabric are alike, and a fabric of 131,072 hosts has four million ports. So the class Cabling keeps the ports and
// links of plane 0 alone. When a caller asks for one of another plane, it makes that of the one in plane 0.

#include <array>
#include <cassert>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/topology/by_index.h"

namespace mrclab {

using MacAddress = std::array<uint8_t, 6>;

/// T2s join the T1s of several pods: switches without hosts that no T0 hangs on.
enum class NodeRole : uint8_t { kHost, kT0, kT1, kT2 };

/// Locally administered, from the place of a port, `role` and the numbers as in NodeSite: one of its
/// own for each of 2^24 hosts with 256 ports, and of 256 x 4,096 switches with 4,096 ports.
[[gnu::always_inline]] inline MacAddress port_mac(NodeRole role, uint32_t plane, uint32_t index,
                                                  uint32_t port) {
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

struct Port {
  char kind = 'p';      ///< 'p': of a host, in a plane; 'd', 'u': down, up, of a switch
  uint16_t number = 0;  ///< among those of its node and kind; of a host the plane's
  uint32_t plane = 0;
  LinkId link;
  WireId out;
  WireId in;
  PortRef peer;
  MacAddress mac{};
  OpticId optic;     ///< invalid if the port shares no optic
  Usid nic_usid;     ///< ports of hosts only: what the switch at the other end calls the port,
  Usid kernel_usid;  ///< and the host's kernel behind it
  /// Short, and also the name of the interface: "p2", "d4", "u0".
  std::string name() const { return kind + std::to_string(number); }
  bool operator==(const Port&) const = default;
};

struct Link {
  LinkId id;
  bool turned =
      false;  ///< its first wire leads from b to a: its ports have changed places (Topology::replugged)
  PortRef a;  ///< the lower end: host or T0
  PortRef b;
  BitRate rate;
  FabricTime propagation;
  WireId a_to_b() const { return {2 * id.value + (turned ? 1 : 0)}; }
  WireId b_to_a() const { return {2 * id.value + (turned ? 0 : 1)}; }
  bool operator==(const Link&) const = default;
};

/// One direction of a link, which has wires 2 n and 2 n + 1 where it is link n.
struct Wire {
  WireId id;
  LinkId link;
  PortRef from;
  PortRef to;
  BitRate rate;
  FabricTime propagation;
};

/// A transceiver: the links that share its fate. "p2.t0-1:o0" towards hosts, "p2.t0-1:uo0" towards T1s.
struct Optic {
  OpticId id;
  std::string name;  ///< "p2.t0-1:o0"
  std::vector<LinkId> links;
  bool operator==(const Optic&) const = default;
};

class Cabling {
 public:
  /// What is kept of a port.
  struct Plug {
    LinkId link = {};
    OpticId optic = {};
    Usid nic_usid = {};
    Usid kernel_usid = {};
    uint16_t number = 0;
    uint16_t plane = 0;
    char kind = 'p';
    bool lower = false;  ///< it is end `a` of its link
  };
  /// A node whose ports are kept: neighbours among the plugs.
  struct Place {
    uint32_t first = 0;  ///< plug
    uint32_t index = 0;  ///< as in NodeSite, with its plane and role
    uint16_t plane = 0;
    NodeRole role = NodeRole::kHost;
  };
  struct KeptOptic {
    std::string name;
    std::vector<LinkId> links;
  };

  // TopologyBuilder fills these: with what all planes have, or, where the planes are alike, with what plane 0 has.
  /// Hosts, then switches; one more at the end, for where the plugs end.
  std::vector<Place> places;
  std::vector<Plug> plugs;
  std::vector<Link> kept_links;
  std::vector<KeptOptic> kept_optics;
  /// Where optics of another kind begin: those of a kind are numbered plane by plane.
  std::vector<uint32_t> optic_kinds;
  uint32_t hosts = 0;
  /// How many planes there are of what is kept; above 1 a host has a port in each.
  uint32_t copies = 1;
  /// From the uSID of a NIC's port to that of its port in the next plane.
  uint32_t usid_step = 0;

  Plug& plug(PortRef kept) { return plugs[places[kept.node.value].first + kept.port.value]; }

  size_t links() const { return copies * kept_links.size(); }
  size_t optics() const { return copies * kept_optics.size(); }
  size_t ports_of(NodeId node) const {
    const uint32_t at = kept_node(node).first.value;
    const Place& place = places[at];
    const size_t kept = places[at + 1].first - place.first;
    return node.value < hosts ? kept * copies : kept;
  }
  Port port(PortRef ref) const {
    const auto [kept, copy] = kept_port(ref);
    const Place& place = places[kept.node.value];
    const Plug& plug = plugs[place.first + kept.port.value];
    const bool nic = ref.node.value < hosts;
    const Link& link = kept_links[plug.link.value];
    const uint32_t moved = plug.link.value + copy * static_cast<uint32_t>(kept_links.size());
    const bool first_wire = plug.lower != link.turned;
    const auto usid_moves = static_cast<uint16_t>(nic ? copy * usid_step : 0);
    return {
        .kind = plug.kind,
        .number = static_cast<uint16_t>(plug.number + (nic ? copy : 0)),
        .plane = plug.plane + copy,
        .link = LinkId{moved},
        .out = WireId{2 * moved + (first_wire ? 0 : 1)},
        .in = WireId{2 * moved + (first_wire ? 1 : 0)},
        .peer = move(plug.lower ? link.b : link.a, copy),
        .mac = port_mac(place.role, place.plane + (nic ? 0 : copy), place.index, ref.port.value),
        .optic = move(plug.optic, copy),
        .nic_usid = {static_cast<uint16_t>(plug.nic_usid.value + usid_moves)},
        .kernel_usid = {static_cast<uint16_t>(plug.kernel_usid.value + usid_moves)}};
  }
  Link link(LinkId id) const {
    if (copies == 1) return kept_links[id.value];
    const auto each = static_cast<uint32_t>(kept_links.size());
    const uint32_t copy = id.value / each;
    const Link& kept = kept_links[id.value - copy * each];
    return {id, kept.turned, move(kept.a, copy), move(kept.b, copy), kept.rate, kept.propagation};
  }
  Wire wire(WireId id) const {
    const Link at = link(LinkId{id.value / 2});
    const bool from_a = (id.value % 2 != 0) == at.turned;
    return {id, at.id, from_a ? at.a : at.b, from_a ? at.b : at.a, at.rate, at.propagation};
  }
  Optic optic(OpticId id) const;

  /// The same, with all planes kept: for who changes some of it.
  Cabling unfolded() const;

 private:
  uint32_t switches_each() const { return static_cast<uint32_t>(places.size()) - 1 - hosts; }
  [[gnu::always_inline]] std::pair<NodeId, uint32_t> kept_node(NodeId node) const {
    if (copies == 1 || node.value < hosts) return {node, 0};
    const uint32_t each = switches_each(), copy = (node.value - hosts) / each;
    return {NodeId{node.value - copy * each}, copy};
  }
  [[gnu::always_inline]] std::pair<PortRef, uint32_t> kept_port(PortRef ref) const {
    if (copies == 1) return {ref, 0};
    if (ref.node.value < hosts) return {{ref.node, PortId{0}}, ref.port.value};
    const auto [node, copy] = kept_node(ref.node);
    return {{node, ref.port}, copy};
  }
  [[gnu::always_inline]] PortRef move(PortRef kept, uint32_t copy) const {
    if (kept.node.value < hosts) return {kept.node, PortId{kept.port.value + copy}};
    return {NodeId{kept.node.value + copy * switches_each()}, kept.port};
  }
  OpticId move(OpticId kept, uint32_t copy) const {
    return copies == 1 || !kept.valid() ? kept : moved_optic(kept, copy);
  }
  OpticId moved_optic(OpticId kept, uint32_t copy) const;
  /// Optics of one kind in a plane that is kept.
  struct OpticKind {
    uint32_t first, count;
  };
  OpticKind kind_of(uint32_t kept_optic) const;
};

// What Topology hands out: ranges of values. They point to a cabling that the topology, and each copy of it, holds.
class Links : public MadeByIndex<Links, Link> {
 public:
  Links() = default;
  explicit Links(const Cabling& cabling) : cabling_(&cabling) {}
  size_t size() const { return cabling_ == nullptr ? 0 : cabling_->links(); }
  Link operator[](size_t id) const { return cabling_->link({static_cast<uint32_t>(id)}); }

 private:
  const Cabling* cabling_ = nullptr;
};

/// In the order of their ids.
class Wires : public MadeByIndex<Wires, Wire> {
 public:
  Wires() = default;
  explicit Wires(const Cabling* cabling) : cabling_(cabling) {}
  size_t size() const { return cabling_ == nullptr ? 0 : 2 * cabling_->links(); }
  Wire operator[](size_t id) const { return cabling_->wire({static_cast<uint32_t>(id)}); }

 private:
  const Cabling* cabling_ = nullptr;
};

class Optics : public MadeByIndex<Optics, Optic> {
 public:
  Optics() = default;
  explicit Optics(const Cabling& cabling) : cabling_(&cabling) {}
  size_t size() const { return cabling_ == nullptr ? 0 : cabling_->optics(); }
  Optic operator[](size_t id) const { return cabling_->optic({static_cast<uint32_t>(id)}); }

 private:
  const Cabling* cabling_ = nullptr;
};

/// The ports of one node, in the order of their ids.
class Ports : public MadeByIndex<Ports, Port> {
 public:
  Ports() = default;
  Ports(const Cabling& cabling, NodeId node) : cabling_(&cabling), node_(node) {}
  size_t size() const { return cabling_ == nullptr ? 0 : cabling_->ports_of(node_); }
  Port operator[](size_t port) const {
    return cabling_->port({node_, PortId{static_cast<uint32_t>(port)}});
  }

 private:
  const Cabling* cabling_ = nullptr;
  NodeId node_;
};

}  // namespace mrclab
