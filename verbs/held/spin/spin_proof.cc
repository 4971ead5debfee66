#include "verbs/held/spin/spin_proof.h"

namespace mrclab::held {

void SpinProof::begin(uint32_t steps, const ExtendedLayout& layout) {
  layout_ = &layout;
  limit_ = steps < kMostSteps ? steps : kMostSteps;
  steps_ = 0;
  next_anchor_ = 1;
  phase_ = Phase::kSeek;
  last_.count = 0;
  last_.repeats = false;
}

void SpinProof::set_anchor() {
  anchor_ = now_;
  words_.clear();
  since_anchor_ = 0;
}

SpinProof::Verdict SpinProof::foresee(const ucontext_t& context) {
  last_ = next_instruction(context);
  if (last_.kind == Kind::kCall) return Verdict::kCalls;
  if (last_.kind == Kind::kUnknown) return Verdict::kUnknown;
  for (uint8_t i = 0; i < last_.count; ++i) {
    if (!words_.before_store(last_.stores[i].address, last_.stores[i].bytes))
      return Verdict::kComputes;  // a loop that waits stores to few words
  }
  last_rip_ = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RIP]);
  last_rdi_ = static_cast<uint64_t>(context.uc_mcontext.gregs[REG_RDI]);
  trace_[since_anchor_] = now_.key();
  return Verdict::kStep;
}

SpinProof::Verdict SpinProof::step(const ucontext_t& context) {
  if (!now_.take(context, *layout_)) return Verdict::kUnknown;
  if (steps_ == 0) {
    set_anchor();
    ++steps_;
    return foresee(context);
  }
  // A processor that runs through rounds of REP in one step has stored what was not foreseen.
  if (last_.repeats && last_.count != 0) {
    const int64_t moved = context.uc_mcontext.gregs[REG_RDI] - static_cast<int64_t>(last_rdi_);
    const auto bytes = static_cast<int64_t>(last_.stores[0].bytes);
    if (moved > bytes || moved < -bytes) return Verdict::kUnknown;
  }
  for (uint8_t i = 0; i < last_.count; ++i) {
    words_.after_store(last_.stores[i].address, last_.stores[i].bytes);
  }
  ++steps_;
  ++since_anchor_;
  if (phase_ == Phase::kSurvey) return survey();
  if (phase_ == Phase::kWalk) {
    if (++at_ != least_) return Verdict::kStep;
    // Another state than a round ago: somebody else has stored to the memory of the loop, and nothing is proven.
    return now_.key() == trace_[least_] ? Verdict::kSpins : Verdict::kUnknown;
  }
  if (words_.as_at_the_anchor() && now_ == anchor_) return recurred();
  if (steps_ >= limit_) return Verdict::kComputes;
  if (steps_ >= next_anchor_) {
    next_anchor_ = 2 * steps_;
    set_anchor();
  }
  return foresee(context);
}

SpinProof::Verdict SpinProof::event_passed(const ucontext_t& context) {
  begin(kMostSteps, *layout_);
  return step(context);
}

SpinProof::Verdict SpinProof::recurred() {
  period_ = since_anchor_;
  last_.count = 0;
  last_.repeats = false;
  least_ = 0;
  uint32_t alike = 1;
  for (uint32_t i = 1; i < period_; ++i) {
    if (trace_[i] == trace_[least_]) ++alike;
    if (trace_[i] < trace_[least_]) {
      least_ = i;
      alike = 1;
    }
  }
  at_ = 0;
  if (alike == 1) return walk_to(least_);
  phase_ = Phase::kSurvey;
  if (least_ == 0) least_state_ = now_;
  return Verdict::kStep;
}

/// Once more round: of the states whose keys are the least, that with the least extended state.
SpinProof::Verdict SpinProof::survey() {
  if (++at_ == period_) {
    at_ = 0;
    return walk_to(least_);
  }
  if (at_ == least_) least_state_ = now_;
  if (at_ <= least_ || trace_[at_] != trace_[least_]) return Verdict::kStep;
  const bool more = least_state_.extended_less(now_);
  if (more || (!now_.extended_less(least_state_) && !rotation_less(at_, least_)))
    return Verdict::kStep;
  least_ = at_;
  least_state_ = now_;
  return Verdict::kStep;
}

SpinProof::Verdict SpinProof::walk_to(uint32_t place) {
  if (place == 0) return Verdict::kSpins;
  phase_ = Phase::kWalk;
  return Verdict::kStep;
}

/// Whether the states from `one` on, round the period, are less than those from `other` on.
bool SpinProof::rotation_less(uint32_t one, uint32_t other) const {
  for (uint32_t i = 1; i < period_; ++i) {
    const auto order = trace_[(one + i) % period_] <=> trace_[(other + i) % period_];
    if (order != 0) return order < 0;
  }
  return false;
}

uint64_t SpinProof::loop_address() const {
  constexpr uint32_t kRoundsAlike = 3;
  if (since_anchor_ < 2) return 0;
  const uint32_t last = since_anchor_ - 1;
  for (uint32_t period = 1; period * (kRoundsAlike + 1) <= last; ++period) {
    bool alike = true;
    for (uint32_t i = 0; alike && i < period * kRoundsAlike; ++i) {
      alike = trace_[last - i].rip == trace_[last - i - period].rip;
    }
    if (!alike) continue;
    uint64_t least = ~uint64_t{0};
    for (uint32_t i = 0; i < period; ++i) {
      if (trace_[last - i].rip < least) least = trace_[last - i].rip;
    }
    return least;
  }
  return 0;
}

}  // namespace mrclab::held
