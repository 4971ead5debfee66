#pragma once
// Where a packet without a carrier goes: by its destination host, and among equal uplinks by the hash
// of fabric/paths/ecmp.h. The switch fills the table at start from the topology. Afterwards it changes the table only
// when one of its own ports loses its carrier, and so leaves its group, or gets it back.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "fabric/node/node.h"
#include "fabric/packet/headers.h"
#include "fabric/paths/ecmp.h"
#include "fabric/topology/topology.h"

namespace mrclab::switchd {

class EcmpTable {
 public:
  /// Has routes for the addresses of the fabric's underlay; none where what leaves by a port of a NIC can come to
  /// another's port of another number, because a host has one address. The topology outlives the table.
  EcmpTable(const Topology& topology, NodeId self);

  /// The route of a frame, which must have a whole IPv6 header or a whole IPv4 one without options.
  struct Route {
    bool known = false;          ///< some host of the fabric has the destination's address
    std::optional<PortId> port;  ///< empty: no uplink is left that leads there
  };
  Route route(std::span<const uint8_t> frame) const;
  /// The ports to a host of the fabric, one of which the hash chooses; none if no uplink is left.
  std::vector<PortId> ports_to(uint32_t host) const;
  /// How many hosts have routes.
  uint32_t hosts() const {
    return topology_.regular() ? topology_.host_count()
                               : static_cast<uint32_t>(group_of_host_.size());
  }
  void set_live(PortId port, bool live);
  /// One of the uplinks that are given, which are up.
  using UplinkChoice = std::function<PortId(std::span<const PortId> ports)>;
  void set_uplink_choice(UplinkChoice choice) { choice_ = std::move(choice); }

 private:
  /// Several ports of which the hash chooses; null: there is one at most, port_below().
  const EcmpGroup* group_to(uint32_t host) const;
  void list_ports(NodeId self);
  bool by_uplinks(uint32_t host) const { return t0_ && topology_.host_row(host) != row_; }
  std::optional<PortId> port_below(uint32_t host) const;
  std::optional<uint32_t> destination_of(std::span<const uint8_t> frame) const;

  const Topology& topology_;
  bool t0_;
  uint32_t row_;  // T0: its own
  uint64_t seed_;
  EcmpGroup uplinks_;            // T0
  UplinkChoice choice_;          // adaptive routing; empty: the hash
  std::vector<uint32_t> ports_;  // by downlink (T0) or row (T1)
  /// Without regular planes: the sets of ports that this switch's shortest ways to hosts leave by, and the set of each host.
  std::vector<EcmpGroup> groups_;
  std::vector<uint32_t> group_of_host_;
};

/// The fields that a switch hashes. Ports only for UDP and TCP, and if the frame has them.
FlowKey flow_key(std::span<const uint8_t> frame);

}  // namespace mrclab::switchd
