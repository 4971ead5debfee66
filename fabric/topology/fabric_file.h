#pragma once
// Fabric files (topologies/fabrics/*.yaml): the compact form of regular planes, below, or switches, hosts
// and links one by one instead of the four numbers (graph_file.h).
//
//   name: octet
//   planes: 8
//   t0: 2                      # per plane
//   t1: 4                      # per plane
//   hosts_per_t0: 4
//   address_plan: lab          # or full: what a uSID's bits mean (fabric/topology/usid.h)
//   decap: nic                 # or leaf: which node strips the outer header (Decap)
//   segments: node             # or adjacency: what a carrier names switches by (Segments)
//   host_rate: 100Gb/s         # everything from here on may be left out
//   fabric_rate: 100Gb/s
//   link_rates: [{links: "p*.t0-*:u[4-7]", rate: 200Gb/s}]  # of some; queues have the thresholds of the rates above
//   propagation: 500ns
//   switch_latency: 700ns
//   host_latency: 700ns
//   pmtu: 4096
//   optics: {t0_downlinks: 4}  # or off
//   forwarding: switchd        # kernel, ovs, or {all: ovs, p1: kernel, "p3.t0-*": switchd}
//   routing: srv6              # or ecmp, or what ECMP is like (fabric/paths/ecmp.h), also for workloads that
//     # ask for it: {default: ecmp, underlay: ipv4, hash_seed: same, resilient: on}
//     # or FARE: fare, or {default: fare, spray: packet, delays: ideal, bfd: off, ready: 120us, hash_seed: same}
//     # spray: flow; delays: frr, hardware; bfd: 50us; ready: when workloads of FARE begin (fabric/topology/fare.h);
//     # nics: off, all, aggregates, wanted: which routes NICs get (fabric/topology/routing.h)
//   wires: veth                # or fast
//   ecn: on                    # off, or {min: 0.2, max: 0.8} in multiples of the plane BDP
//   trim: on                   # off, or {threshold: 1.0, last_hop: 1.5}
//   queues: {control: 1.0, tail_drop: 2.0}
//   dscp: {trimmed: 12, control: 46}  # classes by name, others as the MRC emulator has them (dscp.h)
//   roce: {pfc: off, red: {min: 0.4, max: 1.6, most: 20%}, buffer: 3.0, alpha: 0.125, watchdog: off}
//     # how switches treat RoCE's data (LosslessProfile): multiples of the plane BDP but for alpha, the share
//     # of the free buffer that one port may take; red: hpcc, simai or paper; asic: tomahawk5, spectrum4 or hpcc: in bytes
//     # (fabric/asic); mrc_buffer: shared. watchdog: {detect: 200us, restore: 200us, action: drop}
//   nic: ideal                 # cx8, pollara, {profile: cx8, compress: 2000} (all its times divided), or
//     # {name: slow, port_down_delay: 10us, port_up_delay: 10us, remap_down: [1us, 5us],
//     #  remap_up: 1us, reorder_window: 100us, tail_probe: 200us, ack_timeout: 1ms}: the last three at least

#include <filesystem>
#include <string>
#include <string_view>

#include "fabric/text/yaml.h"
#include "fabric/topology/build_topology.h"

namespace mrclab {

/// Most nodes in a fabric that one machine runs.
inline constexpr uint64_t kMaxNodes = 4096;
/// Most nodes in a fabric that is simulated. 131,072 hosts on eight planes of the MRC paper (§2) are
/// 137,216; the simulator has the graph of all of them, about 1 KB for each port.
inline constexpr uint64_t kMaxSimulatedNodes = 1u << 18;

/// Reads the compact form. Throws InputError with the position, also for more than `max_nodes`.
FabricShape parse_fabric(const YamlValue& document, uint64_t max_nodes = kMaxNodes);

/// Reads a fabric file and builds its graph. Throws InputError.
Topology read_fabric_file(const std::filesystem::path& path);

/// The hosts of a map of tenants. Throws InputError with the position, also where a host is of two.
void require_tenants(const YamlValue& map, const Topology& topology);

/// Throws InputError if a wire's lookahead is not positive.
void check_lookahead(const Topology& topology);

/// Reads the value of `roce: {watchdog: ...}`. Throws InputError with the position.
void read_watchdog(const YamlValue& watchdog, LosslessProfile& lossless);
/// As in a file: "off", "{detect: 200us, restore: 200us, action: drop}".
std::string watchdog_text(const LosslessProfile& lossless);

/// The shape as in a file, every field written out; `indent` spaces before each line.
std::string to_yaml(const FabricShape& shape, size_t indent = 0);

}  // namespace mrclab
