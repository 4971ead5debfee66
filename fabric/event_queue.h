#pragma once
// A node's event heap in the order (time, class, port, sequence). The order is
// total and does not depend on when an event was inserted.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <utility>
#include <vector>

#include "fabric/ids.h"
#include "fabric/units.h"

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

/// A binary heap of (key, payload); payloads may be move-only. `pop` yields the smallest key.
template <class Payload>
class EventQueue {
 public:
  void push(EventKey key, Payload payload) {
    heap_.emplace_back(key, std::move(payload));
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
  bool empty() const { return heap_.empty(); }
  size_t size() const { return heap_.size(); }
  const EventKey& top() const { return heap_.front().first; }
  FabricTime next_time() const { return heap_.empty() ? FabricTime::never() : top().at; }
  std::pair<EventKey, Payload> pop() {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    auto item = std::move(heap_.back());
    heap_.pop_back();
    return item;
  }

 private:
  using Item = std::pair<EventKey, Payload>;
  static bool later(const Item& a, const Item& b) { return a.first > b.first; }
  std::vector<Item> heap_;
};

}  // namespace mrclab
