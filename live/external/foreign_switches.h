#pragma once
// Switches that are not ours, as the kernel's objects: at the start a shaper on each of their
// ports, at the modelled rate divided by the dilation; then, at the fabric instant of each effect,
// what it means there (switch_impairment.h). What a fault did is undone by putting the objects of the
// remaining effects in place; when a node has none left, the kernel is read back and compared with
// what it was before the first of them.
//
//   link down     both veths set down, here and not by KernelMirror, also for a moment: no other
//                 component would drop the frames
//   all else      at the port that sends; a node of ours does it itself
//
// The lab's clock triggers them; on a busy machine that is some milliseconds late, and a fault that was over
// before it took effect is reported as a problem. A frame that waits in the queue of a shaper when its
// switch hangs still leaves.

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "faults/schedule.h"
#include "live/bringup/link_outages.h"
#include "live/external/node_snapshot.h"
#include "live/external/switch_impairment.h"
#include "netio/kernel/ruleset_watch.h"

namespace mrclab::lab {

/// A change of a switch or a link, for events.jsonl.
struct SwitchNote {
  FabricTime t;           ///< by the clock, when it was done
  std::string_view kind;  ///< one of the lab (fabric/node/event_kind.h)
  std::string detail;     ///< "p0.t0-0:d1: counter drop"
};

class ForeignSwitches {
 public:
  static constexpr size_t kMaxNotes = 65536;

  /// Puts the shapers on. `ovs` and `bpf` are null without such switches; all outlive this. `clock`: the
  /// fabric time by the clock.
  ForeignSwitches(LiveFabric& fabric, OvsSwitches* ovs, BpfSwitches* bpf,
                  const std::vector<ScheduledEffect>& schedule, double dilation,
                  std::function<FabricTime()> clock);
  ~ForeignSwitches();

  /// The schedule is another one from an instant on that the last apply_due() has not reached.
  void replace(const std::vector<ScheduledEffect>& schedule);
  /// Makes the changes that are due by the clock. Each time it also reads back one node whose
  /// faults are over, and asks one namespace whether another program has changed its packet filter.
  void apply_due();
  /// Up to this instant, which is at most `t`, the schedule is not needed any more: all outages
  /// that ended by then are undone.
  FabricTime settled(FabricTime t) const { return outages_.settled(std::min(t, reached_)); }
  /// Takes a snapshot of every switch that is not ours, for look_again().
  void remember_all();
  /// Looks at all packet filters once more, and compares every switch without a fault in force with
  /// its snapshot; what differs is a problem.
  void look_again();

  const std::vector<SwitchNote>& notes() const { return notes_; }
  void forget_notes() { notes_.clear(); }
  /// Problems since the last call: a refused change, an undo that left something behind, a change
  /// by another program.
  std::vector<std::string> take_problems() { return std::exchange(problems_, {}); }

 private:
  void prepare();
  void step_links();
  void set_link(LinkId link, bool up);
  void apply_effects();
  void remember(NodeId node);
  /// Puts the node's objects in place, as the effects in force require; false: they are.
  bool reconcile(NodeId node);
  void reconcile(NodeId node, const SwitchImpairment& wanted);
  void set_route(NodeId node, Usid usid, const SwitchRoute* wanted);
  bool has_link_down(NodeId node) const;
  void tell_too_late(const std::string& what, FabricTime from, FabricTime until);
  void verify(NodeId node);
  std::optional<std::string> difference_from_before(NodeId node);
  /// Is no fault in force that would make the node differ from what it was?
  bool is_untroubled(NodeId node);
  NodeId owner_of_namespace(NodeId node) const;
  void change_filter(NodeId node, const std::function<void(netio::PacketFilter&)>& change);
  void look_at_rules(NodeId owner);
  void note(std::string_view kind, std::string detail);
  netio::PacketFilter& filter(NodeId node);

  LiveFabric& fabric_;
  const Topology& topology_;
  OvsSwitches* ovs_;
  BpfSwitches* bpf_;
  double dilation_;
  std::function<FabricTime()> clock_;
  std::vector<ScheduledEffect> schedule_;
  size_t next_ = 0;     ///< next entry of the schedule
  FabricTime reached_;  ///< instant of the last apply_due()
  faults::FaultState in_force_;
  LinkOutages outages_;
  std::map<NodeId, SwitchImpairment> impairments_;  ///< as it is in the kernel
  std::map<NodeId, NodeSnapshot> before_;           ///< state of nodes before their first change
  std::set<NodeId> to_verify_;
  std::set<NodeId> differing_;                     ///< nodes whose difference was reported
  std::map<NodeId, netio::PacketFilter> filters_;  ///< by the first node of a namespace
  std::map<NodeId, netio::RulesetWatch> rules_;    ///< by the first node of a namespace, for all
  std::map<NodeId, netio::RulesetWatch>::iterator next_rules_ = rules_.end();
  std::vector<SwitchNote> notes_;
  std::vector<std::string> problems_;
};

}  // namespace mrclab::lab
