#pragma once
// The topology model: a general graph of nodes, ports, links and directed wires. Regular planes
// are the common way to make one, switches and links one by one the other (fabric_shape.h).

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/asic/red_profile.h"
#include "fabric/asic/switch_buffer.h"
#include "fabric/base/ids.h"
#include "fabric/base/units.h"
#include "fabric/mapper/denylist_policy.h"
#include "fabric/mapper/mapper_profile.h"
#include "fabric/mapper/orchestrator_profile.h"
#include "fabric/topology/cabling.h"
#include "fabric/topology/dscp.h"
#include "fabric/topology/forwarding.h"
#include "fabric/topology/programs/tenancy.h"
#include "fabric/topology/routing.h"
#include "fabric/topology/speaker.h"
#include "fabric/topology/usid.h"

namespace mrclab {

class GraphPaths;
class ProgramTable;

using Ipv6Address = std::array<uint8_t, 16>;

enum class WireMode : uint8_t { kVeth, kFast };
/// The node that strips the outer header: the destination's NIC, whose port ends the carrier (MRC
/// paper §2.2), or the last switch, whose uSID does (draft-filsfils-srv6ops-srv6-ai-backend; uN
/// with USD, RFC 8986 §4.16.3).
enum class Decap : uint8_t { kNic, kLeaf };
/// What a carrier names a switch by that is not its last: itself (uN), or its link to the next (uA,
/// End.X of RFC 8986 §4.2 with NEXT-CSID).
enum class Segments : uint8_t { kNode, kAdjacency };

/// A place in the graph. The behaviour that lives there is a Node (fabric/node/node.h).
struct NodeSite {
  NodeId id;
  std::string name;  ///< "h3", "p2.t0-1"
  NodeRole role = NodeRole::kHost;
  uint32_t plane = 0;  ///< switches only; 0 where there are no planes
  uint32_t index = 0;  ///< number among its role (and plane)
  uint32_t pod = 0;    ///< T0s and T1s: those of one pod reach one another without a T2
  Usid usid;           ///< switches only: its uN
  Forwarding forwarding = Forwarding::kSwitchd;  ///< switches only
  SpeakerProgram speaker =
      SpeakerProgram::kBgpd;  ///< where the kernel forwards and routing is fare
  /// hosts: port i is plane i. T0, T1: downlinks, then uplinks. T2: downlinks
  Ports ports;
};

/// When a switch looks at a frame: once its last bit is in, or once what a lookup needs is.
enum class Switching : uint8_t { kStoreAndForward, kCutThrough };
/// What a lookup needs of a frame: the preamble and 128 bytes, as much as is left of a trimmed one (our choice; the
/// headers of MRC up to the carrier are 54).
inline constexpr Bytes kLookupLength{8 + 128};
/// By how much earlier than `latency` after its last bit a switch that cuts through has looked at a frame of this
/// wire length. Never before that bit: of a frame that takes longer than the pipeline only `latency` is saved. So what
/// the frame check finds, and what a dark wire cut, is known by then, and goes no further.
FabricTime cut_through_lead(BitRate in, FabricTime latency, Bytes length);

/// Hosts and switches that hang on one feed of power: each node is in one zone, or in none.
struct PowerZone {
  std::string name;  ///< "rack-0", "spine-2"
  std::vector<NodeId> nodes;
};

/// Thresholds of a switch port, in bytes of wire length, for a port of the link's rate.
/// Sources: UEC 1.0.3 p. 418-419 as multiples of Plane_BDP (link rate x base RTT).
struct QueueProfile {
  bool ecn = true;
  bool trim = true;
  Bytes ecn_min;                  ///< 0.2 Plane_BDP
  Bytes ecn_max;                  ///< 0.8 Plane_BDP
  bool ecn_last_hop = false;      ///< host-facing ports mark MRC's data, too
  Bytes trim_threshold;           ///< 1.0 Plane_BDP
  Bytes trim_threshold_last_hop;  ///< 1.5 Plane_BDP, on host-facing ports
  Bytes control_limit;            ///< 1.0 Plane_BDP, of SACKs, NACKs and ACKs
  Bytes trimmed_limit;            ///< 1.0 Plane_BDP, of trimmed frames
  Bytes tail_drop;                ///< 2.0 Plane_BDP, when not trimming
  // Data of RoCE (LosslessProfile):
  Bytes red_min;         ///< 0.4 Plane_BDP
  Bytes red_max;         ///< 1.6 Plane_BDP
  Probability red_most;  ///< at red_max; above it every packet is marked
  Bytes lossless_limit;  ///< 4.0 Plane_BDP, where nothing is paused
  Bytes buffer_share;    ///< 3.0 Plane_BDP: this port's part of its switch's buffer
  bool operator==(const QueueProfile&) const = default;
};

/// What a switch does to an egress port whose neighbour pauses it without end (SONiC's PFC watchdog).
enum class WatchdogAction : uint8_t { kOff, kDrop, kForward };

/// The traffic class of RoCE's data. ECN marks are drawn by RED from its own queue, on all hops (Zhu et al.,
/// SIGCOMM 2015). With `pfc` ports that fill up pause their neighbours (IEEE 802.1Qbb).
struct LosslessProfile {
  bool pfc = false;
  bool adaptive = false;                 ///< switches choose the uplink of each packet by its queue
  RedProfile red = RedProfile::kFabric;  ///< where they mark; kFabric: at multiples of the BDP
  Probability red_most{200'000'000};     ///< of kFabric
  SwitchAsic asic = SwitchAsic::kScaled;  ///< whose buffer a switch has
  bool pools_mrc = false;  ///< the queues of MRC's data are in that buffer too, by the same alpha
  uint32_t alpha_permille = 125;  ///< of the dynamic threshold: 1/8 (HPCC's switch)
  Bytes reserve{4096};            ///< of each ingress port
  WatchdogAction watchdog = WatchdogAction::kOff;
  FabricTime detect;   ///< paused so long with packets waiting and none sent: a storm
  FabricTime restore;  ///< no pause for so long: it is over
  bool operator==(const LosslessProfile&) const = default;
};

/// How a NIC finds out that a packet was lost. It is never faster than the transport's own profile; zero: as that one.
struct NicLosses {
  FabricTime reorder_window;         ///< a packet is lost when one sent so much later has arrived
  FabricTime tail_probe;             ///< silence after which a probe asks
  FabricTime ack_timeout;            ///< of a packet
  uint32_t exponential_retries = 0;  ///< timeouts, each twice as long, before a queue pair fails
  bool operator==(const NicLosses&) const = default;
};

/// How a NIC behaves around its ports, and with losses.
struct NicProfile {
  std::string name = "ideal";
  FabricTime port_down_delay;  ///< from carrier loss to the NIC avoiding the port
  FabricTime port_up_delay;
  /// After that delay the NIC remaps the queue pairs of every peer that used the port; a peer that
  /// gets the report does the same. For a time drawn from this range they send no data. Zero: at once.
  struct Range {
    FabricTime min, max;
  };
  Range remap_down;
  Range remap_up;
  NicLosses losses;
};

/// A NIC as slow as ConnectX-8 was seen to be, each time divided by `compress`: no data for 0.2 to
/// 1.6 s when a port goes down, for 0.2 to 0.5 s when it comes back (MRC paper §5.2.2, figure 9a).
/// It loses what it gives to the dead port until it notices; how long that takes is not published,
/// 10 ms here (our choice). No figure of its losses is published: it finds them as pollara_profile() does.
NicProfile cx8_profile(uint32_t compress);

/// A NIC that finds losses as those of the MRC paper's cluster C (Pollara 400G) were seen to: random loss under a
/// ring all-reduce of 64 GPUs (section 5.3, figure 16), to which tests/bench/bench_nic_losses fitted the times. What it does
/// about its ports is not published: at once.
NicProfile pollara_profile(uint32_t compress);

class Topology {
 public:
  std::string name;
  uint32_t planes = 0;  ///< also the ports of each NIC
  uint32_t hosts = 0;
  // Where has_planes():
  uint32_t t0_per_plane = 0;
  uint32_t t1_per_plane = 0;
  uint32_t t2_per_plane = 0;  ///< above 0: three tiers; of a listed fabric all its T2s
  uint32_t hosts_per_t0 = 0;
  uint32_t nics_per_node = 1;  ///< hosts here are NICs, of which so many are in one node
  uint32_t pmtu = 4096;        ///< MRC payload bytes per packet
  FabricTime switch_latency;   ///< ingress pipeline of a switch
  FabricTime host_latency;     ///< ingress pipeline of a NIC
  BitRate host_rate;           ///< rate of one NIC port
  uint32_t longest_path = 1;   ///< most switches on any path
  FabricTime base_rtt;         ///< longest path, full data packet there, ACK back, idle
  QueueProfile queues;         ///< switch ports toward hosts, whose links have host_rate
  QueueProfile fabric_queues;  ///< switch ports toward switches
  DscpMap dscps;
  LosslessProfile lossless;
  NicProfile nic;
  MapperProfile mapper;
  OrchestratorProfile orchestrator;
  DenylistPolicy denylist;
  WireMode wires = WireMode::kVeth;
  Switching switching = Switching::kStoreAndForward;
  RoutingChoice routing;
  Decap decap = Decap::kNic;
  Segments segments = Segments::kNode;
  UsidLayout usids = UsidLayout::of(AddressPlan::kLab);

