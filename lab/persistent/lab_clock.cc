#include "lab/persistent/lab_clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "fabric/node/effect_text.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/enum_words.h"
#include "fabric/text/yaml.h"
#include "lab/persistent/clock_text.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

using netio::ClockPage;
using netio::LabTime;
using nlohmann::json;

/// While stepping the clock stands this far ahead of the limit: moving it takes effect only
/// ClockPage::kLeadNs later, too long to wait for at every event.
constexpr FabricTime kClockAhead = FabricTime::from_us(2);
/// A run to an instant ends this early and the clock jumps the rest, so that it does not overshoot
/// between two looks.
constexpr int64_t kBrakeNs = ClockPage::kLeadNs + 10'000'000;

}  // namespace

LabClock::LabClock(LiveLab& lab, const Topology& topology, bool exact)
    : lab_(lab),
      topology_(topology),
      exact_(exact),
      lookahead_(shortest_lookahead(topology)),
      watch_(lab) {}

void LabClock::start(bool paused) {
  if (paused) lab_.set_limit(netio::kBeforeTime);
  lab_.start();
  if (paused) lab_.pause();
  state_ = paused ? State::kStanding : State::kRunning;
  finish(paused ? "standing" : "running");
}

void LabClock::begin_order() {
  if (!outcome_.is_null()) earlier_.emplace_back(ticket_, outcome_);
  if (earlier_.size() > kOutcomes) earlier_.pop_front();
  ++ticket_;
  outcome_ = nullptr;
  pending_.reset();
  fault_at_.reset();
  stepper_.reset();
}

void LabClock::pause() {
  if (state_ == State::kStopping && !pending_) return;
  begin_order();
  stop();
}

void LabClock::stop() {
  const Quiesce quiesce(lab_.commits());
  if (!lab_.paused()) lab_.pause();
  const FabricTime limit = std::min(lab_.limit(), quiesce.last_commit());
  // A process may have committed by the clock as it was before lab_.pause(),
  // and be ahead of it now.
  const LabTime now = LabTime::now();
  ClockPage& clock = lab_.gate().clock;
  if (clock.fabric_at(now + ClockPage::kLeadNs) < limit) clock.jump(limit, {0}, now);
  lab_.set_limit(limit);
  state_ = State::kStopping;
}

void LabClock::resume() {
  begin_order();
  watch_.stop();
  lab_.set_limit(FabricTime::never());
  if (lab_.paused()) lab_.resume();
  state_ = State::kRunning;
  finish("running");
}

void LabClock::until(FabricTime at) {
  const Quiesce quiesce(lab_.commits());
  const FabricTime passed = quiesce.last_commit();
  if (at < passed) {
    throw InputError(fmt::format("the lab is at {} already; fabric time does not go back",
                                 in_microseconds(std::max(passed, FabricTime::zero()))));
  }
  begin_order();
  watch_.stop();
  run_to(at);
}

void LabClock::run_to(FabricTime limit) {
  lab_.set_limit(limit);
  if (lab_.paused()) lab_.resume();
  state_ = State::kUntil;
}

void LabClock::step(const StepOrder& order) {
  if (!exact_) {
    throw InputError("in this fabric the kernel forwards: it has no events to step to");
  }
  begin_order();
  pending_ = order;
  stop();
}

void LabClock::begin_step() {
  if (pending_->fault) return begin_fault_step();
  watch_.start(pending_->filter);
  const FabricTime from = lab_.limit();
  start_stepper({from, lookahead_, pending_->count, from + kMaxStep});
}

void LabClock::begin_fault_step() {
  const FabricTime from = lab_.limit();
  if (!fault_at_) {
    uint64_t instants = 0;
    for (const ScheduledEffect& effect : lab_.schedule()) {
      if (effect.at <= from || effect.at == fault_at_) continue;
      fault_at_ = effect.at;
      if (++instants == pending_->count) break;
    }
    if (instants < pending_->count) {
      return fail(
          fmt::format("only {} of the fault schedule left", counted_noun(instants, "instant")));
    }
  }
  // At full speed to just before it, and that one instant watched.
  if (from < *fault_at_ - kPicosecond) return run_to(*fault_at_ - kPicosecond);
  watch_.start(pending_->filter);
  start_stepper({from, lookahead_, Stepper::kMaxStrides, *fault_at_});
}

void LabClock::start_stepper(const StepGoal& goal) {
  if (!lab_.paused()) lab_.pause();
  stepper_.emplace(goal);
  state_ = State::kStepping;
}

