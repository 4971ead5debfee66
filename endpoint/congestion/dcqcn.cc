#include "endpoint/congestion/dcqcn.h"

#include <algorithm>

namespace mrclab::endpoint {

namespace {

using Wide = unsigned __int128;

// Steps are compared with fast_recovery, and count no further than this.
constexpr uint32_t kMostSteps = 1u << 20;

BitRate at_most(BitRate rate, BitRate line) { return rate.bps < line.bps ? rate : line; }

/// The first of `due`, due + period, ... that is after `now`; `passed` is how many are not.
FabricTime next_after(FabricTime due, FabricTime period, FabricTime now, int64_t& passed) {
  passed = (now - due).ps() / period.ps() + 1;
  return due + period * passed;
}

}  // namespace

DcqcnParameters dcqcn_paper() { return {}; }

DcqcnParameters dcqcn_firmware() {
  DcqcnParameters p;
  p.order = DcqcnParameters::Order::kFirmware;
  p.alpha_one = 1024;
  p.alpha_first = 1023;
  p.alpha_keep = 1019;
  p.alpha_of = 1024;
  p.alpha_period = FabricTime::from_us(1);
  p.cut_period = FabricTime::from_us(4);
  p.increase_period = FabricTime::from_us(300);
  p.increase_bytes = {32'767};
  p.fast_recovery = 1;
  p.additive = {5'000'000};
  p.hyper = {50'000'000};
  p.unit = {1'000'000};
  return p;
}

FabricTime dcqcn_loop_time(const DcqcnParameters& p) {
  const auto updates =
      static_cast<int64_t>(p.alpha_of / std::max<uint64_t>(p.alpha_of - p.alpha_keep, 1));
  return std::max(p.increase_period * 5, p.alpha_period * updates);
}

DcqcnLimiter::DcqcnLimiter(const DcqcnParameters& parameters, BitRate line)
    : parameters_(parameters),
      line_(line),
      rate_(line),
      target_(line),
      alpha_(parameters.alpha_first) {}

BitRate DcqcnLimiter::rate(FabricTime now) {
  advance(now);
  return rate_;
}

BitRate DcqcnLimiter::target(FabricTime now) {
  advance(now);
  return target_;
}

uint64_t DcqcnLimiter::alpha(FabricTime now) {
  advance(now);
  return alpha_;
}

void DcqcnLimiter::on_cnp(FabricTime now) {
  advance(now);
  if (parameters_.order == DcqcnParameters::Order::kPaper) {
    target_ = rate_;
    cut(now);
    decay_alpha(true);
    alpha_due_ = now + parameters_.alpha_period;
  } else if (!active_) {
    alpha_due_ = now + parameters_.alpha_period;
    look_due_ = now + parameters_.cut_period;
    pending_ = true;
  } else {
    seen_ = pending_ = true;
  }
  active_ = true;
}

void DcqcnLimiter::on_sent(Bytes wire, FabricTime now) {
  advance(now);
  earliest_ = std::max(now, earliest_) + serialization_time(wire, rate_);
  if (!active_ || parameters_.increase_bytes.value == 0) return;
  counted_ += wire;
  while (counted_ >= parameters_.increase_bytes) {
    counted_ -= parameters_.increase_bytes;
    if (parameters_.order == DcqcnParameters::Order::kPaper) {
      byte_steps_ = std::min(byte_steps_ + 1, kMostSteps);
      increase();
    } else {
      increase();
      byte_steps_ = std::min(byte_steps_ + 1, kMostSteps);
    }
  }
}

/// Does what was due by `now`, in order of time; at one instant `a` comes first, then the look for CNPs.
void DcqcnLimiter::advance(FabricTime now) {
  while (true) {
    const FabricTime due = std::min({alpha_due_, look_due_, increase_due_});
    if (due > now) return;
    if (alpha_due_ == due) {
      update_alpha(now);
    } else if (look_due_ == due) {
      look_for_cnp(now);
    } else {
      increase_by_timer(now);
    }
  }
}

void DcqcnLimiter::decay_alpha(bool congested) {
  const uint64_t kept = alpha_ * parameters_.alpha_keep / parameters_.alpha_of;
  const uint64_t added =
      parameters_.alpha_one - parameters_.alpha_one * parameters_.alpha_keep / parameters_.alpha_of;
  alpha_ = congested ? kept + added : kept;
}

void DcqcnLimiter::update_alpha(FabricTime now) {
  if (alpha_ == 0 && !seen_) {  // stays so: no need to go through the periods one by one
    int64_t passed = 0;
    alpha_due_ = next_after(alpha_due_, parameters_.alpha_period, now, passed);
    return;
  }
  decay_alpha(seen_);
  seen_ = false;
  alpha_due_ += parameters_.alpha_period;
}

void DcqcnLimiter::look_for_cnp(FabricTime now) {
  if (!pending_) {
    int64_t passed = 0;
    look_due_ = next_after(look_due_, parameters_.cut_period, now, passed);
    return;
  }
  pending_ = false;
  // The target stays where it was before the first cut of a row (clamp_tgt_rate off).
  if (byte_steps_ > 0 || timer_steps_ > 0) target_ = rate_;
  cut(look_due_);
  look_due_ += parameters_.cut_period;
}

/// Takes a/2 of the rate: half at most, as `a` is at most 1.
void DcqcnLimiter::cut(FabricTime now) {
  const uint64_t units = rate_.bps / parameters_.unit.bps;
  const auto asked = static_cast<uint64_t>(Wide{units} * alpha_ / (2 * parameters_.alpha_one));
  rate_ = {std::max(rate_.bps - asked * parameters_.unit.bps, parameters_.least.bps)};
  timer_steps_ = byte_steps_ = 0;
  counted_ = {};
  increase_due_ = now + parameters_.increase_period;
}

void DcqcnLimiter::increase_by_timer(FabricTime now) {
  if (is_recovered()) {
    int64_t passed = 0;
    increase_due_ = next_after(increase_due_, parameters_.increase_period, now, passed);
    timer_steps_ = static_cast<uint32_t>(std::min<int64_t>(timer_steps_ + passed, kMostSteps));
    return;
  }
  if (parameters_.order == DcqcnParameters::Order::kPaper) {
    timer_steps_ = std::min(timer_steps_ + 1, kMostSteps);
    increase();
  } else {
    increase();
    timer_steps_ = std::min(timer_steps_ + 1, kMostSteps);
  }
  increase_due_ += parameters_.increase_period;
}

/// One step: fast recovery halves the way to the target, then the target itself grows. The paper counts the
/// step before it looks at the counts, the firmware afterwards.
void DcqcnLimiter::increase() {
  const bool paper = parameters_.order == DcqcnParameters::Order::kPaper;
  const uint32_t most = std::max(timer_steps_, byte_steps_);
  const uint32_t least = std::min(timer_steps_, byte_steps_);
  const uint32_t limit = parameters_.fast_recovery;
  if (least > limit) {
    const uint64_t times = paper ? least - limit : 1;
    target_ = at_most({target_.bps + parameters_.hyper.bps * times}, line_);
  } else if (most >= limit) {
    target_ = at_most({target_.bps + parameters_.additive.bps}, line_);
  }
  const uint64_t mean = (rate_.bps + target_.bps) / 2;
  rate_ = {mean - mean % parameters_.unit.bps};
  // Half of the last unit is lost to rounding each time, and the target would never be reached.
  if (target_.bps - rate_.bps <= parameters_.unit.bps) rate_ = target_;
}

bool DcqcnNotifier::on_marked(FabricTime now) {
  if (now < quiet_until_) {
    remembered_ = true;
    return false;
  }
  quiet_until_ = now + period_;
  remembered_ = false;
  return true;
}

FabricTime DcqcnNotifier::deadline() const {
  return remembered_ ? quiet_until_ : FabricTime::never();
}

bool DcqcnNotifier::on_timer(FabricTime now) {
  if (now < deadline()) return false;
  return on_marked(now);
}

}  // namespace mrclab::endpoint