  Authorise authorise = Authorise::kOff;
  std::vector<Tenant> tenants;
  std::vector<uint16_t>
      tenant_of;  ///< by host: its place in `tenants` + 1, 0: none; empty: no tenants
  /// What hosts may send; null where that is held against nothing.
  std::shared_ptr<const ProgramTable> programs;

  /// The paths of a listed fabric and of three tiers; null in regular planes, those of two tiers at most, where a path
  /// is its uplink.
  std::shared_ptr<const GraphPaths> graph;
  /// Does what leaves a NIC by port p come to port p of any other?
  bool planes_apart = true;

  std::vector<NodeSite> nodes;  ///< hosts first, then plane by plane T0s, T1s, T2s
  Links links;
  Optics optics;
  uint32_t line_card_ports = 4;  ///< neighbouring ports of a switch that one line card has
  std::vector<PowerZone> power_zones;
  /// Ports whose cable leads elsewhere than planned, and the ports that it should lead to. All other members are of the
  /// cables as they are; carriers, and the tables of switches, are of the plan.
  std::vector<std::pair<PortRef, PortRef>> replugged;

  const NodeSite& node(NodeId id) const { return nodes[id.value]; }
  Port port(PortRef ref) const { return cabling_->port(ref); }
  /// Where its cable should lead: to `peer`, unless it is miscabled.
  PortRef planned_peer(PortRef ref) const;
  Link link(LinkId id) const { return cabling_->link(id); }
  Wires all_wires() const { return Wires(cabling_.get()); }
  Wire wire(WireId id) const { return cabling_->wire(id); }
  Optic optic(OpticId id) const { return cabling_->optic(id); }
  const Cabling& cabling() const { return *cabling_; }
  /// `nodes`, `links` and `optics` are of these cables from now on.
  void set_cabling(Cabling cabling);
  /// Lets `change` alter cables that no other topology shares, and of which all planes are kept.
  void change_cabling(const std::function<void(Cabling&)>& change);

