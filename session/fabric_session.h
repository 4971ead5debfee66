#pragma once
// What people do with a world: let time pass, stand, step, go back, break and mend it, change how it works, and
// hold two branches against each other. Uses no sockets and no wall clock.
//
// Time that is looked at (at()) moves freely over what has happened; the world is always a little ahead of
// it. A change takes effect exactly at at(): the world begins again, with the same seed and the change, and runs up
// to there. So a session equals one scenario at any time (yaml()), and has the history of that scenario
// (tested). Simulated, going back further than what is kept simulates again likewise. A change in the past discards
// what was changed by hand later than that.
//
// Of a fabric that is summarised (Branch::tally) there is one world only, as each takes gigabytes and minutes: a change
// begins it again, there are no forks, and it goes on by itself up to its end.
//
// A world that happens now (Branch::fault_injector) takes a fault or its end where it is, if at() is at its newest
// instant: at() moves to the instant at which it takes effect. The branch that a fork leaves is simulated then.

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/text/enum_words.h"
#include "faults/fault_book.h"
#include "faults/fault_order.h"
#include "session/branch.h"

namespace mrclab::lab {

/// What a step goes to. kStepWords are its words.
enum class StepTo : uint8_t {
  kPacket,     ///< a packet has left a port, or is dropped
  kFault,      ///< a fault begins or ends
  kLoss,       ///< a packet is dropped
  kPath,       ///< a host changes the state of a path
  kQueuePair,  ///< any event of a host about a queue pair
};
inline constexpr auto kStepWords = words_by_value<StepTo>({{StepTo::kPacket, "packet"},
                                                           {StepTo::kFault, "fault"},
                                                           {StepTo::kLoss, "loss"},
                                                           {StepTo::kPath, "path"},
                                                           {StepTo::kQueuePair, "qp"}});

/// The scenario with the text of a scenario's `transport:` in place of what it is, and the fabric as that asks.
/// Throws InputError.
Scenario with_transport(Scenario scenario, const std::string& options);

class FabricSession {
 public:
  /// The world is simulated at least so far beyond what is looked at: longer than any frame of ours is on a
  /// wire (our choice), so that it is known which of them arrive.
  static constexpr FabricTime kAhead = FabricTime::from_us(3);
  static constexpr size_t kMaxHandFaults = 256;

  using GoOn = SimWorld::GoOn;

  /// Simulated. Throws InputError for a scenario that cannot be.
  explicit FabricSession(Scenario scenario);
  /// `first` runs the scenario, or ran it.
  FabricSession(Scenario scenario, std::unique_ptr<Branch> first);

  const Scenario& scenario() const { return scenario_; }
  const Branch& branch() const { return *branch_; }
  /// The branch that was left by the last fork; null if none is kept.
  const Branch* other() const { return other_.get(); }
  /// The instant at which both part, at the earliest.
  FabricTime forked_at() const { return forked_at_; }
  /// A number that every branch has for itself.
  uint32_t number() const { return number_; }
  uint32_t other_number() const { return other_number_; }
  /// All faults, by number: those of the scenario and those by hand.
  const std::vector<BookedFault>& faults() const { return faults_; }

  // Time. Each of these may end early where `go_on` returns false; at() is never beyond what was simulated.
  FabricTime at() const { return at_; }
  FabricTime end() const { return branch_->end(); }
  void seek(FabricTime at, const GoOn& go_on = {});
  /// As seek(), but where a world is simulated for minutes (Branch::tally) it goes there as far as that has come, and
  /// pursue() goes on.
  void aim(FabricTime at, const GoOn& go_on = {});
  /// Simulates toward where aim() or a change wanted to be; false where there is no such instant.
  bool pursue(const GoOn& go_on);
  /// That instant, if it was not come to.
  std::optional<FabricTime> goal() const { return goal_; }
  /// Lets the world go on up to `until` without moving.
  void look_ahead(FabricTime until, const GoOn& go_on = {});
  /// Simulates the whole beside what is looked at, where that is simulated: what the time line shows before anybody has
  /// played it, and who waits for whom. False when it is done, or there is nothing to do.
  bool survey(const GoOn& go_on = {});
  /// What is known of this branch: what was looked at, or the survey where that has come further.
  const Recording& known() const;
  /// Branch::look_after(); true if faults have changed.
  bool look_after();
  /// Moves to the next or the last such instant before; false, and to the end or to the beginning, if there
  /// is none. `qp`: only what concerns this queue pair.
  bool step(StepTo to, bool back, std::optional<Qpn> qp = {}, const GoOn& go_on = {});

  // Changes, at at(). With `fork` the branch that is left stays as other(). Throw InputError, and then
  // nothing has changed.
  /// Returns the fault's number.
  uint32_t break_it(const FaultOrder& order, bool fork = false, const GoOn& go_on = {});
  /// `word`: see FaultBook::select. Returns the numbers.
  std::vector<uint32_t> heal(const std::string& word, bool fork = false, const GoOn& go_on = {});
  /// Of a fabric that is summarised: follows these racks, from the beginning on. Throws InputError for one that is not there,
  /// and for more than most_racks().
  void follow(std::vector<uint32_t> racks);
  /// From the beginning on, under another transport of lab/compare.
  void use_transport(const std::string& name, bool fork = false, const GoOn& go_on = {});
  /// From the beginning on, with the text of a scenario's `transport:` in place of what it is.
  void set_options(const std::string& options, bool fork = false, const GoOn& go_on = {});
  /// Goes on with the other branch, and keeps this one.
  void swap();
  void drop_other();

  /// The scenario that has this session's history. Faults that have no end stay without one.
  std::string yaml() const;
  /// Where the two branches part, as far as both were simulated; simulates the other as far as this one.
  std::optional<FirstDifference> difference(const GoOn& go_on = {});

 private:
  void begin_again(Scenario scenario, std::vector<BookedFault> faults, std::vector<uint32_t> racks);
  void change(Scenario scenario, std::vector<BookedFault> faults, bool fork, const GoOn& go_on);
  std::vector<BookedFault> without_later_changes() const;
  Scenario with_faults(Scenario scenario, const std::vector<BookedFault>& faults) const;
  /// The latest such instant in [from, until) if `back`, else the earliest in (from, until].
  std::optional<FabricTime> nearest_in(StepTo to, bool back, FabricTime from, FabricTime until,
                                       std::optional<Qpn> qp) const;
  void keep_packets_of(FabricTime t, const GoOn& go_on);
  /// The faults of the world that happens now, where at() is at its newest instant; null otherwise.
  FaultInjector* faults_now() const { return at_newest_ ? branch_->fault_injector() : nullptr; }
  /// Throws InputError if what is done to the world that happens now would not be recorded.
  void require_open() const;
  /// Keeps what the branch that happens now would have been, simulated; false if `go_on` stopped it.
  bool keep_other_of_now(const GoOn& go_on);
  void take_faults_of_now(FabricTime moved_to, const GoOn& go_on);

  Scenario base_;  // as it was given
  Scenario scenario_;
  std::vector<BookedFault> faults_;
  std::unique_ptr<Branch> branch_, other_;
  std::unique_ptr<Branch> survey_;  // of the branch with the number surveyed_; null: not begun
  uint32_t surveyed_ = 0;
  bool at_newest_ = true;  // has not gone back since
  Scenario other_scenario_;
  std::vector<BookedFault> other_faults_;
  std::optional<FabricTime> goal_;
  FabricTime at_ = FabricTime::zero(), forked_at_ = FabricTime::zero();
  uint32_t number_ = 1, other_number_ = 0, newest_ = 1;
};

}  // namespace mrclab::lab
