#include "fabric/node/arrival_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "fabric/base/random.h"

using namespace mrclab;

namespace {

Arrival numbered_arrival(uint64_t sequence) {
  Arrival arrival;
  arrival.sequence = sequence;
  return arrival;
}

/// A queue and, beside it, the keys that it should hand out, in their order.
struct CheckedQueue {
  ArrivalQueue queue;
  std::vector<EventKey> waiting;

  void push(const EventKey& key) {
    queue.push(key.at, PortId{key.port}, numbered_arrival(key.sequence));
    waiting.insert(std::upper_bound(waiting.begin(), waiting.end(), key), key);
    CHECK(queue.next_time() == waiting.front().at);
  }
  void pop() {
    const auto [key, arrival] = queue.pop();
    CHECK(key == waiting.front());
    CHECK(arrival.sequence == key.sequence);
    waiting.erase(waiting.begin());
    CHECK(queue.empty() == waiting.empty());
    CHECK(queue.next_time() == (waiting.empty() ? FabricTime::never() : waiting.front().at));
  }
};

}  // namespace

TEST_CASE("arrivals come out by time, port and sequence, however pushes and pops mix") {
  // Many at one instant, or spread out; the next ones soon, late, or all of them before what waits.
  struct Kind {
    uint64_t span, ports;
    bool backwards;
  };
  for (const Kind kind : {Kind{1, 1, false}, Kind{4, 8, false}, Kind{1000, 64, false},
                          Kind{1'000'000, 4, false}, Kind{1000, 4, true}}) {
    CheckedQueue checked;
    FabricTime now;
    for (uint64_t i = 0; i < 3000; ++i) {
      const uint64_t random = mix64(kind.span + 7 * i);
      // More are pushed than popped at first, then fewer: the queue grows to some hundreds and empties.
      const bool push = checked.waiting.empty() || below(random, 10) < (i < 1500 ? 7u : 3u);
      if (push) {
        const auto ahead = static_cast<int64_t>(below(mix64(random), kind.span));
        const auto late = static_cast<int64_t>(kind.backwards ? 4'000'000 - i * 1000 : 0);
        checked.push({now + FabricTime::from_ps(ahead + late), EventClass::kArrival,
                      static_cast<uint32_t>(below(mix64(random + 1), kind.ports)), i});
      } else {
        if (!kind.backwards) now = checked.waiting.front().at;
        checked.pop();
      }
    }
    while (!checked.waiting.empty()) checked.pop();
  }
}

TEST_CASE("an arrival comes out as it went in") {
  FramePool frames;
  ArrivalQueue queue;
  Arrival arrival;
  arrival.frame = frames.make(77);
  arrival.start = FabricTime::from_ns(1);
  arrival.arrival = FabricTime::from_ns(2);
  arrival.sequence = 0xFFFF'FFFF'FFFF;
  arrival.lost = DropCause::kFrameCheck;
  arrival.foreign = true;
  queue.push(FabricTime::from_ns(3), PortId{5}, std::move(arrival));
  queue.push(FabricTime::from_ns(4), PortId{6}, numbered_arrival(1));
  const auto [key, out] = queue.pop();
  CHECK(key == EventKey{FabricTime::from_ns(3), EventClass::kArrival, 5, 0xFFFF'FFFF'FFFF});
  CHECK(out.frame.size() == 77);
  CHECK(out.start == FabricTime::from_ns(1));
  CHECK(out.arrival == FabricTime::from_ns(2));
  CHECK(out.sequence == 0xFFFF'FFFF'FFFF);
  CHECK(out.lost == DropCause::kFrameCheck);
  CHECK(out.foreign);
  const Arrival plain = queue.pop().arrival;
  CHECK(!plain.frame);
  CHECK(plain.lost == DropCause::kNone);
  CHECK(!plain.foreign);
}

TEST_CASE("a queue without arrivals has no next time") {
  const ArrivalQueue queue;
  CHECK(queue.empty());
  CHECK(queue.next_time() == FabricTime::never());
}
