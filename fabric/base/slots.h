#pragma once
// Numbered places for things that wait for their event, so that the event heap moves 4-byte
// payloads and not whole arrivals.

#include <cassert>
#include <cstdint>
#include <utility>
#include <vector>

#include "fabric/base/make_room.h"
#include "fabric/base/place.h"

namespace mrclab {

template <class T>
class Slots {
 public:
  /// Keeps `item` and returns its number. Reuses freed numbers, so there are as many places as the
  /// most items that ever waited at once. Arrivals are bounded by their frame pool, effects by
  /// their schedule.
  uint32_t put(T item) {
    if (free_.empty()) {
      make_room(items_, 1);
      free_.reserve(items_.capacity());  // so that take() always has room
      items_.push_back(std::move(item));
      return static_cast<uint32_t>(items_.size() - 1);
    }
    const uint32_t slot = free_.back();
    free_.pop_back();
    put_in_place(items_[slot], std::move(item));
    return slot;
  }

  /// What lies there; fetch() has it loaded into the cache, for a look or a take() to come.
  const T& peek(uint32_t slot) const { return items_[slot]; }
  void fetch(uint32_t slot) const { __builtin_prefetch(&items_[slot], 1); }

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