void LabClock::apply_order() {
  if (state_ == State::kRunning || state_ == State::kStanding) return;
  const FabricTime slowest = lab_.gate().slowest_done();
  if (slowest == FabricTime::never()) return fail("no process of the lab is left");
  if (pending_) {
    if (const std::string lost = lost_process(); !lost.empty()) return fail(lost);
  }
  try {
    if (state_ == State::kStepping) return look_at_steps();
    if (state_ == State::kUntil) brake();
    if (slowest >= lab_.limit()) arrive();
  } catch (const netio::SystemError&) {
    // A daemon does not answer. Asked again at the next look; supervision takes it out of the gate
    // soon if it is dead or stopped.
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

void LabClock::brake() {
  const LabTime now = LabTime::now();
  if (lab_.paused() || lab_.gate().clock.fabric_at(now + kBrakeNs) < lab_.limit()) return;
  lab_.pause();
  lab_.gate().clock.jump(lab_.limit(), {0}, now);
}

void LabClock::arrive() {
  if (pending_) return begin_step();
  finish("standing");
}

void LabClock::look_at_steps() {
  const netio::GatePage& gate = lab_.gate();
  stepper_->advance_view({gate.slowest_done(), gate.quiet(), gate.watched_records()});
  if (stepper_->limit() > lab_.limit()) raise_limit(stepper_->limit());
  switch (stepper_->result()) {
    case Stepper::Result::kUnderWay: return;
    case Stepper::Result::kFound: return finish("found");
    case Stepper::Result::kAtMost: return finish(pending_->fault ? "found" : "at_most");
    case Stepper::Result::kNothingPending: return finish("nothing_pending");
    case Stepper::Result::kTooManyStrides: return finish("too_many");
  }
}

void LabClock::raise_limit(FabricTime limit) {
  const LabTime now = LabTime::now();
  ClockPage& clock = lab_.gate().clock;
  if (clock.fabric_at(now + ClockPage::kLeadNs) < limit) clock.jump(limit + kClockAhead, {0}, now);
  lab_.set_limit(limit);
}

void LabClock::finish(const char* result) {
  outcome_ = {{"result", result}};
  if (stepper_) {
    outcome_.update(watch_.take_records());
    outcome_["instants"] = stepper_->instants();
  }
  if (fault_at_) {
    outcome_["effects"] = json::array();
    std::set<uint32_t> faults;
    for (const ScheduledEffect& effect : lab_.schedule()) {
      if (effect.at != *fault_at_) continue;
      outcome_["effects"].push_back(describe(topology_, effect.effect));
      faults.insert(effect.fault);
    }
    outcome_["fault_numbers"] = faults;
  }
  pending_.reset();
  if (state_ != State::kRunning) state_ = State::kStanding;
}

void LabClock::fail(const std::string& problem) {
  outcome_ = {{"result", "failed"}, {"problem", problem}};
  pending_.reset();
  // Some processes may still be behind, but none goes further.
  if (!lab_.paused()) lab_.pause();
  state_ = State::kStanding;
}

std::string LabClock::lost_process() const {
  for (uint32_t i = 0; i < lab_.gate().process_count; ++i) {
    if (netio::in_gate(lab_.gate().state(i))) continue;
    const auto& faults = lab_.outside_faults().kept();
    return fmt::format("single steps need every process, but {} is gone{}",
                       lab_.plan().processes[i].name,
                       faults.empty() ? "" : ": " + faults.front().what);
  }
  return "";
}

json LabClock::state(std::optional<uint64_t> ticket) const {
  static constexpr auto kNames = words_by_value<State>({{State::kRunning, "running"},
                                                        {State::kUntil, "until"},
                                                        {State::kStopping, "stopping"},
                                                        {State::kStepping, "stepping"},
                                                        {State::kStanding, "standing"}});
  json state{{"state", kNames[static_cast<size_t>(state_)]},
             {"fabric_ps", lab_.now().ps()},
             {"dilation", lab_.dilation()},
             {"ticket", ticket_}};
  if (state_ == State::kUntil) state["until_ps"] = lab_.limit().ps();
  if (!outcome_.is_null()) state["outcome"] = outcome_;
  if (!ticket || *ticket == ticket_) return state;
  for (const auto& [earlier, outcome] : earlier_) {
    if (earlier == *ticket) state.update({{"ticket", earlier}, {"outcome", outcome}});
  }
  return state;
}

}  // namespace mrclab::lab
