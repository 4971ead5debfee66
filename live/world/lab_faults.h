#pragma once
// Faults of a running lab: begins and ends them by hand, and turns changes by other programs into
// faults. Each act gets an instant that no process has committed yet; where the lab stands, the
// next picosecond. With a record, faults that are over leave the book and the nodes' schedule.
//
//   a link is set down by others      link_down, until it is set up again
//   a daemon dies                     its switches: switch_crash; its hosts: nic_dead
//   a daemon stands still for long    its switches: switch_hang; its hosts: blackhole, both ways
//   anything else (outside_watch.h)   is only reported
//
// All of them make the run NOT FAITHFUL: what happened until the instant was not the model's.

#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fabric/topology/pattern.h"
#include "faults/fault_book.h"
#include "faults/fault_order.h"
#include "live/world/fault_record.h"
#include "live/world/live_lab.h"

namespace mrclab::lab {

class LabFaults {
 public:
  /// list() shows this many of the faults that are out of the book, the newest.
  static constexpr size_t kMaxOverListed = 32;
  /// list() shows this many of the faults in the book, the newest.
  static constexpr size_t kMaxListed = 500;
  /// When this many faults of the book are over, a lab without changes leaves them out of its
  /// schedule.
  static constexpr size_t kTidyAt = 32;
  static constexpr std::chrono::milliseconds kTryAgain{1000};

  /// `lab` runs the schedule of `scenario`; `seed` is that of random() in faults by hand. Faults
  /// that are over move to `record`; without one they stay in the book, for a run that is judged by
  /// them. All arguments outlive this.
  LabFaults(LiveLab& lab, const Topology& topology, std::vector<faults::Fault> scenario,
            uint64_t seed, std::optional<FaultRecord> record = std::nullopt);

  /// Returns its number. Throws InputError; or SystemError where the schedule cannot be written, because
  /// the folder of the lab is full: then the fault is not in force, and not in the book.
  uint32_t break_it(const FaultOrder& order);
  /// Ends faults and returns their numbers; `word`: see FaultBook::select. Throws as
  /// break_it() does: then the faults are in force as they were.
  std::vector<uint32_t> heal(const std::string& word);
  /// What others did since the last call takes effect. The lab's loop calls it (lab_loop.h). Where
  /// the schedule cannot be written, that is noted in the lab once, and tried again every kTryAgain.
  void notice();

  const FaultBook& book() const { return book_; }
  /// Every fault there has been, by number, without those that were cancelled
  /// and have left the book.
  std::map<uint32_t, BookedFault> all() const;
  /// {"number", "stage", "source", "fault", "kind", "at_ps", "until_ps"?,
  /// "noticed"?} of one that is in the book.
  nlohmann::json describe(uint32_t number) const;
  /// The same of one that is in the book or among the newest that have left it; null for any other.
  nlohmann::json find(uint32_t number) const;
  /// {"faults": those of the book and the newest that have left it, by
  /// number, "left_out": how many more there were}.
  nlohmann::json list() const;
  /// The faults that others made and that are not over, by number.
  nlohmann::json outside() const;
  /// Was the lab changed beyond its scenario?
  bool changed() const { return changed_; }

 private:
  FabricTime instant_of(const FaultOrder& order, FabricTime open) const;
  void settle();
  void tidy();
  /// The book as it is to be, in the making. It becomes the book when the nodes have it.
  struct Draft {
    FaultBook book;
    std::map<LinkId, uint32_t> set_down;
    FabricTime from;  ///< instant of what is being booked
  };
  Draft draft_from(FabricTime from) const { return {book_, set_down_, from}; }
  /// Writes the schedule for the nodes, then takes the draft over. Throws SystemError, with nothing changed.
  void put_in_force(const Quiesce& quiesce, Draft draft);
  void tell_nodes(const Quiesce& quiesce, const FaultBook& book);
  void take_notice();
  /// Runs `act` unless it failed a moment ago, and notes in the lab why it fails.
  void try_to(const std::function<void()>& act);
  /// Its number; empty if it is about nothing, or the book is full.
  std::optional<uint32_t> book_outside(Draft& draft, const OutsideFault& outside,
                                       faults::FaultKind kind, faults::Targets targets);
  /// Is the draft's book another one now?
  bool notice_link(Draft& draft, const OutsideFault& outside);
  bool notice_process(Draft& draft, const OutsideFault& outside);

  LiveLab& lab_;
  const Topology& topology_;
  FaultBook book_;
  NameResolver names_;
  std::optional<FaultRecord> record_;
  std::deque<nlohmann::json> newest_over_;   ///< the last kMaxOverListed that have left the book
  FabricTime settled_ = netio::kBeforeTime;  ///< no effect of faults that left is later
  FabricTime tidy_at_ = FabricTime::never();
  uint64_t noticed_ = 0;                 ///< entries of LiveLab::outside_faults() that were handled
  std::map<LinkId, uint32_t> set_down_;  ///< by others: the number of its fault
  bool changed_ = false;
  bool trouble_noted_ = false;  ///< and nothing was written since
  std::chrono::steady_clock::time_point next_try_;
};

}  // namespace mrclab::lab
