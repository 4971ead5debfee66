#pragma once
// What it takes to build a fabric, as arithmetic: no graph is made, so 131,072 hosts on eight planes
// cost as much as eight. The text and JSON of it are in fabric_plan_text.h, its addresses in
// node_addresses.h.

#include <cstdint>
#include <optional>
#include <vector>

#include "endpoint/paths/ev_set.h"
#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/topology.h"
#include "plan/fat_tree.h"

namespace mrclab::lab {

/// 64 ports of 800 Gb/s or 512 of 100 Gb/s (MRC paper §2).
inline constexpr BitRate kSwitchCapacity{51'200'000'000'000};
inline constexpr uint32_t kMaxRadix = 4096;

/// A fabric by its size. The defaults are the MRC paper's (§2): 131,072 hosts with 8 x 100 Gb/s.
struct PlanRequest {
  uint64_t hosts = 131'072;
  uint32_t planes = 8;
  BitRate port_rate = BitRate::from_gbps(100);
  uint32_t radix = 0;         ///< ports of a switch; 0: what kSwitchCapacity gives at port_rate
  uint32_t hosts_per_t0 = 0;  ///< 0: half of the radix, all if there are fewer
  uint32_t t1 = 0;  ///< per plane; 0: as many as hosts_per_t0, so nothing is oversubscribed
  std::optional<AddressPlan> address_plan;  ///< default: lab if it has the room, else full
};

/// The fabric that was asked for. Throws InputError with what would be right: more hosts than two
/// tiers of this radix can hold, hosts that do not fill their T0s, ports or addresses that do not
/// suffice.
FabricShape shape_of(const PlanRequest& request);

struct Transceivers {
  uint32_t links_each = 1;
  uint64_t nic = 0, t0_down = 0, t0_up = 0, t1 = 0, t2 = 0;
  uint64_t total() const { return nic + t0_down + t0_up + t1 + t2; }
};

/// Routes of one switch. uSIDs are routed as /48s, each by itself: every one leaves by another port.
struct SwitchRoutes {
  uint64_t own = 1;
  uint64_t up = 0;                         ///< the T1s' uSIDs
  uint64_t down = 0;                       ///< the T0s', or the NIC ports'
  uint64_t kernels = 0;                    ///< the hosts' kernels', for ordinary traffic
  uint64_t by_destination = 0;             ///< without source routes: every host
  uint64_t by_destination_aggregated = 0;  ///< the same by T0 row
  uint64_t total() const { return own + up + down + kernels; }
};

/// What a queue pair has if it uses `size` entropy values, equally many per plane. They name
/// different paths, so a T0-T1 link that is lost takes at most one of them.
struct PlannedEvs {
  uint32_t size = 0;
  uint32_t per_plane = 0;
  Ratio of_all;  ///< share of the pair's paths
};

/// Both designs fully built of the same switches, per host with the same bandwidth.
struct DesignComparison {
  FatTree plane;   ///< one of `planes`
  FatTree single;  ///< three tiers of ports `planes` times as fast
  FatTree larger;  ///< the single plane with the tiers it needs for as many hosts
  uint32_t planes = 1;
  Ratio switches;      ///< per host, planes against `single`
  Ratio transceivers;  ///< the same; of the NIC's rate, two per link of that rate
};

struct FabricPlan {
  Topology outline;
  FabricShape shape;
  BitRate switch_capacity;
  uint64_t hosts = 0, t0 = 0, t1 = 0, t2 = 0;  ///< in all
  uint64_t nic_links = 0, fabric_links = 0,
           t2_links = 0;  ///< fabric_links: of T0s; t2_links: between T1s and T2s
  uint32_t tiers = 2;
  uint32_t longest_path = 3;  ///< in switches
  uint32_t t0_ports = 0, t1_ports = 0, t2_ports = 0;
  Transceivers transceivers;
  BitRate nic_rate;
  uint64_t bisection_bps = 0;  ///< each way; 0 in a listed fabric
  Ratio oversubscription;      ///< T0 down against up
  Ratio t1_oversubscription;   ///< the same of T1s, where there are three tiers
  Bytes plane_bdp, nic_bdp;
  SwitchRoutes t0_routes, t1_routes, t2_routes;
  uint64_t evs_per_pair = 0, evs_in_row = 0;  ///< across T1, and under one T0
  std::vector<PlannedEvs> ev_sets;
  std::optional<DesignComparison> comparison;  ///< none if no single plane of such switches exists

  uint64_t switches() const { return t0 + t1 + t2; }
  uint64_t links() const { return nic_links + fabric_links + t2_links; }
};

/// Of regular planes; plan/graph_plan.h plans any fabric. Throws InputError if a switch of `capacity` has too few ports
/// for the shape.
FabricPlan plan_fabric(const FabricShape& shape, BitRate capacity = kSwitchCapacity);

}  // namespace mrclab::lab
