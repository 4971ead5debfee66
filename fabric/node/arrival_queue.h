#pragma once
// The frames that are on their way to a node, in the order in which it takes them in: (time, port, sequence).
//
// A wire hands its frames over in the order in which they were sent, but for a few that faults let overtake. So each
// port has a list of its own, to whose end nearly every frame goes, and only the first of each list compete: in a
// tree of winners, whose comparisons need no jumps. Sorting all arrivals of a node took more instructions, and many of
// its jumps went another way than the processor had guessed (tests/bench/README.md).

#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "fabric/base/event_queue.h"
#include "fabric/base/make_room.h"
#include "fabric/base/place.h"
#include "fabric/node/node.h"

namespace mrclab {

class ArrivalQueue {
 public:
  /// The node takes `arrival`, which came to `port`, in at `at`, which is before never(). There are as many as their
  /// frame pool allows, and fewer than 65,536 ports.
  void push(FabricTime at, PortId port, Arrival&& arrival) {
    if (port.value >= lines_.size()) widen(port.value + 1);
    const uint32_t place = keep(at, std::move(arrival));
    Line& line = lines_[port.value];
    if (line.first == kNone) {
      line = {place, place};
      compete(port.value, at);
    } else if (before(kept_[line.last], kept_[place])) {
      kept_[line.last].next = place;
      line.last = place;
    } else {
      insert(port.value, place);
    }
  }
  FabricTime next_time() const {
    return lines_.empty() ? FabricTime::never() : firsts_[winners_[1]];
  }
  bool empty() const { return next_time() == FabricTime::never(); }
  struct Next {
    EventKey key;
    Arrival arrival;
  };
  /// Not empty.
  Next pop() {
    const uint32_t port = winners_[1];
    Line& line = lines_[port];
    const uint32_t place = line.first;
    const Kept& kept = kept_[place];
    const EventKey key{kept.at, EventClass::kArrival, port, kept.sequence()};
    line.first = kept.next;
    if (line.first == kNone) {
      compete(port, FabricTime::never());
    } else {
      const Kept& first = kept_[line.first];
      first.frame.fetch();
      if (first.next != kNone) __builtin_prefetch(&kept_[first.next], 1);
      compete(port, first.at);
    }
    return {key, take(place)};
  }

 private:
  static constexpr uint32_t kNone = ~0u;  // frame pools have fewer frames
  /// An arrival in 48 bytes, because a switch has hundreds of them in hand. Its sequence breaks ties between frames
  /// that come to one port at one instant, for which its low 48 bits do.
  struct Kept {
    Kept() = default;
    Kept(FabricTime taken_in, Arrival&& a)
        : frame(std::move(a.frame)),
          start(a.start),
          last_bit(a.arrival),
          at(taken_in),
          rest(a.sequence << 16 | uint64_t{static_cast<uint8_t>(a.lost)} << 8 |
               (a.foreign ? 1 : 0)) {}
    uint64_t sequence() const { return rest >> 16; }
    Arrival arrival() && {
      return {
          std::move(frame), start, last_bit, sequence(), static_cast<DropCause>(rest >> 8 & 0xFF),
          (rest & 1) != 0};
    }

    Frame frame;
    FabricTime start, last_bit, at;
    uint64_t rest = 0;      ///< sequence, `lost` and `foreign`
    uint32_t next = kNone;  ///< the place behind it in the list of its port; of a free place: the next free one
  };
  static_assert(sizeof(Kept) == 48 && sizeof(DropCause) == 1);
  struct Line {
    uint32_t first = kNone, last = kNone;
  };

  static bool before(const Kept& a, const Kept& b) {
    return a.at != b.at ? a.at < b.at : a.sequence() < b.sequence();
  }

  uint32_t keep(FabricTime at, Arrival&& arrival) {
    if (free_ == kNone) {
      make_room(kept_, 1);
      kept_.emplace_back(at, std::move(arrival));
      return static_cast<uint32_t>(kept_.size() - 1);
    }
    const uint32_t place = free_;
    free_ = kept_[place].next;
    put_in_place(kept_[place], Kept(at, std::move(arrival)));
    return place;
  }
  Arrival take(uint32_t place) {
    Kept& kept = kept_[place];
    kept.next = std::exchange(free_, place);
    return std::move(kept).arrival();  // which leaves a place without a frame
  }

  /// The first of a port's list is taken in at `at`; never(): it has none. The matches on the way from the port's leaf
  /// to the root are held again.
  void compete(uint32_t port, FabricTime at) {
    firsts_[port] = at;
    uint32_t winner = port;
    for (size_t node = lines_.size() + port; node > 1; node /= 2) {
      const uint32_t other = winners_[node ^ 1];
      // At one instant the lower port wins, and below a right child the other one is lower.
      const FabricTime least = firsts_[other] - FabricTime::from_ps(static_cast<int64_t>(node & 1));
      winner = least < firsts_[winner] ? other : winner;
      winners_[node / 2] = static_cast<uint16_t>(winner);
    }
  }

  /// Puts it into the list of a port that has later ones.
  [[gnu::noinline]] void insert(uint32_t port, uint32_t place) {
    Line& line = lines_[port];
    if (before(kept_[place], kept_[line.first])) {
      kept_[place].next = std::exchange(line.first, place);
      return compete(port, kept_[place].at);
    }
    uint32_t previous = line.first;
    while (before(kept_[kept_[previous].next], kept_[place])) previous = kept_[previous].next;
    kept_[place].next = std::exchange(kept_[previous].next, place);
  }

  /// A tree for so many ports, or for as many more as make a power of two.
  [[gnu::noinline]] void widen(uint32_t ports) {
    const size_t leaves = std::bit_ceil(size_t{ports});
    lines_.resize(leaves);
    firsts_.resize(leaves, FabricTime::never());
    winners_.resize(2 * leaves);
    for (uint32_t port = 0; port < leaves; ++port) {
      winners_[leaves + port] = static_cast<uint16_t>(port);
    }
    for (uint32_t port = 0; port < leaves; ++port) compete(port, firsts_[port]);
  }

  std::vector<Line> lines_;         // by port
  std::vector<FabricTime> firsts_;  // by port: when the first of its list is taken in
  /// The ports that win the matches: of node 1 all, and each node between its children, 2n and 2n + 1. The leaves, as many
  /// as there are places for ports, are the second half.
  std::vector<uint16_t> winners_;
  std::vector<Kept> kept_;  // as many as ever waited at once
  uint32_t free_ = kNone;   // the free place that was used last
};

/// Is an arrival the next event of a node whose other events are in `others`? At one instant a node handles faults
/// before arrivals, and all its other events after them; EventClass has that order.
template <class Payload>
bool arrival_is_next(const ArrivalQueue& arrivals, const EventQueue<Payload>& others) {
  const FabricTime arrival = arrivals.next_time(), other = others.next_time();
  if (arrival != other) return arrival < other;
  return !arrivals.empty() && (others.empty() || others.top().event_class != EventClass::kFault);
}

}  // namespace mrclab
