#include "job/plan/compute_time.h"

#include <algorithm>

#include "fabric/base/random.h"

namespace mrclab::job {
namespace {

constexpr uint64_t kOfRank = ~uint64_t{0};  ///< the draw of a rank, not of a computation

int64_t share_of(int64_t ps, int64_t ppb) {
  return static_cast<int64_t>(static_cast<__int128>(ps) * ppb / Probability::kOne);
}

/// Uniform from -most to most, in parts per billion.
int64_t deviation(uint64_t drawn, Probability most) {
  return static_cast<int64_t>(below(drawn, 2 * uint64_t{most.ppb} + 1)) - int64_t{most.ppb};
}

}  // namespace

uint64_t job_key(const std::string& name) {
  uint64_t key = 0;
  for (const char c : name) key = mix64(key ^ static_cast<unsigned char>(c));
  return key;
}

FabricTime compute_time(const JobSpec& spec, uint64_t seed, FabricTime time,
                        const ComputePlace& place) {
  int64_t ps = time.ps() / spec.scale;
  const auto drawn = [&](uint32_t step, uint64_t number) {
    return draw(seed ^ job_key(spec.name), NodeId{place.rank}, PortId{step}, DrawPurpose::kWorkload,
                number);
  };
  int64_t more = 0;
  if (spec.jitter.ppb > 0) {
    more += share_of(ps, deviation(drawn(place.step, place.number), spec.jitter));
  }
  if (spec.skew.ppb > 0) more += share_of(ps, deviation(drawn(0, kOfRank), spec.skew));
  for (const SlowRank& slow : spec.slow) {
    const bool at = place.rank == slow.rank && place.step >= slow.from_step &&
                    (slow.steps == 0 || place.step - slow.from_step < slow.steps);
    if (at) more += share_of(ps, slow.by.ppb);
  }
  return std::max(FabricTime::from_ps(ps + more), kPicosecond);
}

}  // namespace mrclab::job
