#include "job/attempt/job_launcher.h"

#include <algorithm>
#include <utility>

#include "job/attempt/attempts.h"

namespace mrclab::job {
namespace {

// 3 bits the kind, 3 the attempt, 16 and 10 the numbers.
constexpr uint32_t kBitsOfB = 10, kBitsOfA = 16, kBitsOfAttempt = 3;
static_assert(kMaxSteps < 1u << kBitsOfA && kMaxRanks <= 1u << kBitsOfA &&
              kMaxSpares <= 1u << kBitsOfB && kMaxAttempts < 1u << kBitsOfAttempt);

constexpr uint32_t low(uint32_t value, uint32_t bits) { return value & ((1u << bits) - 1); }

}  // namespace

uint32_t bits_of(const LauncherWord& word) {
  uint32_t bits = static_cast<uint32_t>(word.kind);
  bits = bits << kBitsOfAttempt | low(word.attempt, kBitsOfAttempt);
  bits = bits << kBitsOfA | low(word.a, kBitsOfA);
  return bits << kBitsOfB | low(word.b, kBitsOfB);
}

std::optional<LauncherWord> word_of(uint32_t bits) {
  const uint32_t kind = bits >> (kBitsOfB + kBitsOfA + kBitsOfAttempt);
  if (kind > static_cast<uint32_t>(LauncherWord::Kind::kAsk)) return std::nullopt;
  const LauncherWord word{static_cast<LauncherWord::Kind>(kind),
                          low(bits >> (kBitsOfB + kBitsOfA), kBitsOfAttempt),
                          low(bits >> kBitsOfB, kBitsOfA), low(bits, kBitsOfB)};
  if (word.kind == LauncherWord::Kind::kAsk && (word.a > 1 || word.b > 0)) return std::nullopt;
  return word;
}

std::vector<uint32_t> JobLosses::hosts(const JobSpec& spec) const {
  std::vector<uint32_t> all;
  if (dropped.empty()) {
    all = spec.hosts;
  } else {
    for (const uint32_t rank : ranks_without(spec, dropped)) all.push_back(spec.hosts[rank]);
  }
  for (const auto& [rank, spare] : replaced) all.at(rank) = spec.on_error->spares.at(spare);
  return all;
}

JobLauncher::JobLauncher(const JobSpec& spec, uint32_t later)
    : spec_(spec),
      on_(*spec.on_error),
      later_(later),
      together_(on_.action == OnError::Action::kShrink ? replicas_together(spec) : 1),
      hosts_(spec.hosts) {}

std::vector<uint32_t> JobLauncher::each_host() const {
  std::vector<uint32_t> each;
  std::set<uint32_t> found;
  for (const uint32_t host : hosts_) {
    if (found.insert(host).second) each.push_back(host);
  }
  return each;
}

void JobLauncher::start(FabricTime now, LauncherHost& io) {
  if (!on_.heartbeat) return;
  ask_at_ = now + scaled(*on_.heartbeat);
  io.wake_at(ask_at_);
}

/// Whoever has not answered by now ends the attempt: which hosts are lost is found out by ending all.
void JobLauncher::ask(FabricTime now, LauncherHost& io) {
  ask_at_ = FabricTime::never();
  if (state_ != State::kRunning) return;  // go() asks again
  if (!asked_.empty()) {
    const uint32_t silent = *asked_.begin();
    asked_.clear();
    return end_attempt(silent, now, io);
  }
  for (const uint32_t host : hosts_) {
    if (ended_.contains(host) || !asked_.insert(host).second) continue;
    io.tell(host, line_of_[host], {LauncherWord::Kind::kAsk, attempt_});
  }
  if (!asked_.empty()) start(now, io);
}

void JobLauncher::on_word(uint32_t host, const LauncherWord& word, FabricTime now,
                          LauncherHost& io) {
  if (word.kind == LauncherWord::Kind::kAsk) {
    if (word.attempt != attempt_) return;
    asked_.erase(host);
    if (word.a != 0) ended_.insert(host);
    return;
  }
  if (word.kind == LauncherWord::Kind::kError) {
    if (state_ == State::kRunning && word.attempt == attempt_) end_attempt(host, now, io);
    return;
  }
  if (word.kind != LauncherWord::Kind::kReady || state_ != State::kPreparing) return;
  if (word.attempt != turn().next) return;
  if (std::find(hosts_.begin(), hosts_.end(), host) == hosts_.end()) return;
  ready_[host] = word.a;
  if (ready_.size() == each_host().size()) go(now, io);
}

void JobLauncher::end_attempt(uint32_t reporter, FabricTime now, LauncherHost& io) {
  JobTurn& turn = turns_.emplace_back();
  turn.attempt = attempt_;
  turn.reporter = reporter;
  turn.reported = now;
  state_ = State::kEnding;
  silent_ = {hosts_.begin(), hosts_.end()};
  if (on_.answer > FabricTime::zero()) {
    due_ = now + scaled(on_.answer);
    io.wake_at(due_);
  }
  for (const uint32_t host : each_host()) {
    io.tell(host, line_of_[host], {LauncherWord::Kind::kEnd, attempt_});
  }
}

void JobLauncher::on_told(uint32_t host, FabricTime now, LauncherHost& io) {
  if (state_ != State::kEnding || silent_.erase(host) == 0 || !silent_.empty()) return;
  on_ended(now, io);
}

void JobLauncher::on_unreachable(uint32_t host, uint32_t line, FabricTime now, LauncherHost& io) {
  if (line != line_of_[host]) return;
  ++line_of_[host];
  if (state_ == State::kEnding && silent_.erase(host) > 0) {
    turn().lost.push_back(host);
    if (silent_.empty()) on_ended(now, io);
  } else if (state_ == State::kPreparing && !ready_.contains(host) &&
             std::find(hosts_.begin(), hosts_.end(), host) != hosts_.end()) {
    prepare_host(host, io);
  }
}

void JobLauncher::on_wake(FabricTime now, LauncherHost& io) {
  if (now >= ask_at_) ask(now, io);
  if (now < due_) return;
  due_ = FabricTime::never();
  if (state_ == State::kEnding) {
    turn().lost.insert(turn().lost.end(), silent_.begin(), silent_.end());
    silent_.clear();
    on_ended(now, io);
  } else if (state_ == State::kWaiting) {
    prepare(now, io);
  }
}

void JobLauncher::on_ended(FabricTime now, LauncherHost& io) {
  std::sort(turn().lost.begin(), turn().lost.end());
  turn().ended = now;
  due_ = FabricTime::never();
  if (!on_.goes_on()) return give_up("all ranks end with the first");
  if (attempt_ == later_) return give_up("no attempt is left");
  state_ = State::kWaiting;
  due_ = now + scaled(on_.restart.value_or(FabricTime::zero()));
  if (due_ == now) return on_wake(now, io);
  io.wake_at(due_);
}

void JobLauncher::place() {
  const std::set<uint32_t> lost(turn().lost.begin(), turn().lost.end());
  if (on_.action == OnError::Action::kRestart) {
    turn().next = attempt_ + 1;
    std::map<uint32_t, uint32_t> spare_of;  // by lost host: all of its ranks go there
    for (uint32_t rank = 0; rank < hosts_.size(); ++rank) {
      if (!lost.contains(hosts_[rank])) continue;
      auto spare = spare_of.find(hosts_[rank]);
      if (spare == spare_of.end()) {
        // Where no spare is left the host may come back: its lines are tried.
        if (spares_used_ == on_.spares.size()) continue;
        spare = spare_of.emplace(hosts_[rank], spares_used_++).first;
      }
      losses_.replaced[rank] = spare->second;
    }
  } else {
    const std::vector<uint32_t> stayed = ranks_without(spec_, losses_.dropped);
    for (uint32_t rank = 0; rank < hosts_.size(); ++rank) {
      // Where every host answers, whoever reported the error leaves.
      const bool leaves =
          lost.empty() ? hosts_[rank] == turn().reporter : lost.contains(hosts_[rank]);
      if (!leaves) continue;
      const uint32_t first = replica_of(spec_, stayed[rank]) / together_ * together_;
      for (uint32_t i = 0; i < together_; ++i) losses_.dropped.insert(first + i);
    }
    turn().next = static_cast<uint32_t>(losses_.dropped.size()) / together_;
  }
}

void JobLauncher::prepare(FabricTime, LauncherHost& io) {
  place();
  if (turn().next > later_ || turn().next == attempt_) {
    turn().next = 0;
    return give_up("no attempt is left without so many replicas");
  }
  hosts_ = losses_.hosts(spec_);
  ready_.clear();
  state_ = State::kPreparing;
  for (const uint32_t host : each_host()) {
    if (state_ == State::kPreparing) prepare_host(host, io);
  }
}

void JobLauncher::prepare_host(uint32_t host, LauncherHost& io) {
  const uint32_t line = line_of_[host], next = turn().next;
  if (line >= kLines) {
    turn().next = 0;
    return give_up("a host does not answer any more");
  }
  for (const auto& [rank, spare] : losses_.replaced) {
    io.tell(host, line, {LauncherWord::Kind::kReplace, next, rank, spare});
  }
  for (const uint32_t replica : losses_.dropped) {
    io.tell(host, line, {LauncherWord::Kind::kDrop, next, replica});
  }
  io.tell(host, line, {LauncherWord::Kind::kPrepare, next});
}

void JobLauncher::go(FabricTime now, LauncherHost& io) {
  const bool restarts = on_.action == OnError::Action::kRestart;
  uint32_t step = ready_.begin()->second;
  for (const auto& [host, can] : ready_)
    step = restarts ? std::max(step, can) : std::min(step, can);
  attempt_ = turn().next;
  turn().begun = now;
  turn().from_step = step;
  turn().hosts = hosts_;
  state_ = State::kRunning;
  asked_.clear();
  ended_.clear();
  start(now, io);
  for (const uint32_t host : each_host()) {
    io.tell(host, line_of_[host], {LauncherWord::Kind::kGo, attempt_, step});
  }
}

void JobLauncher::give_up(std::string why) {
  turn().gave_up = std::move(why);
  state_ = State::kOver;
}

}  // namespace mrclab::job
