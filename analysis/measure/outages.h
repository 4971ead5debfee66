#pragma once
// When wires, hosts and paths were impaired, by the schedule of a run.

#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "analysis/history/fault_span.h"
#include "fabric/node/effect.h"
#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

class Outages {
 public:
  /// `topology` outlives it.
  Outages(const Topology& topology, std::span<const FaultSpan> faults,
          std::span<const ScheduledEffect> schedule);

  /// Did at least one path work all the time in [from, until]?
  bool path_lives(uint32_t source, uint32_t destination, FabricTime from, FabricTime until) const;

  /// Did the one path of a flow of RC (fabric/topology/ev_path.h: by flow) work all the time in [from, until]? A T0
  /// that loses an uplink sends the flow another way, and this follows it. `adaptive`: the T0 chooses for
  /// each packet, so every way that it may choose has to work; likewise where switches route by themselves.
  bool flow_lives(uint32_t source, uint32_t destination, Path flow, FabricTime from,
                  FabricTime until, bool adaptive) const;

  /// Was the host's NIC slow, or did it stand still, at some time in [from, until]?
  bool receiver_slowed(uint32_t host, FabricTime from, FabricTime until) const;

 private:
  struct Interval {
    FabricTime from, until = FabricTime::never();
  };
  using Intervals = std::vector<Interval>;
  using Denial = std::tuple<NodeId, EntropyValue, NodeId>;
  struct CarrierChange {
    FabricTime at;
    PortRef port;
    bool up = false;
  };

  static bool overlaps(const Intervals& intervals, FabricTime from, FabricTime until);
  void deny(const EvDenial& denial, FabricTime at);
  bool denied(uint32_t source, uint32_t destination, Path path, FabricTime from,
              FabricTime until) const;
  bool works(uint32_t source, uint32_t destination, Path path, FabricTime from,
             FabricTime until) const;

  const Topology& topology_;
  std::map<WireId, Intervals> wires_;
  std::map<NodeId, Intervals> receivers_;
  std::map<Denial, Intervals> denials_;
  std::vector<CarrierChange> carriers_;  // in order of time
};

}  // namespace mrclab::analysis
