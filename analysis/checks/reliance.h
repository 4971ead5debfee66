#pragma once
// Which evidence a check relies on, and until when.

#include <vector>

#include "analysis/history/coverage.h"
#include "fabric/base/units.h"

namespace mrclab::analysis {

/// A check needs everything that the witness records before `until`.
struct Reliance {
  Witness of;
  FabricTime until = FabricTime::never();  ///< never: of the whole run
};
using Reliances = std::vector<Reliance>;

/// The instants of a run that decide how much evidence a check needs.
struct CheckedSpan {
  FabricTime end;          ///< when the run ended
  FabricTime first_fault;  ///< never() if there is none
  /// The fate of a packet that left at t is recorded by t + settling, as far as checks over an interval
  /// need it: its last bit has left, and if it arrived, the NIC has taken it.
  FabricTime settling;

  /// An interval that goes on to the end of the run needs everything that its witnesses record.
  FabricTime clipped(FabricTime until) const { return until >= end ? FabricTime::never() : until; }
  Reliance packets_until(FabricTime until) const {
    return {Witness::kPackets, until >= end ? FabricTime::never() : clipped(until + settling)};
  }
};

}  // namespace mrclab::analysis