  /// Is there a switch that `by` forwards for?
  bool has_forwarding(Forwarding by) const;
  /// Are all switches ours, so that frames carry fabric time from end to end?
  bool carries_time() const;
  /// Is there a switch that marks packets and trims them?
  bool marks_and_trims() const;

  bool regular() const { return graph == nullptr; }
  /// Do switches belong to planes, and hosts to rows of T0s? Not in a listed fabric.
  bool has_planes() const { return hosts_per_t0 != 0; }
  uint32_t host_count() const { return hosts; }
  NodeId host(uint32_t index) const { return NodeId{index}; }
  // Where has_planes():
  NodeId t0(uint32_t plane, uint32_t index) const;
  NodeId t1(uint32_t plane, uint32_t index) const;
  NodeId t2(uint32_t plane, uint32_t index) const;
  /// T0 index ("row") and downlink that a host hangs on, in every plane.
  uint32_t host_row(uint32_t host) const { return host / hosts_per_t0; }
  uint32_t host_downlink(uint32_t host) const { return host % hosts_per_t0; }

  /// Where a host is that is one of several NICs of a node: NIC k of each node hangs on rail k. In planes the
  /// T0s of `nics_per_node` neighbouring rows are the rails of the nodes below them, one NIC of each node on every row;
  /// in a listed fabric neighbouring hosts are a node, and its file lists what they hang on.
  struct NicPlace {
    uint32_t node, rail;
  };
  NicPlace nic_place(uint32_t host) const;

  FabricTime ingress_latency(NodeId id) const {
    return node(id).role == NodeRole::kHost ? host_latency : switch_latency;
  }
  /// How much earlier than ingress_latency() after its last bit the frame that `in` brings is looked at. Zero where
  /// switches store and forward, at hosts, and of frames that are no longer than what a lookup needs.
  FabricTime lookup_lead(const Wire& in, Bytes length) const {
    if (switching == Switching::kStoreAndForward || node(in.to.node).role == NodeRole::kHost) {
      return {};
    }
    return cut_through_lead(in.rate, switch_latency, length);
  }
  /// From the last bit of a frame that comes to a switch over `in` to its being in the queue of `out`. What goes on
  /// faster than it came is stored first, as built, whatever faults make of the rates.
  FabricTime pipeline_time(const Wire& in, const Wire& out, Bytes length) const {
    return switch_latency - (out.rate > in.rate ? FabricTime{} : lookup_lead(in, length));
  }
  /// The thresholds of a switch port, which follow from the rate of its own link.
  const QueueProfile& queues_of(const Wire& out) const {
    return node(out.to.node).role == NodeRole::kHost ? queues : fabric_queues;
  }
  /// The lookahead of a wire, the least time from a frame's start to its effect on the receiver:
  /// serialization of the smallest packet + propagation + ingress pipeline of the receiver. Always
  /// positive in a valid topology. A switch that cuts through keeps it: it looks at a frame when the
  /// first kLookupLength have come and passed the pipeline, or later, and that is more than the
  /// smallest packet.
  FabricTime lookahead(WireId id) const;

  /// The line card of a switch's port: "p2.t1-0:c1"; and all ports that it has.
  std::string line_card_name(PortRef ref) const;
  std::vector<PortRef> line_card_of(PortRef ref) const;

  std::string port_name(PortRef ref) const;  ///< "p2.t0-1:d4"
  std::string link_name(LinkId id) const;    ///< "h3:p2--p2.t0-1:d3"
  std::string wire_name(WireId id) const;    ///< "h3:p2->p2.t0-1:d3"
  std::optional<NodeId> find_node(std::string_view name) const;
  std::optional<PortRef> find_port(std::string_view name) const;

 private:
  std::shared_ptr<Cabling> cabling_;  // copies of a topology share it until one of them is changed
};

std::string to_string(const MacAddress& mac);  ///< "02:00:00:00:00:01"

}  // namespace mrclab
