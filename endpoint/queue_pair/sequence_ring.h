#pragma once
// A ring of items by sequence number that grows with the window that is really used: the limit of a
// queue pair is a thousand packets, most have a handful, and a fabric has thousands of queue pairs.
// It never shrinks, so a warm ring allocates nothing. The bound is the caller's.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <utility>
#include <vector>

#include "endpoint/base/sequence.h"

namespace mrclab::endpoint {

template <class T>
class SequenceRing {
 public:
  T& operator[](Sequence s) { return slots_[index(s)]; }
  const T& operator[](Sequence s) const { return slots_[index(s)]; }

  /// Makes room for [begin, end); the items of [begin, used) are kept.
  void make_room(Sequence begin, Sequence used, Sequence end) {
    const auto wanted = static_cast<size_t>(end - begin);
    if (wanted <= slots_.size()) return;
    std::vector<T> larger(std::bit_ceil(std::max(wanted, kFirstSize)));
    for (Sequence s = begin; s < used; ++s) {
      larger[static_cast<size_t>(s) & (larger.size() - 1)] = std::move((*this)[s]);
    }
    slots_ = std::move(larger);
  }

 private:
  static constexpr size_t kFirstSize = 16;
  size_t index(Sequence s) const { return static_cast<size_t>(s) & (slots_.size() - 1); }

  std::vector<T> slots_;  // a power of two, or empty
};

}  // namespace mrclab::endpoint
