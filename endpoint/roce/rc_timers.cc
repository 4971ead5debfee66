#include "endpoint/roce/rc_timers.h"

#include <algorithm>
#include <array>

namespace mrclab::endpoint {
namespace {

// Of 2 x 4.096 us x 2^10; seen on a ConnectX-6: 8.6, 16.6, 33.7, 67, 101, 201 ms.
constexpr std::array<int64_t, 6> kAdaptiveSteps{1, 2, 4, 8, 12, 24};
constexpr uint32_t kAdaptiveExponent = 10, kFloor = 16;

FabricTime ib_time(uint32_t exponent) {
  return FabricTime::from_ns(4096) * (int64_t{1} << exponent);
}

}  // namespace

FabricTime RcTimes::after(uint32_t timeouts) const {
  if (adaptive_unit == FabricTime::zero() || timeouts >= kAdaptiveSteps.size()) return regular;
  return adaptive_unit * kAdaptiveSteps[timeouts];
}

uint32_t RcTimes::most(uint32_t retries) const {
  const bool adapts = adaptive_unit > FabricTime::zero() && retries > 0;
  return retries + (adapts ? static_cast<uint32_t>(kAdaptiveSteps.size()) - 1 : 0);
}

FabricTime RcTimes::until_failure(uint32_t retries) const {
  if (regular == FabricTime::never()) return regular;
  FabricTime all;
  for (uint32_t i = 0; i <= most(retries); ++i) all += after(i);
  return all;
}

RcTimes rc_times(const TransportProfile& profile, uint32_t exponent) {
  if (exponent == 0) return {{}, FabricTime::never()};
  if (profile.timers != RcTimers::kConnectX) return {{}, ib_time(exponent)};
  return {ib_time(kAdaptiveExponent) * 2, ib_time(std::max(exponent, kFloor)) * 2};
}

RcTimes rc_times(const TransportProfile& profile) {
  if (profile.timers != RcTimers::kCompressed) return rc_times(profile, profile.rc_timeout);
  if (profile.rc_timer == RcTimer::kFixed) return {{}, profile.rc_ack_timeout};
  return {profile.rc_ack_timeout / 8, profile.rc_ack_timeout / 8 * 64};
}

}  // namespace mrclab::endpoint
