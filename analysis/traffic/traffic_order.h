#pragma once
// Puts sightings into the order of time. Writers order records within an interface only, so those of
// several interfaces lie a little out of order; a window of records is sorted, and as long as no
// record lies further from its place than that, what comes out is in order.

#include <algorithm>
#include <vector>

#include "analysis/traffic/traffic_sighting.h"

namespace mrclab::analysis {

class TrafficOrder {
 public:
  TrafficOrder() { held_.reserve(2 * window_); }

  /// Room for the next sighting; `sink` gets what comes out meanwhile, in order.
  template <class Sink>
  TrafficSighting& next(const Sink& sink) {
    if (held_.size() >= 2 * window_) emit(window_, sink);
    return held_.emplace_back();
  }
  /// Takes back what next() gave.
  void discard() { held_.pop_back(); }
  template <class Sink>
  void finish(const Sink& sink) {
    emit(held_.size(), sink);
  }
  /// Sightings that came out behind a later one, because they lay too far from their place.
  uint64_t out_of_order() const { return late_; }

 private:
  static constexpr size_t kSmallest = 1u << 12, kLargest = 1u << 17;  // 1 MiB to 25 MiB
  struct Key {
    int64_t t;
    uint32_t rank;  ///< order at equal instants: departures first, then the order of the files
    uint32_t index;
    auto operator<=>(const Key&) const = default;
  };

  static uint32_t rank_of(const TrafficSighting& s) {
    uint32_t rank = s.end == WireEnd::kArriving ? 2 : 0;
    if (s.kind == TrafficSighting::Kind::kDropped) rank = 3;
    if (s.kind == TrafficSighting::Kind::kTrimmedHere) rank = 1;
    return rank << 16 | s.feed;
  }

  template <class Sink>
  void emit(size_t count, const Sink& sink) {
    keys_.clear();
    for (const TrafficSighting& s : held_) {
      keys_.push_back({s.t.ps(), rank_of(s), static_cast<uint32_t>(keys_.size())});
    }
    if (!std::is_sorted(keys_.begin(), keys_.end())) std::sort(keys_.begin(), keys_.end());
    const uint64_t late_before = late_;
    for (size_t i = 0; i < count; ++i) {
      late_ += keys_[i].t < last_ ? 1 : 0;
      last_ = std::max(last_, keys_[i].t);
      sink(held_[keys_[i].index]);
    }
    rest_.clear();
    rest_.reserve(2 * window_);
    for (size_t i = count; i < keys_.size(); ++i) rest_.push_back(held_[keys_[i].index]);
    held_.swap(rest_);
    if (late_ > late_before && window_ < kLargest) {
      window_ *= 2;
      held_.reserve(2 * window_);
    }
  }

  size_t window_ = kSmallest;
  std::vector<TrafficSighting> held_, rest_;
  std::vector<Key> keys_;
  int64_t last_ = INT64_MIN;
  uint64_t late_ = 0;
};

}  // namespace mrclab::analysis
