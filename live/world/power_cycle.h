#pragma once
// A switch that loses its power, and has a process of its own (--isolate), is really killed: once
// it has committed past the cut and past all that was on its way to it, its process is asked where
// its nodes are, gets SIGKILL, and a successor goes on from there: a switch without power, until
// its effects end that. The lab waits at the gate meanwhile.
//
// A process stays where this would change what happens: an outage too short for it, or a wire out
// of the switch (or its inside) that a fault had made draw random numbers or count frames by then.

#include <functional>
#include <map>
#include <set>
#include <vector>

#include "fabric/node/effect.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// One loss of power.
struct PowerCut {
  uint32_t process = 0;
  FabricTime off;
  FabricTime settled;  ///< nothing that started before is under way, to or from it
  FabricTime last;     ///< so far may the lab go before the process is killed
  bool operator==(const PowerCut&) const = default;
};

/// The settled effects that have left the schedule, as far as power cuts depend on them.
class SettledPast {
 public:
  void add(const Topology& topology, const std::vector<ScheduledEffect>& schedule,
           FabricTime until);
  /// The slowest that the wire ever was, and the longest delay that it ever had, by faults.
  BitRate slowest(WireId wire) const;
  FabricTime delay(WireId wire) const;
  /// Has the switch drawn random numbers or counted frames for a fault?
  bool has_memory(NodeId node) const { return remembering_.contains(node); }

 private:
  std::map<WireId, BitRate> slowest_;
  std::map<WireId, FabricTime> delay_;
  std::set<NodeId> remembering_;
};

/// Those that a process can be killed for, by time. `schedule` sorted by (at, sequence).
std::vector<PowerCut> power_cuts(const Topology& topology,
                                 const std::vector<uint32_t>& process_of_node,
                                 const std::vector<ScheduledEffect>& schedule,
                                 const SettledPast& past = {});

class PowerCycle {
 public:
  PowerCycle(const Topology& topology, const std::vector<uint32_t>& process_of_node,
             const std::vector<ScheduledEffect>& schedule);
  /// The schedule is about to forget what is settled up to `until`.
  void settle(const std::vector<ScheduledEffect>& schedule, FabricTime until);
  /// Replaces the schedule from an instant on that no process has committed. If an outage is healed
  /// there so soon that killing a process no longer fits in, none is killed for it.
  void replace(const std::vector<ScheduledEffect>& schedule, FabricTime from);

  /// The processes to be killed now, each once for a cut. `done`: what a process has committed,
  /// never() if it has left the gate: then limit() does not hold the lab for a cut of that process.
  std::vector<uint32_t> due(const std::function<FabricTime(uint32_t)>& done);
  /// No process may commit past this before those that are due have been killed.
  FabricTime limit() const;

 private:
  struct Item {
    PowerCut cut;
    bool done = false;
  };
  const Topology& topology_;
  const std::vector<uint32_t>& process_of_node_;
  SettledPast past_;
  std::vector<Item> items_;
};

}  // namespace mrclab::lab
