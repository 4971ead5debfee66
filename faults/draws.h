#pragma once
// A stream of draws for code that generates things from a seed. Only integers: a seed means the
// same on every machine.

#include <cstdint>
#include <span>
#include <vector>

#include "fabric/base/random.h"

namespace mrclab::faults {

class Draws {
 public:
  /// Streams of one seed are independent: an additional draw in one does not shift the others.
  Draws(uint64_t seed, uint32_t stream) : seed_(seed), stream_(stream) {}

  /// Uniform in [0, bound), bound > 0.
  uint64_t below(uint64_t bound) { return mrclab::below(next(), bound); }
  /// Uniform in [min, max].
  int64_t between(int64_t min, int64_t max) {
    return min + static_cast<int64_t>(below(static_cast<uint64_t>(max - min) + 1));
  }
  /// Each octave of [min, max], min > 0, as likely as the next: small values as often as large.
  int64_t by_magnitude(int64_t min, int64_t max) {
    int64_t octaves = 0;
    while (max >> (octaves + 1) >= min) ++octaves;
    const int64_t octave = between(0, octaves);
    const int64_t low = min << octave;
    return between(low, octave == octaves ? max : 2 * low - 1);
  }
  bool one_in(uint64_t n) { return below(n) == 0; }
  template <class T>
  const T& one_of(std::span<const T> from) {
    return from[below(from.size())];
  }
  /// `count` of the items (or all, if there are fewer), in their order.
  template <class T>
  std::vector<T> some_of(const std::vector<T>& from, size_t count) {
    std::vector<T> chosen;
    for (size_t i = 0; i < from.size() && chosen.size() < count; ++i) {
      if (below(from.size() - i) < count - chosen.size()) chosen.push_back(from[i]);
    }
    return chosen;
  }

 private:
  uint64_t next() {
    return draw(seed_, NodeId{}, PortId{stream_}, DrawPurpose::kFault, counter_++);
  }

  uint64_t seed_;
  uint32_t stream_;
  uint64_t counter_ = 0;
};

}  // namespace mrclab::faults
