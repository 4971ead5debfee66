#include "fabric/base/event_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>

#include "fabric/base/random.h"

using namespace mrclab;

namespace {

/// Keys that differ from their neighbours in one field each, in the order that they must come out.
std::vector<EventKey> ordered_keys() {
  std::vector<EventKey> keys;
  for (const int64_t t : {0, 5, 1'000'000}) {
    for (const EventClass c : {EventClass::kFault, EventClass::kArrival, EventClass::kTimer,
                               EventClass::kApplication, EventClass::kTransmitComplete}) {
      for (const uint32_t port : {0u, 1u, 300u}) {
        for (const uint64_t sequence : {0ull, 1ull, 1ull << 40}) {
          keys.push_back({FabricTime::from_ps(t), c, port, sequence});
        }
      }
    }
  }
  return keys;
}

}  // namespace

TEST_CASE("events come out by time, class, port, sequence, whatever the order of insertion") {
  const std::vector<EventKey> expected = ordered_keys();
  for (uint64_t round = 0; round < 50; ++round) {
    std::vector<EventKey> shuffled = expected;
    for (size_t i = shuffled.size(); i > 1; --i) {
      std::swap(shuffled[i - 1], shuffled[below(mix64(round * 1000 + i), i)]);
    }
    EventQueue<int> queue;
    for (const EventKey& key : shuffled) queue.push(key, static_cast<int>(key.port));
    std::vector<EventKey> got;
    while (!queue.empty()) {
      const auto [key, payload] = queue.pop();
      CHECK(payload == static_cast<int>(key.port));
      got.push_back(key);
    }
    CHECK(got == expected);
  }
}

TEST_CASE("a fault comes before an arrival of the same instant, and completion comes last") {
  CHECK(EventClass::kFault < EventClass::kArrival);
  CHECK(EventClass::kArrival < EventClass::kTimer);
  CHECK(EventClass::kTimer < EventClass::kApplication);
  CHECK(EventClass::kApplication < EventClass::kTransmitComplete);
}

TEST_CASE("the next time of an empty queue is never") {
  EventQueue<std::unique_ptr<int>> queue;
  CHECK(queue.next_time() == FabricTime::never());
  queue.push({FabricTime::from_ns(3), EventClass::kTimer, 0, 0}, std::make_unique<int>(7));
  CHECK(queue.next_time() == FabricTime::from_ns(3));
  CHECK(*queue.pop().second == 7);
  CHECK(queue.next_time() == FabricTime::never());
}
