#pragma once
// Sorts what lies about evenly over time, as the records of a capture do.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace mrclab::analysis {

/// Memory that sort_by_time() uses again.
template <class Item>
struct SortRoom {
  std::vector<Item> items;
  std::vector<uint32_t> places;
};

/// The same as std::stable_sort. `time_of` gives the int64_t that comes first in the order of items. Each goes to
/// the bucket of its time, of which there are about as many as items, so that hardly any have to be compared; where
/// that turns out wrong, because most lie at a few instants, it is std::stable_sort that sorts.
template <class Item, class TimeOf>
void sort_by_time(std::span<Item> items, SortRoom<Item>& room, const TimeOf& time_of) {
  constexpr size_t kFew = 64, kMovesEach = 16;
  if (std::is_sorted(items.begin(), items.end())) return;
  if (items.size() < kFew) return std::stable_sort(items.begin(), items.end());
  int64_t first = time_of(items[0]), last = first;
  for (const Item& item : items) {
    first = std::min(first, time_of(item));
    last = std::max(last, time_of(item));
  }
  const size_t buckets = std::bit_ceil(items.size());
  const uint64_t span = static_cast<uint64_t>(last) - static_cast<uint64_t>(first);
  const auto too_wide =
      static_cast<int>(std::bit_width(span)) - static_cast<int>(std::bit_width(buckets - 1));
  const auto bucket_of = [first, shift = std::max(too_wide, 0), &time_of](const Item& item) {
    return (static_cast<uint64_t>(time_of(item)) - static_cast<uint64_t>(first)) >> shift;
  };
  room.places.assign(buckets, 0);
  for (const Item& item : items) ++room.places[bucket_of(item)];
  uint32_t before = 0;
  for (uint32_t& place : room.places) before += std::exchange(place, before);
  room.items.resize(items.size());
  for (const Item& item : items) room.items[room.places[bucket_of(item)]++] = item;
  std::copy(room.items.begin(), room.items.end(), items.begin());
  // Within a bucket nothing is in order yet. What is behind an item is in its bucket or a later one.
  size_t moves_left = kMovesEach * items.size();
  for (size_t i = 1; i < items.size(); ++i) {
    if (!(items[i] < items[i - 1])) continue;
    const Item moved = items[i];
    size_t at = i;
    for (; at > 0 && moved < items[at - 1]; --at) items[at] = items[at - 1];
    items[at] = moved;
    if (i - at >= moves_left) return std::stable_sort(items.begin(), items.end());
    moves_left -= i - at;
  }
}

}  // namespace mrclab::analysis
