#pragma once
// A ring of items by sequence number that grows with the window that is really used: the limit of a
// queue pair is a thousand packets, most have a handful, and a fabric has thousands of queue pairs.
// It never shrinks, so a warm ring allocates nothing. The bound is the caller's.
//
// It grows by a quarter, not to a power of two, which left a third of the rings empty. So there is no mask
// for places: the ring keeps the sequence of its first place, and a window lies within two rounds from there.

#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

#include "endpoint/base/sequence.h"

namespace mrclab::endpoint {

template <class T>
class SequenceRing {
 public:
  T& operator[](Sequence s) { return slots_[place(s)]; }
  const T& operator[](Sequence s) const { return slots_[place(s)]; }

  /// Makes room for [begin, end); the items of [begin, used) are kept. `begin` never goes back.
  void make_room(Sequence begin, Sequence used, Sequence end) {
    const auto wanted = static_cast<size_t>(end - begin);
    if (wanted > room_) return grow(begin, used, wanted);
    const auto passed = static_cast<size_t>(begin - first_);
    if (passed >= room_) first_ += static_cast<Sequence>(passed - passed % room_);
  }

 private:
  [[gnu::noinline]] void grow(Sequence begin, Sequence used, size_t wanted) {
    const size_t room = wanted + wanted / 8 + kSpare;
    auto larger = std::make_unique<T[]>(room);
    for (Sequence s = begin; s < used; ++s) {
      larger[static_cast<size_t>(s - begin)] = std::move((*this)[s]);
    }
    slots_ = std::move(larger);
    room_ = room;
    first_ = begin;
  }
  size_t place(Sequence s) const {
    const auto from_first = static_cast<size_t>(s - first_);
    const size_t at = from_first < room_ ? from_first : from_first - room_;
    assert(at < room_);
    return at;
  }

  static constexpr size_t kSpare = 4;  // so that the first ones do not grow one by one
  std::unique_ptr<T[]> slots_;
  size_t room_ = 0;     // places
  Sequence first_ = 0;  // the sequence of the first place in this round
};

}  // namespace mrclab::endpoint
