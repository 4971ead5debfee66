#pragma once
// The pace of one live lab: reads from the gate page how its processes are doing, lets Pace decide,
// publishes the jumps and ticks that follow, and remembers what the pace was.
//
// LiveLab calls step() every few milliseconds.

#include <optional>

#include "fabric/topology/topology.h"
#include "live/world/pace.h"
#include "live/world/pace_curve.h"
#include "netio/runtime/gate.h"

namespace mrclab::lab {

/// No node needs a frame before this long after its start.
FabricTime shortest_lookahead(const Topology& topology);

/// How far ahead of the slowest process the clock of a lab with such a shortest lookahead may be. A longer leash lets
/// more processes work at once, a shorter one leaves frames more time until they are needed (tests/bench/README.md).
FabricTime leash_of(FabricTime lookahead);

/// The same at a fixed pace: short against what a person waits for an answer, long against the times for which an
/// ordinary machine takes a processor away. A lab whose switches are not all ours has no leash at a fixed pace, as those
/// do not wait either: zero.
FabricTime leash_of_fixed_pace(double dilation, const Topology& topology);

class LabPace {
 public:
  /// `dilation`: a fixed pace; empty: auto. `end`: of the run; never() for a lab that stays, which
  /// skips no quiet stretch, since its user may act at any time.
  LabPace(netio::GatePage& gate, const Topology& topology, std::optional<double> dilation,
          FabricTime end);

  /// Lets fabric time pass.
  void start() { pace_.start(netio::LabTime::now()); }
  /// `limit`: how far the processes may commit.
  void adjust_pace(FabricTime limit);
  /// The clock stands from ClockPage::kLeadNs after this, and goes on that long after resume() at
  /// the pace it had.
  void pause() { pace_.pause(netio::LabTime::now()); }
  void resume() { pace_.resume(netio::LabTime::now()); }
  bool paused() const { return pace_.paused(); }

  double dilation() const { return pace_.dilation(); }
  /// `slowest`: committed by every process.
  DilationReport report(FabricTime slowest) const {
    return pace_.report(slowest, netio::LabTime::now());
  }
  const PaceCurve& curve() const { return curve_; }

 private:
  bool stays() const { return end_ == FabricTime::never(); }

  netio::GatePage& gate_;
  FabricTime lookahead_;
  FabricTime end_;
  Pace pace_;
  PaceCurve curve_;
};

}  // namespace mrclab::lab
