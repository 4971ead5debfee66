#pragma once
// Pauses by hand: which port was asked to stop when, and which ways RoCE's data took through
// switches.
//
//   4 hosts, 1 plane x (2 T0 + 2 T1):   h0 h1 -- T0 0 == T1 0, T1 1 == T0 1 -- h2 h3

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "analysis/measure/pause_tree.h"
#include "fabric/packet/pause_frame.h"
#include "fabric/topology/build_topology.h"
#include "tests/support/fabrics.h"
#include "tests/support/times.h"

namespace mrclab::test {

/// A switch and a NIC take 700 ns to heed a frame; links run at 100 Gb/s.
inline Topology pausing_fabric(uint32_t t0 = 2, uint32_t t1 = 2, uint32_t hosts_per_t0 = 2,
                               uint32_t planes = 1) {
  FabricShape shape = shape_of("pauses", planes, t0, t1, hosts_per_t0);
  shape.lossless.pfc = true;
  return build_topology(shape);
}

struct Pauses {
  explicit Pauses(Topology of = pausing_fabric()) : topology(std::move(of)) {}

  Topology topology;
  std::vector<analysis::PauseSeen> seen;
  std::vector<ScheduledEffect> schedule;
  analysis::LosslessTurns turns;
  std::vector<std::pair<PortRef, PortRef>> ways;  ///< the pairs of `turns`: in by, out by

  PortRef port(const std::string& name) const { return topology.find_port(name).value(); }
  /// The port is asked to stop, or to go on, so that it takes effect at `t`.
  void asks(const std::string& name, FabricTime t, uint16_t quanta) {
    seen.push_back({t - ns(700), port(name), quanta});
  }
  /// It stands from one instant to the other; who asks repeats that in time.
  void stands(const std::string& name, FabricTime from, FabricTime until) {
    for (FabricTime t = from; t < until; t += us(150)) asks(name, t, kPauseQuanta);
    asks(name, until, 0);
  }
  void turn(const std::string& in, const std::string& out) {
    const PortRef from = port(in), to = port(out);
    ways.emplace_back(from, to);
    turns.count_record(from.node, from.port, Direction::kIngress, PacketEvent::kPassed,
                       QueueClass::kNone, 7);
    turns.count_record(to.node, to.port, Direction::kEgress, PacketEvent::kPassed,
                       QueueClass::kLossless, 7);
  }
  /// What was seen, in order of time, as a history has it.
  const std::vector<analysis::PauseSeen>& in_order() {
    std::stable_sort(seen.begin(), seen.end(),
                     [](const auto& a, const auto& b) { return a.t < b.t; });
    return seen;
  }
  analysis::PauseTimes times(FabricTime end = us(1'000)) {
    return {topology, in_order(), schedule, end};
  }
  analysis::PauseTree tree(FabricTime from = us(0), FabricTime until = us(1'000)) {
    return analysis::pause_tree(topology, times(), turns, from, until);
  }
  std::string name(PortRef ref) const { return topology.port_name(ref); }
};

/// The four ports that a circle over two T0s and two T1s would take: down, and up again. From
/// 130 us to 350 us all of them stand.
inline void stand_in_a_circle(Pauses& pauses) {
  pauses.stands("p0.t0-0:u0", us(100), us(400));
  pauses.stands("p0.t1-0:d1", us(110), us(350));
  pauses.stands("p0.t0-1:u1", us(120), us(420));
  pauses.stands("p0.t1-1:d0", us(130), us(380));
}

/// ... and the ways of data that make it one.
inline void turn_in_a_circle(Pauses& pauses) {
  pauses.turn("p0.t1-0:d0", "p0.t1-0:d1");
  pauses.turn("p0.t0-1:u0", "p0.t0-1:u1");
  pauses.turn("p0.t1-1:d1", "p0.t1-1:d0");
  pauses.turn("p0.t0-0:u1", "p0.t0-0:u0");
}

}  // namespace mrclab::test
