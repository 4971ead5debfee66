#include "verbs/server/held/held_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace mrclab::verbs {
namespace {

constexpr FabricTime kNever = FabricTime::never();

/// What a program calls an instant, as one: nothing that is computed with it overflows.
FabricTime instant_of(uint64_t ps) {
  return ps >= static_cast<uint64_t>(INT64_MAX / 4) ? kNever
                                                    : FabricTime::from_ps(static_cast<int64_t>(ps));
}

std::span<const uint8_t> bytes_of(const auto& value) {
  return {reinterpret_cast<const uint8_t*>(&value), sizeof value};
}

}  // namespace

FabricTime HeldProgram::poll_time(uint32_t in_a_row) {
  constexpr int64_t kLeast = 50'000, kMost = 1'000'000'000;  // picoseconds
  constexpr uint32_t kSteps = 32;  // of a doubling, straight in between: every machine has the same
  const uint32_t doublings = std::min(in_a_row / kSteps, 15u);
  const int64_t base = kLeast << doublings;
  return FabricTime::from_ps(std::min(base + base * (in_a_row % kSteps) / kSteps, kMost));
}

HeldProgram::HeldProgram(HeldWorld& world, HostPrograms& programs, const DeclaredProgram& declared,
                         netio::MessageSocket socket, WakeNow wake_now)
    : world_(world),
      declared_(declared),
      socket_(std::move(socket)),
      wake_now_(std::move(wake_now)) {
  session_.emplace(programs, this);
  session_->set_mode(Mode::kHeld);
  HelloReply& hello = session_->hello();
  hello.cost_call_ps = static_cast<uint64_t>(kCallCost.ps());
  hello.cost_clock_ps = static_cast<uint64_t>(kClockCost.ps());
  hello.cost_post_ps = static_cast<uint64_t>(kPostCost.ps());
  hello.cost_poll_ps = static_cast<uint64_t>(kPollCost.ps());
  hello.epoch_ns = kEpochNs;
  hello.seed = declared_.seed;
  hello.program = declared_.number_in_host;
  report_.number = declared_.number;
  report_.host = declared_.host;
}

void HeldProgram::note_change() {
  ++changes_;
  wake_now_();
}

void HeldProgram::on_channel_event(uint32_t channel) {
  note_change();
  channel_changes_[channel] = changes_;
}

void HeldProgram::on_async_event() {
  note_change();
  async_change_ = changes_;
}

FabricTime HeldProgram::next() {
  if (ended()) return kNever;
  const FabricTime next = std::min(session_->next_work(), wall_tick_);
  switch (state_) {
    case State::kDue: return std::min(next, at_);
    case State::kWaiting: return std::min(next, until_);
    case State::kRunning: break;
  }
  return next;
}

void HeldProgram::step(FabricTime now) {
  if (ended()) return;
  if (now != instant_) at_once_ = 0;
  instant_ = now;
  if (!started()) attach(now);
  if (!held_) note_not_held(now);
  while (!ended() && act(now)) {
  }
}

void HeldProgram::attach(FabricTime now) {
  report_.started = reached_ = now;
  state_ = State::kRunning;
  await_request(now);
}

/// Does one thing that is due; false: nothing is.
bool HeldProgram::act(FabricTime now) {
  if (session_->next_work() <= now && session_->take_work(now)) return true;
  session_->deliver();
  if (session_->broken()) {
    end(now);
    return false;
  }
  if (state_ == State::kDue && at_ <= now) {
    make_request(now);
    return true;
  }
  if (state_ != State::kWaiting) return false;
  if (until_ > now && !wait_is_over(now)) return false;
  finish_wait();
  return true;
}

void HeldProgram::wait_until(FabricTime until) {
  state_ = State::kWaiting;
  until_ = until;
}

/// The request takes effect.
void HeldProgram::make_request(FabricTime now) {
  switch (header().op) {
    case Op::kAdvance: {
      const auto* wait = body<WaitRequest>();
      const FabricTime until = wait != nullptr ? instant_of(wait->until_ps) : now;
      return until <= now || until == kNever ? reply(0) : wait_until(until);
    }
    case Op::kWait: {
      const auto* wait = body<WaitRequest>();
      const bool right = wait != nullptr && wait->count <= std::size(wait->handles) &&
                         wait->channels <= wait->count;
      return right ? wait_until(instant_of(wait->until_ps)) : reply(EINVAL);
    }
    case Op::kPollEmpty: {
      const auto* poll = body<PollRequest>();
      return poll != nullptr ? wait_until(now + poll_time(poll->in_a_row)) : reply(EINVAL);
    }
    case Op::kNextEvent: return wait_until(kNever);
    case Op::kSocket: {
      const auto* request = body<SocketRequest>();
      if (request == nullptr) return reply(EINVAL);
      const auto answer = world_.net().handle(declared_.host, declared_.number, *request, now);
      return reply(answer.status, bytes_of(answer.reply));
    }
    case Op::kNotHeld: {
      const auto* why = body<NotHeldRequest>();
      if (why == nullptr) return reply(EINVAL);
      const std::string text(why->why, ::strnlen(why->why, sizeof why->why));
      lose_hold(now, fmt::format("thread {} at {:#x}: {}", why->thread, why->address, text));
      return reply(0);
    }
    case Op::kExit: return end(now);
    default: return send(session_->handle(request_, std::move(descriptors_)));
  }
}

