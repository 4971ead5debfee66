#pragma once
// When wires, hosts and paths were not what they should be, as far as the schedule of a run says.

#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/history/fault_span.h"
#include "fabric/effect.h"
#include "fabric/path.h"
#include "fabric/topology.h"

namespace mrclab::analysis {

class Outages {
 public:
  /// `topology` outlives it.
  Outages(const Topology& topology, std::span<const FaultSpan> faults,
          std::span<const ScheduledEffect> schedule);

  /// Did at least one path work all the time in [from, until]?
  bool path_lives(uint32_t source, uint32_t destination, FabricTime from, FabricTime until) const;

 private:
  struct Interval {
    FabricTime from, until = FabricTime::never();
  };
  using Intervals = std::vector<Interval>;
  using Denial = std::tuple<NodeId, EntropyValue, NodeId>;

  static bool overlaps(const Intervals& intervals, FabricTime from, FabricTime until);
  void deny(const EvDenial& denial, FabricTime at);
  bool denied(uint32_t source, uint32_t destination, Path path, FabricTime from,
              FabricTime until) const;

  const Topology& topology_;
  std::map<WireId, Intervals> wires_;
  std::map<Denial, Intervals> denials_;
};

}  // namespace mrclab::analysis
