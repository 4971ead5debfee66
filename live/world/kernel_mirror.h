#pragma once
// Shows the schedule's link faults in the kernel: a link that loses carrier at both
// ends is set down after both nodes have committed past the fault and its last frames, and set up
// ahead of the fabric instant, for which the gate waits. Outages too short for that stay
// unmirrored. Links of switches that are not ours are foreign_switches.h's.

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "fabric/node/effect.h"
#include "fabric/topology/topology.h"
#include "live/bringup/link_outages.h"
#include "netio/runtime/clock_page.h"

namespace mrclab::lab {

/// What the mirror did, or did not do, for events.jsonl.
struct MirrorNote {
  FabricTime t;  ///< committed fabric time when it happened
  LinkId link;
  std::string_view kind;  ///< "link_mirrored_down", "link_mirrored_up", "outage_not_mirrored"
};

class KernelMirror {
 public:
  using SetLink = std::function<void(LinkId, bool up)>;
  /// Keeps all processes from committing this instant until apply_due() is over, from when on limit()
  /// does. False if a process may have committed it already.
  using KeepBefore = std::function<bool(FabricTime)>;

  KernelMirror(const Topology& topology, const std::vector<ScheduledEffect>& schedule,
               SetLink set_link, KeepBefore keep_before);

  /// Takes a new schedule, which differs only after instants that processes have committed. A link
  /// that is down in the kernel stays down until its outage ends by the new schedule.
  void replace(const std::vector<ScheduledEffect>& schedule) { outages_.replace(schedule); }

  /// Does what is due. `slowest`: committed by every process; `dilation`: the pace now. At
  /// `stands_at` the lab will stand: however short an outage is, there is time to look at it.
  void apply_due(FabricTime slowest, double dilation, FabricTime stands_at = FabricTime::never());
  /// No process may commit past this before the kernel follows; never() if nothing is pending.
  FabricTime limit() const;
  /// Up to this instant, which is at most `t`, the mirror does not need the schedule any more: it
  /// is done with every outage that ended by then.
  FabricTime settled(FabricTime t) const { return outages_.settled(t); }
  /// Links that are down in the modelled fabric at `t`.
  std::vector<LinkId> down_at(FabricTime t) const;
  /// In the order of happening; at most two for each outage of the schedule, and at most kMaxNotes.
  const std::vector<MirrorNote>& notes() const { return notes_; }
  void forget_notes() { notes_.clear(); }

 private:
  static constexpr size_t kMaxNotes = 65536;
  void note(FabricTime t, LinkId link, std::string_view kind);

  LinkOutages outages_;
  SetLink set_link_;
  KeepBefore keep_before_;
  std::vector<MirrorNote> notes_;
};

}  // namespace mrclab::lab
