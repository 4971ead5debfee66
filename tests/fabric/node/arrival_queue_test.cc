#include "fabric/node/arrival_queue.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "fabric/base/random.h"

using namespace mrclab;

namespace {

constexpr FabricTime kLatency = FabricTime::from_ns(7);

/// One that is taken in at `at`.
Arrival numbered_arrival(FabricTime at, uint64_t sequence) {
  Arrival arrival;
  arrival.arrival = at - kLatency;
  arrival.sequence = sequence;
  return arrival;
}

/// A queue and, beside it, the keys that it should hand out, in their order.
struct CheckedQueue {
  FramePool frames;
  ArrivalQueue queue{64, kLatency, kHeaderBytes};
  std::vector<EventKey> waiting;

  void push(const EventKey& key) {
    const FabricTime told = queue.push(PortId{key.port}, numbered_arrival(key.at, key.sequence));
    waiting.insert(std::upper_bound(waiting.begin(), waiting.end(), key), key);
    const EventKey& first =
        *std::find_if(waiting.begin(), waiting.end(),
                      [&](const EventKey& each) { return each.port == key.port; });
    // SimShard plans the node's next turn by the instant that push() returns.
    if (first.sequence == key.sequence || told != FabricTime::never()) CHECK(told == first.at);
    CHECK(queue.next_time() == waiting.front().at);
    check_busy();
  }
  /// The queue counts the ports at which something comes in.
  void check_busy() const {
    std::set<uint32_t> ports;
    for (const EventKey& key : waiting) ports.insert(key.port);
    CHECK(queue.busy_ports() == ports.size());
    for (uint32_t port = 0; port < queue.ports(); ++port) {
      CHECK(queue.is_busy(PortId{port}) == ports.contains(port));
    }
  }
  void pop() {
    const EventKey key = waiting.front();
    CHECK(queue.next_time() == key.at);
    CHECK(queue.next_port() == PortId{key.port});
    CHECK(queue.pop(frames).sequence == key.sequence);
    waiting.erase(waiting.begin());
    CHECK(queue.empty() == waiting.empty());
    CHECK(queue.next_time() == (waiting.empty() ? FabricTime::never() : waiting.front().at));
    check_busy();
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

TEST_CASE("an arrival comes out as it went in, with the low bits of its sequence") {
  FramePool frames;
  ArrivalQueue queue(7, kLatency, kHeaderBytes);
  Arrival arrival;
  arrival.frame = frames.make(77);
  arrival.start = FabricTime::from_ns(1);
  arrival.arrival = FabricTime::from_ns(2);
  arrival.sequence = 0xFFFF'FFFF'FFFE;
  arrival.lost = DropCause::kFrameCheck;
  arrival.foreign = true;
  queue.push(PortId{5}, std::move(arrival));
  queue.push(PortId{6}, numbered_arrival(FabricTime::from_ns(40), 1));
  CHECK(queue.next_time() == FabricTime::from_ns(9));
  CHECK(queue.next_port() == PortId{5});
  const Arrival out = queue.pop(frames);
  CHECK(out.frame.size() == 77);
  CHECK(out.start == FabricTime::from_ns(1));
  CHECK(out.arrival == FabricTime::from_ns(2));
  CHECK(out.sequence == 0x1'FFFE);
  CHECK(out.lost == DropCause::kFrameCheck);
  CHECK(out.foreign);
  const Arrival plain = queue.pop(frames);
  CHECK(!plain.frame);
  CHECK(plain.lost == DropCause::kNone);
  CHECK(!plain.foreign);
}

TEST_CASE(
    "a frame that takes the longest way keeps its first instant, and longer ones stay within") {
  FramePool frames;
  ArrivalQueue queue(1, kLatency, kHeaderBytes);
  const FabricTime longest = FabricTime::from_ps((int64_t{1} << 38) - 1);
  for (const FabricTime way : {FabricTime::zero(), longest, longest * 2}) {
    Arrival arrival;
    arrival.start = FabricTime::from_ms(5);
    arrival.arrival = arrival.start + way;
    queue.push(PortId{0}, std::move(arrival));
    const Arrival out = queue.pop(frames);
    CHECK(out.arrival == FabricTime::from_ms(5) + way);
    CHECK(out.start == out.arrival - std::min(way, longest));
  }
}

TEST_CASE("a queue without arrivals has no next time") {
  const ArrivalQueue queue(3, kLatency, kHeaderBytes);
  CHECK(queue.empty());
  CHECK(queue.next_time() == FabricTime::never());
}

TEST_CASE(
    "what should have been taken in before the floor is taken in then, in the order of its "
    "sequence") {
  FramePool frames;
  ArrivalQueue queue(2, kLatency, kHeaderBytes);
  queue.push(PortId{1}, numbered_arrival(FabricTime::from_ns(90), 1));
  queue.set_floor(FabricTime::from_ns(80));
  const FabricTime late = queue.push(PortId{1}, numbered_arrival(FabricTime::from_ns(60), 3));
  CHECK(late == FabricTime::from_ns(80));
  queue.push(PortId{1}, numbered_arrival(FabricTime::from_ns(70), 2));
  queue.push(PortId{0}, numbered_arrival(FabricTime::from_ns(50), 9));
  queue.push(PortId{0},
             numbered_arrival(FabricTime::from_ns(55), 8));  // behind all others, but for the floor
  std::vector<std::pair<FabricTime, uint64_t>> told;
  while (!queue.empty()) {
    const FabricTime at = queue.next_time();
    told.emplace_back(at, queue.pop(frames).sequence);
  }
  const auto ns = [](int64_t n) { return FabricTime::from_ns(n); };
  CHECK(told == std::vector<std::pair<FabricTime, uint64_t>>{
                    {ns(80), 8}, {ns(80), 9}, {ns(80), 2}, {ns(80), 3}, {ns(90), 1}});
}

TEST_CASE(
    "arrivals of one port and instant come out by their sequence, whichever was pushed first") {
  FramePool frames;
  ArrivalQueue queue(1, kLatency, kHeaderBytes);
  // Also where the bits that are kept begin anew between them.
  const uint64_t base = uint64_t{3} << 17;
  for (const uint64_t sequence : {base + 1, base - 1, base}) {
    queue.push(PortId{0}, numbered_arrival(FabricTime::from_ns(50), sequence));
  }
  for (const uint64_t low : {0x1'FFFF, 0, 1}) CHECK(queue.pop(frames).sequence == low);
  for (const uint64_t sequence : {6, 5, 7}) {
    queue.push(PortId{0}, numbered_arrival(FabricTime::from_ns(50), sequence));
  }
  for (const uint64_t sequence : {5, 6, 7}) CHECK(queue.pop(frames).sequence == sequence);
}

TEST_CASE(
    "frames that are cut through come out by when they are taken in, long and short, early and late") {
  FramePool frames;
  ArrivalQueue queue(4, kLatency, kSwitchedBytes);
  const BitRate rate = BitRate::from_gbps(800);
  for (const uint32_t port : {0u, 1u}) queue.set_cut_through(PortId{port}, rate);  // not 2 and 3
  std::vector<EventKey> waiting;
  for (uint64_t i = 0; i < 2000; ++i) {
    const uint64_t random = mix64(i);
    const auto port = static_cast<uint32_t>(below(random, 4));
    Arrival arrival;
    arrival.frame = frames.make(60);
    arrival.frame.set_modelled_size({60 + below(mix64(random), 700)});
    arrival.arrival = FabricTime::from_ps(static_cast<int64_t>(below(mix64(random + 1), 100'000)));
    arrival.sequence = i;
    if (i % 5 == 0) arrival.lost = DropCause::kFrameCheck;
    const bool cut = port < 2 && arrival.lost == DropCause::kNone;
    const Bytes length = arrival.frame.wire_length();
    const FabricTime at = arrival.arrival + kLatency -
                          (cut ? cut_through_lead(rate, kLatency, length) : FabricTime::zero());
    CHECK(at >= arrival.arrival);
    queue.push(PortId{port}, std::move(arrival));
    waiting.push_back({at, EventClass::kArrival, port, i});
  }
  std::sort(waiting.begin(), waiting.end());
  for (const EventKey& key : waiting) {
    CHECK(queue.next_time() == key.at);
    CHECK(queue.next_port() == PortId{key.port});
    CHECK(queue.pop(frames).sequence == key.sequence);
  }
  CHECK(queue.empty());
}
