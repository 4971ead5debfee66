#include "analysis/mapper/probe_statistics.h"

#include <algorithm>
#include <cmath>

namespace mrclab::analysis {

double divergence(double p, double q) {
  const double kept = p < 1 ? (1 - p) * std::log((1 - p) / (1 - q)) : 0;
  return p * std::log(p / q) + kept;
}

double probes_to_accuse(double bad, double chance, double error) {
  const double bound = std::log((1 - error) / error);
  return ((1 - error) * bound - error * bound) / divergence(bad, chance);
}

double probes_to_acquit(double bad, double chance, double error) {
  const double bound = std::log((1 - error) / error);
  return ((1 - error) * bound - error * bound) / divergence(chance, bad);
}

double probes_to_alarm(double bad, double chance, double threshold) {
  return threshold / divergence(bad, chance);
}

Interval95 wilson(uint64_t count, uint64_t of, double z) {
  if (of == 0) return {};
  const double n = static_cast<double>(of), p = static_cast<double>(count) / n;
  const double whole = 1 + z * z / n;
  const double centre = (p + z * z / (2 * n)) / whole;
  const double half = z * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n)) / whole;
  return {std::max(0.0, centre - half), std::min(1.0, centre + half)};
}

}  // namespace mrclab::analysis
