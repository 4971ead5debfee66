#pragma once
// The effects of a lab's schedule that one process executes, handed to its nodes when they are due.
// Effects that are not due yet can be replaced: faults by hand and changes from outside come while
// the lab runs. The lab makes sure that no process has committed an instant that a new effect
// concerns (Quiesce, live/world/commit_limit.h).

#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <vector>

#include "fabric/node/effect.h"
#include "fabric/topology/topology.h"
#include "netio/runtime/schedule_file.h"

namespace mrclab::netio {

class EffectFeed {
 public:
  using HandOver = std::function<void(NodeId, const ScheduledEffect&)>;

  /// Takes the lab's current schedule, without effects that concern no node of `mine` (by NodeId).
  /// Up to `committed` it should hold the effects that were handed out already, less those that are
  /// settled. Returns how many effects differ there: they came too late, and are handed out with
  /// the next ones.
  uint64_t replace(const Topology& topology, const std::vector<bool>& mine,
                   const Schedule& schedule, FabricTime committed);
  /// Hands over the effects that are due up to `until`, each once, in order.
  void hand_out(FabricTime until, const HandOver& hand_over);
  /// When the next effect is due, for this node or for any; never() if none is left.
  FabricTime next(std::optional<NodeId> node = std::nullopt) const;

 private:
  struct Entry {
    NodeId node;
    ScheduledEffect effect;
    bool same_as(const Entry& other) const;
  };
  std::deque<Entry> entries_;
  size_t handed_out_ = 0;  ///< number of entries that were handed out
};

}  // namespace mrclab::netio
