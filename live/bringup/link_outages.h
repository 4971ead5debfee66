#pragma once
// Outages of links in the kernel: which of the schedule's there are, and how far the kernel's links have followed.
// KernelMirror sets links of our nodes by it, ForeignSwitches those of switches that are not ours.
//
//   kPending --- nothing that was sent before is under way ---> kDown --- the outage is about to end ---> kDone
//       \------------------------- the kernel cannot follow ------------------------------------------------^
//
// A frame that a node of ours sends must find the link as the model has it. So where one of the ends is ours, a link is
// set down one lookahead late, and up ahead of time.

#include <functional>
#include <vector>

#include "fabric/topology/topology.h"
#include "faults/carrier_outage.h"

namespace mrclab::lab {

struct LinkOutage {
  enum class State : uint8_t { kPending, kDown, kDone, kElsewhere };
  faults::CarrierOutage span;
  FabricTime settled;         ///< from here on no frame that started before the outage is under way
  bool carries_ours = false;  ///< a node of ours is at one of its ends, or at both
  State state = State::kPending;  ///< kElsewhere: another component sets this link
};

class LinkOutages {
 public:
  enum class Links : uint8_t { kOurs, kForeign };
  /// `links`: those that the caller sets, between two nodes of ours or all others. `topology` outlives this.
  LinkOutages(const Topology& topology, Links links) : topology_(topology), links_(links) {}

  /// Takes a new schedule, which differs only after instants that have been reached. A link that is down in the kernel
  /// stays down until its outage ends by the new schedule.
  void replace(const std::vector<ScheduledEffect>& schedule);

  enum class Change : uint8_t { kDown, kUp, kLeftOut };
  /// Makes the change in the kernel, or for kLeftOut reports that there is none.
  using Make = std::function<void(const faults::CarrierOutage&, Change)>;
  /// Is there time to set the link down and up again? Asked before it is set down.
  using CanFollow = std::function<bool(const faults::CarrierOutage&)>;
  /// Makes what is due at `now`. At `stands_at` time will stand: a link whose outage has that instant in it stays down.
  void step(FabricTime now, double dilation, FabricTime stands_at, const CanFollow& can_follow,
            const Make& make);

  /// Up to this instant, which is at most `t`, the schedule is not needed any more: all outages that ended by then are
  /// done.
  FabricTime settled(FabricTime t) const;
  /// Of all links, in the order of the schedule.
  const std::vector<LinkOutage>& all() const { return outages_; }

  /// So long before the end of its outage a link is set up: setting one up takes about 20 ms.
  static FabricTime ahead(double dilation);

 private:
  const Topology& topology_;
  Links links_;
  std::vector<LinkOutage> outages_;
};

}  // namespace mrclab::lab
