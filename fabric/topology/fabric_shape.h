#pragma once
// What a fabric is made of, as its file describes it (fabric_file.h reads it, build_topology.h builds it).

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/topology/forwarding.h"
#include "fabric/topology/speaker.h"
#include "fabric/topology/topology.h"
#include "fabric/topology/usid.h"

namespace mrclab {

/// Queue thresholds as thousandths of Plane_BDP (UEC 1.0.3 p. 418-419).
struct QueueShape {
  bool ecn = true;
  bool trim = true;
  uint32_t ecn_min = 200;
  uint32_t ecn_max = 800;
  bool ecn_last_hop = false;
  uint32_t trim_threshold = 1000;
  uint32_t trim_threshold_last_hop = 1500;
  uint32_t control_limit = 1000;
  uint32_t trimmed_limit = 1000;
  uint32_t tail_drop = 2000;
  uint32_t red_min = 400;
  uint32_t red_max = 1600;
  uint32_t lossless_limit = 4000;
  /// Tomahawk 5 has 165 MB for 64 ports of 800 Gb/s: 26 us of each; three BDPs are as much here.
  uint32_t buffer_share = 3000;
};

/// "p2", which the names of its switches begin with.
inline std::string plane_name(uint32_t plane) { return "p" + std::to_string(plane); }

/// What the NICs of one node are called together, and those of one rail.
inline std::string node_name(uint32_t node) { return "n" + std::to_string(node); }
inline std::string rail_name(uint32_t rail) { return "rail-" + std::to_string(rail); }

/// Switches, hosts and links one by one, for a fabric that is no regular planes.
struct GraphShape {
  struct Switch {
    std::string name;
    Usid usid;
    bool operator==(const Switch&) const = default;
  };
  /// Between two switches, by their numbers. The port of the lower is named "u0", of the upper "d0".
  struct Link {
    uint32_t lower, upper;
    bool operator==(const Link&) const = default;
  };
  /// A map of a file has room for so many switches.
  static constexpr size_t kMaxSwitches = 1024, kMaxHosts = 4096, kMaxPorts = 16, kMaxLinks = 65'536;

  std::vector<Switch> switches;
  /// By host number: NIC port i hangs on the i-th of these switches. All hosts have as many.
  std::vector<std::vector<uint32_t>> hosts;
  std::vector<Link> links;

  bool empty() const { return switches.empty(); }
  /// By switch: T0s have hosts, T1s are linked with one of those, all others are T2s.
  std::vector<NodeRole> roles() const;
  bool operator==(const GraphShape&) const = default;
};

/// Links that have another rate than `host_rate` and `fabric_rate`.
struct LinkRate {
  std::string links;  ///< a pattern of ports or links (fabric/topology/pattern.h)
  BitRate rate;
  bool operator==(const LinkRate&) const = default;
};

/// A named set of nodes: those that hang on one feed of power, the hosts of a tenant.
struct ZoneShape {
  std::string name;
  std::vector<std::string> nodes;  ///< names and patterns (fabric/topology/pattern.h)
  bool operator==(const ZoneShape&) const = default;
};

/// How the T1s of a pod are linked with T2s: T1 k of every pod with the k-th group of them (a fat tree), or each with
/// all.
enum class T2Links : uint8_t { kGroup, kMesh };

/// What a fabric is made of: planes of one, two or three tiers, or a graph. Fields left out of the file take the defaults
/// given here.
struct FabricShape {
  std::string name;
  GraphShape graph = {};  ///< empty: the numbers below
  uint32_t planes = 1;
  uint32_t t0 = 1;  ///< per plane
  uint32_t t1 = 1;  ///< per plane; 0: T0-local only
  uint32_t hosts_per_t0 = 1;
  uint32_t pods = 0;  ///< per plane, each of as many T0s and T1s; 0: two tiers at most
  uint32_t t2 = 0;    ///< per plane; above 0: three tiers
  T2Links t2_links = T2Links::kGroup;
  BitRate host_rate = BitRate::from_gbps(100);
  BitRate fabric_rate = BitRate::from_gbps(100);
  std::vector<LinkRate> link_rates = {};  ///< the last one that names a link counts
  FabricTime propagation = FabricTime::from_ns(500);
  FabricTime switch_latency = FabricTime::from_ns(700);
  FabricTime host_latency = FabricTime::from_ns(700);
  uint32_t pmtu = 4096;
  uint32_t nics_per_node = 1;      ///< hosts are NICs, of which so many are in one node
  uint32_t links_per_optic = 4;    ///< T0 downlinks that share a transceiver (MRC paper, figure 6)
  uint32_t uplinks_per_optic = 0;  ///< the same of uplinks; 0: each has its own
  uint32_t t1_uplinks_per_optic = 0;        ///< the same of a T1's
  uint32_t line_card_ports = 4;             ///< ports of a switch on one line card; our choice
  std::vector<ZoneShape> power_zones = {};  ///< empty: of regular planes, a zone for each rack
  ForwardingChoice forwarding = {};
  SpeakerChoice speaker = {};
  RoutingChoice routing = {};
  WireMode wires = WireMode::kVeth;
  Switching switching = Switching::kStoreAndForward;
  AddressPlan address_plan = AddressPlan::kLab;
  Decap decap = Decap::kNic;
  Segments segments = Segments::kNode;
  QueueShape queues = {};
  DscpMap dscps = {};
  LosslessProfile lossless = {};
  NicProfile nic = {};
  MapperProfile mapper = {};
  Authorise authorise = Authorise::kOff;
  std::vector<ZoneShape> tenants = {};  ///< of hosts, which talk to their own tenant alone
  OrchestratorProfile orchestrator = {};
  /// Pairs of ports whose cables are plugged into one another's place: "p0.t0-0:u1".
  std::vector<std::array<std::string, 2>> miscabled = {};
  DenylistPolicy denylist = {};

  uint64_t host_count() const {
    return graph.empty() ? uint64_t{t0} * hosts_per_t0 : graph.hosts.size();
  }
  uint64_t switch_count() const {
    return graph.empty() ? uint64_t{planes} * (t0 + t1 + t2) : graph.switches.size();
  }
  /// Of three tiers: the links of a plane between T1s and T2s.
  uint64_t t2_link_count() const { return uint64_t{t2} * (t2_links == T2Links::kMesh ? t1 : pods); }
};

}  // namespace mrclab
