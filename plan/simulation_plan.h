#pragma once
// What it takes to simulate a fabric of any size: memory, time, and over how many processes. Small
// fabrics of its kind are simulated here and now, on this machine, and what they took is carried over to
// its size. Nothing of the fabric itself is built.

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/topology/fabric_shape.h"

namespace mrclab::lab {

/// A small simulation: a permutation at 90 % of line rate across the T1s, headers only, each packet in
/// the digest of the history and seen by the judge, who follows those of 64 hosts; one thread.
struct SimulationSample {
  uint64_t hosts = 0;
  uint64_t delivered = 0;  ///< data packets
  double host_packets =
      0;                  ///< data packets that a host is delivered in a microsecond of fabric time
  double core_us = 0;     ///< microseconds of a core for a delivered data packet
  double host_bytes = 0;  ///< memory of a host with its share of the switches
  double port_bytes = 0;  ///< memory of the topology for a port
  double host_frames = 0;        ///< that hosts sent and received for a delivered data packet
  double cross_shard_frame = 0;  ///< their mean size between ranks
};

/// Assumed, not measured: an exchange between ranks on different machines.
inline constexpr double kExchangeSeconds = 30e-6;
inline constexpr BitRate kRankRate = BitRate::from_gbps(10);

/// The same simulation by so many processes of one thread each.
struct RankCost {
  uint32_t ranks = 1;
  double memory = 0;   ///< bytes of each
  double windows = 0;  ///< per microsecond of fabric time; ranks exchange frames after each
  double sent = 0;     ///< bytes that each sends to the others in a window
  double seconds = 0;  ///< for a microsecond of fabric time
};

struct SimulationPlan {
  uint64_t hosts = 0, nodes = 0, ports = 0;
  /// Two or three, the smallest first; one if it is the fabric itself.
  std::vector<SimulationSample> samples;
  double packets = 0;  ///< delivered in a microsecond of fabric time
  double core_us = 0;  ///< for each of them, at the fabric's size
  double topology_bytes = 0, node_bytes = 0;
  std::vector<RankCost> ranks;  ///< from one on
};

/// Takes some four seconds of CPU time, of fabrics from 8,192 hosts on some twenty, and a gigabyte. Throws InputError for a fabric of one host.
SimulationPlan plan_simulation(const FabricShape& shape);

/// For people, 80 columns.
std::string simulation_text(const SimulationPlan& plan);
/// Bytes, microseconds and counts.
nlohmann::ordered_json simulation_json(const SimulationPlan& plan);

}  // namespace mrclab::lab
