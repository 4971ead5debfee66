#pragma once
// Faults of a running lab: breaks and mends it by hand, and makes a fault of what others do to it.
// Each act gets an instant that nobody has committed yet; where the lab stands, the next picosecond.
//
//   somebody sets a link down         link_down, until somebody sets it up again
//   a daemon dies                     its switches: switch_crash; its hosts: nic_dead
//   a daemon stands still for long    its switches: switch_hang; its hosts: blackhole, both ways
//   a queueing discipline (tc)        is only told: its frames are late or lost in the kernel
//
// All of them make the run NOT FAITHFUL: what happened until the instant was not the model's.

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fabric/pattern.h"
#include "lab/fault_book.h"
#include "lab/live_lab.h"

namespace mrclab::lab {

/// What somebody asks for by hand.
struct FaultOrder {
  std::string kind;
  std::map<std::string, std::string> body;  ///< key and value as in a scenario
  std::optional<std::string> at;            ///< "300us", "+50us", "+2rtt"; empty: now
};

class LabFaults {
 public:
  /// `lab` runs the schedule of `scenario` (seed: of random() by hand). All outlive this.
  LabFaults(LiveLab& lab, const Topology& topology, std::vector<faults::Fault> scenario,
            uint64_t seed);

  /// Returns its number. Throws InputError.
  uint32_t break_it(const FaultOrder& order);
  /// What was mended; FaultBook::select says what `word` means. Throws InputError.
  std::vector<uint32_t> heal(const std::string& word);
  /// To be called after every LiveLab::step(): what others did since takes effect.
  void notice();

  const FaultBook& book() const { return book_; }
  /// {"number", "stage", "source", "fault", "kind", "at_ps", "until_ps"?, "noticed"?} of one.
  nlohmann::json describe(uint32_t number) const;
  /// Of all, by number.
  nlohmann::json describe_all() const;
  /// Did anybody do more than the scenario says?
  bool changed() const { return changed_; }

 private:
  FabricTime instant_of(const FaultOrder& order) const;
  void take_effect(FabricTime from);
  /// Its number; empty if it is about nothing, or the book is full.
  std::optional<uint32_t> book_outside(const OutsideFault& outside, std::string_view kind,
                                       std::string_view key, const std::vector<std::string>& names);
  /// Is the book another one now?
  bool notice_link(const OutsideFault& outside);
  bool notice_process(const OutsideFault& outside);

  LiveLab& lab_;
  const Topology& topology_;
  FaultBook book_;
  NameResolver names_;
  size_t noticed_ = 0;                   ///< of LiveLab::outside_faults()
  std::map<LinkId, uint32_t> set_down_;  ///< by others: the number of its fault
  FabricTime from_;                      ///< of what is being noticed
  bool changed_ = false;
};

}  // namespace mrclab::lab
