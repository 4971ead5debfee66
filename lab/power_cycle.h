#pragma once
// A switch that loses its power, and has a process of its own (--isolate), is really killed: once it
// has committed past the cut and past all that was on its way to it, its process is asked where its
// nodes are, gets SIGKILL, and a successor goes on from there: a switch without power, until its
// effects say otherwise. The lab waits at the gate meanwhile.
//
// A process stays where this would change what happens: an outage too short for it, or a wire out of
// the switch (or its inside) that a fault had made draw random numbers or count frames by then.

#include <functional>
#include <vector>

#include "fabric/effect.h"
#include "fabric/topology.h"

namespace mrclab::lab {

/// One loss of power.
struct PowerCut {
  uint32_t process = 0;
  FabricTime off;
  FabricTime settled;  ///< nothing that started before is under way, to or from it
  FabricTime last = FabricTime::never();  ///< so far may the lab go before the process is killed
  bool operator==(const PowerCut&) const = default;
};
/// Those that a process can be killed for, by time. `schedule` sorted by (at, sequence).
std::vector<PowerCut> power_cuts(const Topology& topology,
                                 const std::vector<uint32_t>& process_of_node,
                                 const std::vector<ScheduledEffect>& schedule);

class PowerCycle {
 public:
  PowerCycle(const Topology& topology, const std::vector<uint32_t>& process_of_node,
             const std::vector<ScheduledEffect>& schedule);
  /// The schedule is another one from an instant on that nobody has committed. For an outage that
  /// is mended there, as soon as that, nobody is killed any more.
  void replace(const std::vector<ScheduledEffect>& schedule, FabricTime from);

  /// The processes to be killed now, each once for a cut. `done`: what a process has committed.
  std::vector<uint32_t> due(const std::function<FabricTime(uint32_t)>& done);
  /// Nobody may commit past this before that.
  FabricTime limit() const;

 private:
  struct Item {
    PowerCut cut;
    bool done = false;
  };
  const Topology& topology_;
  const std::vector<uint32_t>& process_of_node_;
  std::vector<Item> items_;
};

}  // namespace mrclab::lab
