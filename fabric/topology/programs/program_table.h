#pragma once
// Which carriers ("programs") a host may send: what an orchestrator hands out (MRC paper section 2.2;
// draft-filsfils-srv6ops-srv6-ai-backend: "constrain hosts to authorised programs"). A host of T0 a may send
//
//   T0 a : host                 below its own switch
//   T0 a : T1 : T0 b : host     in planes of two tiers, b = a as well
//   T0 a : ... : T0 b : host    elsewhere: any shortest way from a to b, whatever lies between
//
// and nothing behind the host. The host is one of its own tenant; those without a tenant are one among themselves. The
// mapper's probes lead back to their own sender, and its cross probes go over two T1s. Each uSID must name what its
// switch has a link to, so that a program never crosses more links than a host's own paths do.
//
// A table of where each uSID leads at each switch, and one distance: at most six look-ups for a packet, whatever is in
// it. The table belongs to the fabric, and all nodes read the same one.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "fabric/topology/topology.h"

namespace mrclab {

/// What a host may not do.
enum class Denial : uint8_t {
  kNone,
  kSource,   ///< another's address as source
  kProgram,  ///< a carrier that is no path of this host
  kTenant,   ///< a path to a host of another tenant
};

class ProgramTable {
 public:
  explicit ProgramTable(const Topology& topology);

  /// A packet with a carrier out of this port of a NIC. `inner`: the host behind it, where the last switch strips the
  /// outer header and the carrier names none; empty for an address that no host has.
  Denial judge(const Topology& topology, PortRef nic, const Ipv6Address& carrier,
               std::optional<uint32_t> inner) const;

 private:
  struct Step {
    uint64_t key = 0;  ///< switch and uSID; 0: no entry
    NodeId to;
  };
  /// A carrier that has been followed from link to link.
  struct Way {
    bool ends = false;  ///< where a packet may end
    std::array<NodeId, 6> switches;
    uint32_t count = 0;
    std::optional<uint32_t> receiver;  ///< the host that it names
  };
  void add(NodeId at, Usid usid, NodeId to);
  const Step* find(NodeId at, Usid usid) const;
  Way follow(const Topology& topology, PortRef nic, const Ipv6Address& carrier) const;

  std::vector<Step> steps_;  ///< by hash; a power of two, half of them empty at least
};

/// Hosts of one tenant, or two without one.
bool same_tenant(const Topology& topology, uint32_t a, uint32_t b);

/// What is set in a topology by `authorise` and `tenants` of its shape; every node is there. Throws NameError for a
/// pattern that names no host, std::invalid_argument for a host of two tenants.
struct FabricShape;
void provision(const FabricShape& shape, Topology& topology);

}  // namespace mrclab
