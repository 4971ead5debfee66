#include "fabric/base/exponential_time.h"

#include "fabric/base/random.h"

namespace mrclab {

FabricTime exponential_time(FabricTime mean, uint64_t seed, uint64_t number) {
  uint64_t state = mix64(mix64(seed) ^ (number << 1 | 1));
  const auto uniform = [&] { return state = mix64(state); };
  // A run of falling numbers of odd length is taken, with its first number as the fraction; else one more whole mean.
  for (int64_t whole = 0;; ++whole) {
    const uint64_t first = uniform();
    uint64_t last = first;
    int length = 1;
    for (uint64_t next = uniform(); next < last; next = uniform()) {
      last = next;
      ++length;
    }
    constexpr int64_t kMostMeans = 44;  // e^-44 of all are longer: less than one in 2^63
    if (length % 2 == 0 && whole < kMostMeans) continue;
    const auto fraction = static_cast<int64_t>(
        static_cast<unsigned __int128>(first) * static_cast<uint64_t>(mean.ps()) >> 64);
    return mean * whole + FabricTime::from_ps(fraction);
  }
}

}  // namespace mrclab
