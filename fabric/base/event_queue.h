#pragma once
// A node's event heap in the order (time, class, port, sequence). The order is
// total and does not depend on when an event was inserted.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/make_room.h"
#include "fabric/base/units.h"

namespace mrclab {

enum class EventClass : uint8_t {
  kFault,
  kArrival,
  kTimer,
  kApplication,
  kTransmitComplete,
};

struct EventKey {
  FabricTime at;
  EventClass event_class = EventClass::kTimer;
  uint32_t port = 0;
  uint64_t sequence = 0;
  constexpr auto operator<=>(const EventKey&) const = default;
};

/// Is `a` processed before `b`? The time decides nearly always.
constexpr bool earlier(const EventKey& a, const EventKey& b) {
  return a.at != b.at ? a.at < b.at : a < b;
}

/// A heap of (key, payload) with four children to a node, which halves the levels and keeps
/// siblings in neighbouring cache lines; payloads may be move-only. `pop` yields the smallest key.
template <class Payload>
class EventQueue {
 public:
  void push(EventKey key, Payload payload) {
    size_t hole = heap_.size();
    make_room(heap_, 1);
    heap_.emplace_back();
    while (hole > 0) {
      const size_t parent = (hole - 1) / kChildren;
      if (!earlier(key, heap_[parent].first)) break;
      heap_[hole] = std::move(heap_[parent]);
      hole = parent;
    }
    heap_[hole] = {key, std::move(payload)};
  }
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  const EventKey& top() const { return heap_.front().first; }
  FabricTime next_time() const { return heap_.empty() ? FabricTime::never() : top().at; }
  std::pair<EventKey, Payload> pop() {
    Item item = std::move(heap_.front());
    Item last = std::move(heap_.back());
    heap_.pop_back();
    if (!heap_.empty()) heap_[hole_for(last.first)] = std::move(last);
    return item;
  }

 private:
  using Item = std::pair<EventKey, Payload>;
  static constexpr size_t kChildren = 4;

  /// Moves the hole at the top down to where `key` belongs.
  size_t hole_for(const EventKey& key) {
    size_t hole = 0;
    for (size_t child = 1; child < heap_.size(); child = hole * kChildren + 1) {
      const size_t end = std::min(child + kChildren, heap_.size());
      size_t first = child;
      for (size_t i = child + 1; i < end; ++i) {
        if (earlier(heap_[i].first, heap_[first].first)) first = i;
      }
      if (!earlier(heap_[first].first, key)) break;
      heap_[hole] = std::move(heap_[first]);
      hole = first;
    }
    return hole;
  }

  std::vector<Item> heap_;
};

}  // namespace mrclab
