#include "lab/twin/real_size.h"

#include <algorithm>

#include "fabric/text/yaml.h"

namespace mrclab::lab {
namespace {

using Wide = __int128;
constexpr Wide kOne = Probability::kOne;

/// Rounded to the nearest; what no time can hold is never().
FabricTime time_of(Wide numerator, Wide denominator) {
  if (denominator < 0) {
    numerator = -numerator;
    denominator = -denominator;
  }
  const Wide half = numerator < 0 ? -denominator / 2 : denominator / 2;
  const Wide ps = (numerator + half) / denominator;
  return ps > FabricTime::never().ps() ? FabricTime::never()
                                       : FabricTime::from_ps(static_cast<int64_t>(ps));
}

/// The delay at the job's size if all of it grows with the work.
FabricTime grown(ScaledDelay run) { return time_of(run.delay.ps() * kOne, run.factor.ppb); }

}  // namespace

RealDelay real_delay(ScaledDelay a, ScaledDelay b) {
  for (const ScaledDelay& run : {a, b}) {
    if (run.factor.ppb == 0 || run.factor.ppb > Probability::kOne) {
      throw InputError("a factor of the job's size: expected above 0, at most 1");
    }
    if (run.delay < FabricTime::zero()) throw InputError("a delay: expected 0 or more");
  }
  if (a.factor == b.factor)
    throw InputError("two factors of the job's size: expected two that differ");
  if (b.factor < a.factor) std::swap(a, b);
  RealDelay result;
  const Wide apart = Wide{b.factor.ppb} - a.factor.ppb;
  const Wide more = Wide{b.delay.ps()} - a.delay.ps();
  result.work = time_of(more * kOne, apart);
  result.reaction = time_of(a.delay.ps() * apart - more * a.factor.ppb, apart);
  if (result.work < FabricTime::zero()) {
    result.reaction = std::max(a.delay, b.delay);
    result.work = FabricTime::zero();
    result.fits = false;
  } else if (result.reaction < FabricTime::zero()) {
    result.reaction = FabricTime::zero();
    result.work = std::max(grown(a), grown(b));
    result.fits = false;
  }
  result.real = result.reaction + result.work;
  result.least = std::min(std::max(a.delay, b.delay), result.real);
  result.most = std::max({grown(a), grown(b), result.real});
  return result;
}

}  // namespace mrclab::lab
