#pragma once
// Puts sightings into the order of time. Writers order records within an interface only, so those of
// several interfaces lie a little out of order; a window of records is sorted, and as long as no
// record lies further from its place than that, what comes out is in order.

#include <algorithm>
#include <cstddef>
#include <vector>

#include "analysis/capture/time_sort.h"
#include "analysis/traffic/traffic_sighting.h"
#include "fabric/base/cache_line.h"

namespace mrclab::analysis {

class TrafficOrder {
 public:
  TrafficOrder() { held_.reserve(2 * window_); }

  /// Room for the next sighting, to be filled before the next call; `sink` gets what comes out
  /// meanwhile, in order.
  template <class Sink>
  TrafficSighting& next(const Sink& sink) {
    close();
    if (keys_.size() >= 2 * window_) emit(window_, sink);
    if (free_.empty()) {
      open_ = static_cast<uint32_t>(held_.size());
      return held_.emplace_back();
    }
    open_ = free_.back();
    free_.pop_back();
    if (!free_.empty()) fetch(free_.back());  // will be written next
    return held_[open_];
  }
  /// Takes back what next() gave.
  void discard() {
    free_.push_back(open_);
    open_ = kNone;
  }
  template <class Sink>
  void finish(const Sink& sink) {
    close();
    emit(keys_.size(), sink);
  }
  /// Sightings that came out behind a later one, because they lay too far from their place.
  uint64_t out_of_order() const { return late_; }

 private:
  static constexpr size_t kSmallest = 1u << 12, kLargest = 1u << 17;  // 1 MiB to 25 MiB
  struct Key {
    int64_t t;
    uint32_t rank;   ///< order at equal instants: departures first, then the order of the files
    uint32_t place;  ///< in held_, which is not in order
    bool operator<(const Key& other) const {
      return t != other.t ? t < other.t : rank < other.rank;
    }
  };

  static constexpr uint32_t kNone = 0xFFFF'FFFF;
  static constexpr size_t kAhead = 8;  ///< prefetch distance, in sightings

  void fetch(uint32_t place) const { fetch_lines(&held_[place], sizeof(TrafficSighting)); }

  static uint32_t rank_of(const TrafficSighting& s) {
    uint32_t rank = s.end == WireEnd::kArriving ? 2 : 0;
    if (s.event == PacketEvent::kDropped) rank = 3;
    if (s.event == PacketEvent::kTrimmed) rank = 1;
    return rank << 16 | s.feed;
  }

  /// The one that next() gave has been filled, and is in the cache still.
  void close() {
    if (open_ == kNone) return;
    keys_.push_back({held_[open_].t.ps(), rank_of(held_[open_]), open_});
    open_ = kNone;
  }

  /// Brings the new ones into the order of the others, which equal ones come behind.
  void sort_new() {
    const auto middle = keys_.begin() + static_cast<std::ptrdiff_t>(sorted_);
    sort_by_time(std::span(middle, keys_.end()), sort_room_, [](const Key& key) { return key.t; });
    if (middle != keys_.end()) {
      std::inplace_merge(std::upper_bound(keys_.begin(), middle, *middle), middle, keys_.end());
    }
    sorted_ = keys_.size();
  }

  template <class Sink>
  void emit(size_t count, const Sink& sink) {
    sort_new();
    const uint64_t late_before = late_;
    for (size_t i = 0; i < count; ++i) {
      if (i + kAhead < keys_.size()) fetch(keys_[i + kAhead].place);
      late_ += keys_[i].t < last_ ? 1 : 0;
      last_ = std::max(last_, keys_[i].t);
      sink(held_[keys_[i].place]);
      free_.push_back(keys_[i].place);
    }
    keys_.erase(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(count));
    sorted_ = keys_.size();
    if (late_ > late_before && window_ < kLargest) {
      window_ *= 2;
      held_.reserve(2 * window_);
    }
  }

  size_t window_ = kSmallest;
  // A sighting that waits stays where next() put it in held_, as it is too large to be moved about.
  std::vector<TrafficSighting> held_;
  std::vector<uint32_t> free_;  // places of held_ in which no sighting waits
  std::vector<Key> keys_;       // one for each sighting that waits
  SortRoom<Key> sort_room_;
  size_t sorted_ = 0;      // so many of them, from the front, are in order
  uint32_t open_ = kNone;  // the place that next() gave last
  int64_t last_ = INT64_MIN;
  uint64_t late_ = 0;
};

}  // namespace mrclab::analysis
