#pragma once
// The arithmetic of deciding by probes: Wald's sequential probability ratio test (Wald 1945, equations 3:27 to 3:43),
// Page's cumulative sums (1954) and Wilson's interval (1927). Shares are from 0 to 1, both ends excluded but where said.

#include <cstdint>

namespace mrclab::analysis {

/// Kullback-Leibler divergence of a loss of `p` from one of `q`, in nats.
double divergence(double p, double q);

/// Probes that it takes in the mean to find a loss of `bad` against `chance`, or that there is none, with this
/// probability of either error.
double probes_to_accuse(double bad, double chance, double error);
double probes_to_acquit(double bad, double chance, double error);
/// Probes from the onset of a loss until a cumulative sum comes to `threshold` nats, in the mean.
double probes_to_alarm(double bad, double chance, double threshold);

struct Interval95 {
  double low = 0, high = 1;
};
/// Wilson's interval for the probability of an event that was seen `count` times in `of` trials; `of` may be zero.
Interval95 wilson(uint64_t count, uint64_t of, double z = 1.959964);

}  // namespace mrclab::analysis
