#pragma once
// Numbered places for things that wait for their event, so that the event heap moves 4-byte
// payloads and not whole effects.

#include <cassert>
#include <cstdint>
#include <utility>
#include <vector>

#include "fabric/base/place.h"

namespace mrclab {

template <class T>
class Slots {
 public:
  /// Keeps `item` and returns its number. Reuses freed numbers, so there are as many places as the
  /// most items that ever waited at once. Effects are bounded by their schedule.
  uint32_t put(T item) {
    if (free_.empty()) {
      items_.push_back(std::move(item));
      return static_cast<uint32_t>(items_.size() - 1);
    }
    const uint32_t slot = free_.back();
    free_.pop_back();
    make_in_place(items_[slot], std::move(item));
    return slot;
  }

  T take(uint32_t slot) {
    assert(slot < items_.size());
    free_.push_back(slot);
    return take_from_place(items_[slot]);
  }

 private:
  std::vector<T> items_;
  std::vector<uint32_t> free_;
};

}  // namespace mrclab
