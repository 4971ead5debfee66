#pragma once
// A ring of items by sequence number that grows with the window that is really used: the limit of a
// queue pair is a thousand packets, most have a handful, and a fabric has thousands of queue pairs.
// It never shrinks, so a warm ring allocates nothing. The bound is the caller's.
//
// It is made of blocks. While a handful of items is all, there is one, of as many places as it needs; a larger ring
// grows by whole blocks, which stay where they are: what a growing array leaves behind, 131,072 queue pairs at the same
// time and each its own size, is twice what they use, and nobody else fits into it. The window always leaves a block's
// worth of places free, so that its two ends never lie in one block, and blocks can be put between them.

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "endpoint/base/sequence.h"

namespace mrclab::endpoint {

template <class T>
class SequenceRing {
 public:
  T& operator[](Sequence s) {
    const size_t at = place(s);
    return blocks_[at / kBlock][at % kBlock];
  }
  const T& operator[](Sequence s) const {
    const size_t at = place(s);
    return blocks_[at / kBlock][at % kBlock];
  }

  /// Makes room for [begin, end); the items of [begin, used) are kept. `begin` never goes back.
  void make_room(Sequence begin, Sequence used, Sequence end) {
    const auto wanted = static_cast<size_t>(end - begin);
    if (wanted > largest_window_) return grow(begin, used, wanted);
    const auto passed = static_cast<size_t>(begin - first_);
    if (passed >= room_) first_ += static_cast<Sequence>(passed - passed % room_);
  }

 private:
  /// Places of a block: half a KiB, where that is eight or more.
  static constexpr size_t kBlock = std::max<size_t>(8, std::bit_floor(512 / sizeof(T)));
  static constexpr size_t kSpare = 4;  // so that the first ones do not grow one by one

  [[gnu::noinline]] void grow(Sequence begin, Sequence used, size_t wanted) {
    if (blocks_.size() > 1) {
      turn_to(begin);
    } else {
      move_to_blocks(begin, used, wanted);
    }
    while (blocks_.size() > 1 && room_ - (kBlock - 1) < wanted) add_block();
    largest_window_ = blocks_.size() > 1 ? room_ - (kBlock - 1) : room_;
  }
  /// Moves the items of a ring of one block, or none: to a larger one or, where a block does not hold the window, to the
  /// first of several.
  void move_to_blocks(Sequence begin, Sequence used, size_t wanted) {
    const bool single = wanted <= kBlock;
    const size_t places = single ? std::min(kBlock, wanted + wanted / 8 + kSpare) : kBlock;
    auto larger = std::make_unique<T[]>(places);
    for (Sequence s = begin; s < used; ++s) {
      larger[static_cast<size_t>(s - begin)] = std::move((*this)[s]);
    }
    blocks_.clear();
    blocks_.push_back(std::move(larger));
    room_ = places;
    first_ = begin;
    if (!single) add_block();
  }
  /// Makes the block with the first item of the window the first one.
  void turn_to(Sequence begin) {
    const size_t at = static_cast<size_t>(begin - first_) % room_;
    std::rotate(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(at / kBlock),
                blocks_.end());
    first_ = begin - static_cast<Sequence>(at % kBlock);
  }
  void add_block() {
    blocks_.push_back(std::make_unique<T[]>(kBlock));
    room_ += kBlock;
  }
  size_t place(Sequence s) const {
    const auto from_first = static_cast<size_t>(s - first_);
    const size_t at = from_first < room_ ? from_first : from_first - room_;
    assert(at < room_);
    return at;
  }

  std::vector<std::unique_ptr<T[]>> blocks_;  // in the order of the ring
  size_t room_ = 0;                           // places
  size_t largest_window_ = 0;                 // that they hold
  Sequence first_ = 0;  // the sequence of the first place of the first block in this round
};

}  // namespace mrclab::endpoint
