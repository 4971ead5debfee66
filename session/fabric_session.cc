#include "session/fabric_session.h"

#include <algorithm>

#include "endpoint/options/transport_choice.h"
#include "fabric/packet/drop_kind.h"
#include "faults/schedule.h"
#include "scenario/simulation/work_end.h"
#include "scenario/spec/contrast.h"
#include "scenario/spec/expectation_check.h"
#include "scenario/spec/transport_fit.h"
#include "session/recording/first_racks.h"
#include "session/session_export.h"
#include "session/simulated_branch.h"

namespace mrclab::lab {
namespace {

bool is_about(const SeenPacket& packet, StepTo to, std::optional<Qpn> qp) {
  const bool lost =
      packet.event == PacketEvent::kDropped && drop_kind(packet.cause) != DropKind::kRefused;
  if (to == StepTo::kLoss && !lost) return false;
  return !qp || packet.qp == *qp;
}

bool is_about(const SeenEvent& event, StepTo to, std::optional<Qpn> qp) {
  if (to == StepTo::kPath && !event.kind.starts_with("ev_")) return false;
  return event.qp && (!qp || *event.qp == *qp);
}

bool of_packets(StepTo to) { return to == StepTo::kPacket || to == StepTo::kLoss; }

}  // namespace

Scenario with_transport(Scenario scenario, const std::string& options) {
  const YamlValue text = read_yaml_text(options, "options").with_rtt(scenario.topology.base_rtt);
  scenario.transport = endpoint::parse_transport(text, scenario.topology);
  fit_fabric_to_transport(scenario);
  // As `run --transport` does: what this transport has not, no check of its file can ask for.
  leave_out_impossible(scenario);
  return scenario;
}

FabricSession::FabricSession(Scenario scenario)
    : FabricSession(scenario, std::make_unique<SimulatedBranch>(played_to_its_end(scenario))) {}

FabricSession::FabricSession(Scenario scenario, std::unique_ptr<Branch> first)
    : base_(with_open_end(std::move(scenario))), scenario_(base_), branch_(std::move(first)) {
  for (const faults::Fault& fault : base_.faults) faults_.push_back({fault});
  if (branch_->tally() == nullptr) look_ahead(kAhead);
}

// --- time ----------------------------------------------------------------------------------------

void FabricSession::look_ahead(FabricTime until, const GoOn& go_on) {
  branch_->reach(until, go_on);
  if (other_) other_->reach(until, go_on);
}

void FabricSession::seek(FabricTime at, const GoOn& go_on) {
  goal_.reset();
  at = std::clamp(at, FabricTime::zero(), end());
  if (at < at_) {
    at_newest_ = false;
    keep_packets_of(at, go_on);
  } else if (at + kAhead >= branch_->reached()) {
    at_newest_ = true;
  }
  look_ahead(at + kAhead, go_on);
  at_ = std::min(at, branch_->reached());
}

void FabricSession::aim(FabricTime at, const GoOn& go_on) {
  if (branch_->tally() == nullptr) return seek(at, go_on);
  goal_ = std::clamp(at, FabricTime::zero(), end());
  at_ = std::min(*goal_, branch_->reached());
  if (branch_->reached() >= std::min(*goal_ + kAhead, end())) goal_.reset();
}

bool FabricSession::pursue(const GoOn& go_on) {
  if (!goal_) return false;
  const FabricTime goal = *goal_;
  branch_->reach(goal + kAhead, go_on);
  aim(goal);
  return true;
}

bool FabricSession::survey(const GoOn& go_on) {
  if (branch_->world() != BranchWorld::kSimulated || branch_->reached() >= end()) return false;
  if (branch_->tally() != nullptr) {
    // It is the world itself that goes on, as long as it keeps the packets that it has.
    const Recording& recording = branch_->recording();
    if (recording.kept_packets() > recording.max_packets() / 10 * 9) return false;
    const FabricTime bin = branch_->recording().bin();
    branch_->reach(branch_->reached() + bin, go_on);
    return branch_->reached() < end();
  }
  if (surveyed_ != number_) {
    survey_ = branch_->another(scenario_);
    surveyed_ = number_;
  }
  survey_->reach(end(), go_on);
  return survey_->reached() < end();
}

const Recording& FabricSession::known() const {
  const bool further = survey_ && surveyed_ == number_ &&
                       survey_->recording().complete_bins() > branch_->recording().complete_bins();
  return further ? survey_->recording() : branch_->recording();
}

bool FabricSession::look_after() {
  if (other_) other_->look_after();
  const bool changed = branch_->look_after();
  if (changed) take_faults_of_now(at_, {});
  return changed;
}

/// Simulates again where the packets around `t` were left out for lack of room. Another kind of world keeps to
/// what it has.
void FabricSession::keep_packets_of(FabricTime t, const GoOn& go_on) {
  const Recording& recording = branch_->recording();
  const FabricTime from = std::max(t - kAhead, FabricTime::zero());
  if (recording.bin_of(from) >= recording.first_kept()) return;
  if (branch_->world() != BranchWorld::kSimulated || branch_->tally() != nullptr) return;
  auto again = branch_->another(scenario_);
  again->reach(t + kAhead, go_on);
  branch_ = std::move(again);
}

std::optional<FabricTime> FabricSession::nearest_in(StepTo to, bool back, FabricTime from,
                                                    FabricTime until, std::optional<Qpn> qp) const {
  const Recording& recording = branch_->recording();
  std::optional<FabricTime> best;
  const auto take = [&](FabricTime t) {
    const bool is_in = back ? from <= t && t < until : from < t && t <= until;
    if (is_in && (!best || (back ? t > *best : t < *best))) best = t;
  };
  if (to == StepTo::kFault) {
    for (const ScheduledEffect& effect : branch_->scenario().schedule) take(effect.at);
  } else if (of_packets(to)) {
    const size_t first = recording.bin_of(from), last = recording.bin_of(until);
    for (size_t i = 0; first + i <= last && !best; ++i) {
      for (const SeenPacket& packet : recording.packets(back ? last - i : first + i)) {
        if (is_about(packet, to, qp)) take(packet.t);
      }
    }
  } else {
    for (const SeenEvent& event : recording.events()) {
      if (is_about(event, to, qp)) take(event.t);
    }
  }
  return best;
}

bool FabricSession::step(StepTo to, bool back, std::optional<Qpn> qp, const GoOn& go_on) {
  if (back) {
    const bool packets = of_packets(to);
    FabricTime until = at_;
    while (true) {
      if (packets) keep_packets_of(until, go_on);
      const Recording& recording = branch_->recording();
      const FabricTime kept = packets
                                  ? recording.bin() * static_cast<int64_t>(recording.first_kept())
                                  : FabricTime::zero();
      if (const auto found = nearest_in(to, true, kept, until, qp)) {
        seek(*found, go_on);
        return true;
      }
      if (kept <= FabricTime::zero() || kept >= until) break;
      until = kept;
    }
    seek(FabricTime::zero(), go_on);
    return false;
  }
  FabricTime from = at_;
  while (true) {
    // What left a port with its last bit later than reached() is recorded already, perhaps not all of it.
    if (const auto found = nearest_in(to, false, from, branch_->reached(), qp)) {
      seek(*found, go_on);
      return true;
    }
    if (branch_->reached() >= end() || branch_->tally() != nullptr) break;
    const FabricTime before = branch_->reached();
    look_ahead(before + branch_->recording().bin(), go_on);
    if (branch_->reached() == before || (go_on && !go_on(before))) break;
    from = std::max(from, before);
  }
  seek(branch_->reached(), go_on);
  return false;
}

// --- changes -------------------------------------------------------------------------------------

Scenario FabricSession::with_faults(Scenario scenario,
                                    const std::vector<BookedFault>& faults) const {
  scenario.faults.clear();
  for (const BookedFault& entry : faults) {
    if (entry.fault.healed > entry.fault.at) scenario.faults.push_back(entry.fault);
  }
  return scenario;
}

/// The faults as they were at at(): nothing of what was done by hand at a later instant.
std::vector<BookedFault> FabricSession::without_later_changes() const {
  std::vector<BookedFault> kept;
  for (size_t i = 0; i < faults_.size(); ++i) {
    BookedFault entry = faults_[i];
    if (entry.source == FaultSource::kHand && entry.fault.at > at_) continue;
    if (entry.fault.healed > at_ && entry.fault.healed != FabricTime::never()) {
      entry.fault.healed = i < base_.faults.size() ? base_.faults[i].healed : FabricTime::never();
    }
    kept.push_back(std::move(entry));
  }
  return kept;
}

void FabricSession::begin_again(Scenario scenario, std::vector<BookedFault> faults,
                                std::vector<uint32_t> racks) {
  branch_->begin_again(scenario, std::move(racks));
  scenario_ = std::move(scenario);
  faults_ = std::move(faults);
  number_ = ++newest_;
  aim(at_);
}

void FabricSession::follow(std::vector<uint32_t> racks) {
  const Topology& topology = scenario_.topology;
  if (branch_->tally() == nullptr) throw InputError("every rack is followed here");
  const uint32_t most = most_racks(topology);
  if (racks.empty() || racks.size() > most) {
    throw InputError("found " + std::to_string(racks.size()) + " racks to follow: expected 1 to " +
                     std::to_string(most));
  }
  for (const uint32_t rack : racks) {
    if (rack < topology.t0_per_plane) continue;
    throw InputError("found the rack " + std::to_string(rack) + ": the fabric has " +
                     std::to_string(topology.t0_per_plane));
  }
  std::sort(racks.begin(), racks.end());
  racks.erase(std::unique(racks.begin(), racks.end()), racks.end());
  begin_again(scenario_, faults_, std::move(racks));
}

void FabricSession::change(Scenario scenario, std::vector<BookedFault> faults, bool fork,
                           const GoOn& go_on) {
  scenario = with_faults(std::move(scenario), faults);
  if (branch_->tally() != nullptr) {
    if (fork) {
      throw InputError(
          "a fabric of this size is simulated once, and has no second branch: change it without a fork");
    }
    return begin_again(std::move(scenario), std::move(faults),
                       std::vector(branch_->recording().part().racks()));
  }
  auto next = branch_->another(scenario);
  next->reach(at_ + kAhead, go_on);
  if (next->reached() < std::min(at_ + kAhead, next->end())) {
    const std::optional<RecordsCut> cut = next->records_cut();
    throw InputError((cut ? cut->why : "stopped") + ": nothing was changed");
  }
  if (fork) {
    other_ = std::move(branch_);
    other_scenario_ = std::move(scenario_);
    other_faults_ = std::move(faults_);
    other_number_ = number_;
    forked_at_ = at_;
  }
  branch_ = std::move(next);
  scenario_ = std::move(scenario);
  faults_ = std::move(faults);
  number_ = ++newest_;
}

bool FabricSession::keep_other_of_now(const GoOn& go_on) {
  auto left = std::make_unique<SimulatedBranch>(scenario_);
  left->reach(branch_->reached(), go_on);
  if (left->reached() < branch_->reached()) return false;
  other_ = std::move(left);
  other_scenario_ = scenario_;
  other_faults_ = faults_;
  other_number_ = ++newest_;
  forked_at_ = branch_->reached();
  return true;
}

void FabricSession::take_faults_of_now(FabricTime moved_to, const GoOn& go_on) {
  faults_ = branch_->fault_injector()->booked();
  scenario_ = with_faults(scenario_, faults_);
  seek(moved_to, go_on);
}

void FabricSession::require_open() const {
  if (const std::optional<RecordsCut> cut = branch_->records_cut()) {
    throw InputError(cut->why + ": go back before you change anything");
  }
}

uint32_t FabricSession::break_it(const FaultOrder& order, bool fork, const GoOn& go_on) {
  if (FaultInjector* now = faults_now()) {
    require_open();
    if (at_ >= end()) throw InputError("the scenario has ended: go back before you break it");
    if (fork && !keep_other_of_now(go_on)) throw InputError("stopped: nothing was broken");
    const uint32_t number = now->break_now(order);
    take_faults_of_now(now->booked().at(number).fault.at, go_on);
    return number;
  }
  std::vector<BookedFault> faults = without_later_changes();
  const auto by_hand = std::count_if(faults.begin(), faults.end(), [](const BookedFault& entry) {
    return entry.source == FaultSource::kHand;
  });
  if (static_cast<size_t>(by_hand) >= kMaxHandFaults || faults.size() >= faults::kMaxFaults) {
    throw InputError("this session has had " + std::to_string(faults.size()) +
                     " faults: no more fit");
  }
  if (at_ >= end()) throw InputError("the scenario has ended: go back before you break it");
  // Draws of random() differ from fault to fault, as they do in a file.
  NameResolver names(scenario_.topology, scenario_.seed + faults.size());
  faults.push_back({fault_of(order, at_, names), FaultSource::kHand});
  const auto number = static_cast<uint32_t>(faults.size() - 1);
  change(scenario_, std::move(faults), fork, go_on);
  return number;
}

std::vector<uint32_t> FabricSession::heal(const std::string& word, bool fork, const GoOn& go_on) {
  if (FaultInjector* now = faults_now()) {
    require_open();
    if (fork && !keep_other_of_now(go_on)) throw InputError("stopped: nothing was healed");
    const std::vector<uint32_t> healed = now->heal_now(word);
    take_faults_of_now(branch_->reached(), go_on);
    return healed;
  }
  std::vector<BookedFault> faults = without_later_changes();
  FaultBook book(scenario_.topology, {});
  for (const BookedFault& entry : faults) book.book_fault(entry);
  const std::vector<uint32_t> chosen = book.select(word, at_);
  if (chosen.empty()) return chosen;
  for (const uint32_t number : chosen) book.heal(number, at_);
  for (uint32_t i = 0; i < faults.size(); ++i) faults[i] = book.entries().at(i);
  change(scenario_, std::move(faults), fork, go_on);
  return chosen;
}

void FabricSession::use_transport(const std::string& name, bool fork, const GoOn& go_on) {
  const ContrastName found = find_contrast(base_, name);
  if (found.on_fat_twin) {
    throw InputError("found " + in_quotes(name) + ", on another fabric: expected one on this");
  }
  change(under_transport(base_, found), faults_, fork, go_on);
}

void FabricSession::set_options(const std::string& options, bool fork, const GoOn& go_on) {
  change(with_transport(base_, options), faults_, fork, go_on);
}

void FabricSession::swap() {
  if (!other_) throw InputError("there is one branch only: fork first");
  std::swap(branch_, other_);
  std::swap(scenario_, other_scenario_);
  std::swap(faults_, other_faults_);
  std::swap(number_, other_number_);
  look_ahead(at_ + kAhead);
}

void FabricSession::drop_other() {
  other_.reset();
  other_number_ = 0;
}

std::string FabricSession::yaml() const {
  std::map<uint32_t, BookedFault> entries;
  for (uint32_t i = 0; i < faults_.size(); ++i) entries[i] = faults_[i];
  return session_yaml(scenario_, entries, end());
}

std::optional<FirstDifference> FabricSession::difference(const GoOn& go_on) {
  if (!other_) throw InputError("there is one branch only: fork first");
  const FabricTime until = std::max(branch_->reached(), other_->reached());
  look_ahead(until, go_on);
  return first_difference(branch_->recording(), other_->recording(),
                          std::min(branch_->reached(), other_->reached()));
}

}  // namespace mrclab::lab
