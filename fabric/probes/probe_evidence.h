#pragma once
// What one probe says about a part that it crossed: the numbers of the sequential test (Wald; Page's CUSUM), which the
// judge's collector (analysis/mapper) and a host's (endpoint/mapper) have in common.
//
//   probe lost: ln(share / chance)     back: ln((1 - share) / (1 - chance))     threshold: ln(probes * periods * bank)

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace mrclab {

/// A probe is lost for no reason with this probability; in the lab none is but for full queues, which are left out.
inline constexpr double kProbeChance = 1e-6;
/// One false alarm in so many periods (our choice).
inline constexpr double kPeriodsPerAlarm = 1e6;
/// Shares of lost probes: a dark part, which loses all, so that one that comes back counts as much against it as two lost
/// ones do for it; and gray failures.
inline constexpr std::array kLossBank{
    1 - kProbeChance * kProbeChance, 0.9, 0.5, 0.2, 0.05, 0.01, 0.001};
/// A part is not named before as many are left as this, itself and its equals (our choice).
inline constexpr uint32_t kMostPlaces = 4;

/// What a part must come to, in nats, where so many probes are sent in a period.
inline double alarm_threshold(uint64_t probes) {
  return std::log(static_cast<double>(std::max<uint64_t>(probes, 1)) * kPeriodsPerAlarm *
                  static_cast<double>(kLossBank.size()));
}
inline double evidence_of_loss(double share) { return std::log(share / kProbeChance); }
inline double evidence_of_return(double share) {
  return std::log((1 - share) / (1 - kProbeChance));
}

}  // namespace mrclab
