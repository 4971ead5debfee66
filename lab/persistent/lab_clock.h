#pragma once
// The time of a persistent lab: running, running to an instant, standing, or stepping to the next
// event. Every order gets a ticket; state() has the result of the last one, for a client that asks
// again and again. No call waits inside the lab.
//
//   running --pause--> stopping --(all there)--> standing --step--> stepping --(found)--> standing
//      ^ `-----until----> until ---(all there)---^  |  ^------------------------------------'
//      '------------------resume---------------------'
//
// Standing means that every process has committed exactly to one instant, which is the limit; the
// clock stands there too, so that processes have nothing to catch up with on resume.

#include <deque>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "fabric/node/effect.h"
#include "lab/persistent/daemon_watch.h"
#include "lab/persistent/stepper.h"
#include "live/world/live_lab.h"

namespace mrclab::lab {

/// What a single step goes to.
struct StepOrder {
  RecordFilter filter;  ///< the next instant at which something is recorded that matches
  bool fault = false;   ///< the next instant of the fault schedule instead
  uint64_t count = 1;   ///< so many of these
};

class LabClock {
 public:
  /// A step gives up this much fabric time later.
  static constexpr FabricTime kMaxStep = FabricTime::from_ms(10);
  static constexpr size_t kOutcomes = 16;

  /// `exact`: the packets carry the time, so steps are possible.
  LabClock(LiveLab& lab, const Topology& topology, bool exact);

  /// Lets time start, or stands before it does.
  void start(bool paused);
  // Orders; each replaces the one before. Throw InputError for what cannot be.
  /// A pause while the lab is already stopping joins that order and changes nothing.
  void pause();
  void resume();
  void until(FabricTime at);
  void step(const StepOrder& order);

  /// A rule of the lab's loop (live/world/lab_loop.h).
  void apply_order();
  /// Needs apply_order() at once rather than in a few milliseconds.
  bool busy() const { return state_ == State::kStepping; }
  /// Every process has committed exactly to LiveLab::limit(), or the order has failed.
  bool standing() const { return state_ == State::kStanding; }
  /// The instant that relative times count from.
  FabricTime now() const { return lab_.now(); }

  /// {"state": running | until | stopping | stepping | standing, "fabric_ps", "until_ps"?,
  /// "dilation", "ticket", "outcome"?}; the outcome is there when the ticket's order is done:
  /// {"result", "problem"?, "effects"?, "fault_numbers"?, "instants"?, "records"?, "left_out"?}.
  /// If a ticket is named, its outcome is in the answer as long as it is among the last kOutcomes.
  nlohmann::json state(std::optional<uint64_t> ticket = {}) const;

 private:
  enum class State : uint8_t { kRunning, kUntil, kStopping, kStepping, kStanding };

  void begin_order();
  void stop();
  void run_to(FabricTime limit);
  void begin_step();
  void begin_fault_step();
  void start_stepper(const StepGoal& goal);
  void look_at_steps();
  void raise_limit(FabricTime limit);
  void brake();
  void arrive();
  void finish(const char* result);
  void fail(const std::string& problem);
  std::string lost_process() const;

  LiveLab& lab_;
  const Topology& topology_;
  bool exact_;
  FabricTime lookahead_;
  DaemonWatch watch_;
  State state_ = State::kStanding;
  std::optional<StepOrder> pending_;  ///< a step that is under way, or waits for the lab to stand
  std::optional<FabricTime> fault_at_;
  std::optional<Stepper> stepper_;
  uint64_t ticket_ = 0;
  nlohmann::json outcome_;  ///< null while the last order is being carried out
  std::deque<std::pair<uint64_t, nlohmann::json>> earlier_;  ///< ticket and outcome, the last ones
};

}  // namespace mrclab::lab
