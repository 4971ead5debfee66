#pragma once
// Which wires an attempt took where its header does not name them, because switches chose for each packet (by FARE's
// weights, or by the queues of RoCE's adaptive routing). Captures of switches show by which port it left each. Only
// analysis/blame/*.cc and what scores them include this.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/history/packet_history.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// Are the ways of the flow's attempts with this EV chosen on the way, so that no header names them? Between hosts of
/// one switch there is one way.
bool chosen_on_the_way(const Topology& topology, const Flow& flow, EntropyValue ev);

/// A way as far as records show it.
struct TakenWay {
  std::vector<WireId> wires;  ///< from the source's, in the order of travel
  bool whole = false;         ///< the last one leads to the destination
};

class TakenWays {
 public:
  /// `packets` outlives it.
  TakenWays(const Topology& topology, const PacketHistory& packets);

  /// The way of an attempt of `packets`. Empty where captures do not show it: a switch was not captured, its records
  /// found no room, or two attempts of one packet that look alike were under way at once.
  std::optional<TakenWay> of(const Attempt& attempt) const;
  /// Is there a record of any data that left a switch?
  bool captured() const { return !order_.empty(); }

 private:
  std::span<const uint32_t> crossings_of(const Flow& flow, Psn psn) const;
  /// No other attempt of its packet could have left these records.
  bool alone(const Attempt& attempt, FabricTime until) const;

  const Topology& topology_;
  const PacketHistory& packets_;
  std::vector<uint32_t> order_;  ///< crossings by packet, then by time
  std::vector<FabricTime>
      next_start_;           ///< by attempt: when its packet was sent again; never() if it was not
  std::vector<bool> shown_;  ///< by node: some record shows data that left it
};

}  // namespace mrclab::analysis