bool HeldProgram::wait_is_over(FabricTime now) {
  switch (header().op) {
    case Op::kAdvance: return until_ <= now;
    case Op::kPollEmpty:
      return seen_ != changes_ || session_->completions_waiting(body<PollRequest>()->cq) > 0;
    case Op::kNextEvent: return seen_ != changes_;
    case Op::kWait: return any_ready(*body<WaitRequest>());
    default: return true;
  }
}

void HeldProgram::finish_wait() {
  if (header().op != Op::kWait) return reply(0);
  reply(0, bytes_of(ready_of(*body<WaitRequest>())));
}

bool HeldProgram::any_ready(const WaitRequest& request) const {
  const WaitReply ready = ready_of(request);
  return ready.ready_async != 0 || ready.count > 0 || (request.memory != 0 && seen_ != changes_);
}

/// A channel or the events are ready if one came since the program went on last: it looks first.
WaitReply HeldProgram::ready_of(const WaitRequest& request) const {
  WaitReply ready{};
  ready.ready_async = request.async != 0 && async_change_ > seen_ ? 1 : 0;
  for (uint32_t i = 0; i < request.count; ++i) {
    const uint32_t handle = request.handles[i];
    bool is_ready = false;
    if (i < request.channels) {
      const auto change = channel_changes_.find(handle);
      is_ready = change != channel_changes_.end() && change->second > seen_;
    } else {
      is_ready = world_.net().ready(declared_.host, {declared_.number, handle});
    }
    if (is_ready) ready.ready[ready.count++] = i;
  }
  return ready;
}

void HeldProgram::reply(int status, std::span<const uint8_t> body) {
  send(session_->answer(header(), status, body));
}

/// The program goes on; returns when it has asked for something again, or is gone.
void HeldProgram::send(const VerbsSession::Answer& answer) {
  state_ = State::kRunning;
  reached_ = instant_;
  seen_ = changes_;
  descriptors_.clear();
  std::vector<int> descriptors;
  for (const netio::FileDescriptor& fd : answer.descriptors) descriptors.push_back(fd.get());
  if (answer.broken) return end(instant_);
  if (!socket_->send(answer.message, descriptors)) return vanish(instant_);
  if (held_) await_request(instant_);
}

void HeldProgram::await_request(FabricTime now) {
  uint32_t beats = 0;
  while (!ended() && held_ && state_ == State::kRunning) {
    if (receive(now, HeldWorld::kBeatMs)) continue;
    if (!world_.go_on()) {
      lose_hold(now, {});
    } else if (++beats >= world_.patience().request) {
      lose_hold(now, fmt::format("it asked for nothing for {} seconds of this machine's",
                                 beats * HeldWorld::kBeatMs / 1000.0));
    }
  }
}

/// Takes a message, if one comes; false: none.
bool HeldProgram::receive(FabricTime now, int wait_ms) {
  using Outcome = netio::MessageSocket::Outcome;
  netio::MessageSocket::Received received = socket_->receive(room_, wait_ms);
  if (received.outcome == Outcome::kNothing) return false;
  descriptors_ = std::move(received.descriptors);
  if (received.outcome != Outcome::kMessage) {
    vanish(now);
  } else if (!take_message(received.size, now)) {
    end(now);
  }
  return true;
}

/// False: nothing that a program of ours sends.
bool HeldProgram::take_message(size_t size, FabricTime now) {
  if (size < sizeof(RequestHeader) || state_ != State::kRunning) return false;
  request_.assign(room_.begin(), room_.begin() + static_cast<ptrdiff_t>(size));
  if (header().size != size) return false;
  spoke_ = true;
  const uint64_t spent = std::min(header().spent_ps, static_cast<uint64_t>(kMostSpent.ps()));
  at_ = std::max(now, reached_ + FabricTime::from_ps(static_cast<int64_t>(spent)));
  if (at_ == now && ++at_once_ > kMostAtOnce) at_ = now + kPollCost;
  state_ = State::kDue;
  return true;
}

/// Fabric time does not stand for it any more: what it has asked for meanwhile is due now.
void HeldProgram::note_not_held(FabricTime now) {
  if (state_ == State::kRunning) receive(now, 0);
  if (now >= wall_tick_) wall_tick_ = now + kWallTick;
}

void HeldProgram::lose_hold(FabricTime now, std::string why) {
  if (!std::exchange(held_, false)) return;
  if (!why.empty()) {
    report_.not_held = std::move(why);
    report_.not_held_at = now;
  }
  session_->set_mode(Mode::kWall);
  session_->set_rate(kRateAfterwards);
  wall_tick_ = world_.given_up() ? kNever : now + kWallTick;
}

/// Its connection is gone without a kExit: who ended it did so at an instant of this machine's time.
void HeldProgram::vanish(FabricTime now) {
  if (spoke_ && !world_.given_up())
    lose_hold(
        now,
        "it was ended from outside the lab (timeout and kill live in this machine's time), or "
        "by a call that is not held");
  end(now);
}

void HeldProgram::end(FabricTime now) {
  if (ended()) return;
  if (session_) report_.program = session_->program();
  report_.ended = now;
  session_.reset();
  socket_.reset();
  world_.net().close_all(declared_.host, declared_.number, now);
}

HeldReport HeldProgram::report() const {
  HeldReport report = report_;
  if (session_) report.program = session_->program();
  if (ended() && !spoke_) report.started = report.ended = kNever;
  return report;
}

}  // namespace mrclab::verbs
