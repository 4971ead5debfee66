#pragma once
// The frames that are on their way to a node, in the order in which it takes them in: (time, port, sequence).
//
// Nearly all of them come in long before their turn, and in no order. So they are not kept in a heap: the
// soonest ones, at most kNear, lie sorted, and what comes later than all of these is only appended. When the
// sorted ones are gone, the soonest kRefill of the rest are sorted. That takes fewer instructions than a heap of
// whole keys (tests/bench/README.md).

#include <algorithm>
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
  /// The node takes `arrival`, which came to `port`, in at `at`. There are as many as their frame pool allows.
  void push(FabricTime at, PortId port, Arrival&& arrival) {
    const Entry entry{at, port.value, keep(std::move(arrival))};
    if (near_.size() == kNear && is_near(entry)) put_back_later_half();
    if (is_near(entry)) {
      insert(entry);
    } else {
      append(entry);
    }
  }
  FabricTime next_time() const { return near_.empty() ? soonest_far_ : near_.back().at; }
  bool empty() const { return near_.empty() && far_.empty(); }
  struct Next {
    EventKey key;
    Arrival arrival;
  };
  /// Not empty.
  Next pop() {
    if (near_.empty()) refill();
    const Entry entry = near_.back();
    near_.pop_back();
    if (near_.size() >= kAhead) kept_[near_[near_.size() - kAhead].place].frame.fetch();
    if (near_.size() >= 2 * kAhead) fetch(near_[near_.size() - 2 * kAhead].place);
    const uint64_t sequence = kept_[entry.place].sequence();
    return {{entry.at, EventClass::kArrival, entry.port, sequence}, take(entry.place)};
  }

 private:
  struct Entry {
    FabricTime at;
    uint32_t port;
    uint32_t place;  ///< in kept_
  };
  /// An arrival in 32 bytes, because a switch has hundreds of them in hand. Its sequence breaks ties between frames
  /// that come to one port at one instant, for which its low 48 bits do.
  struct Kept {
    Kept() = default;
    explicit Kept(Arrival&& a)
        : frame(std::move(a.frame)),
          start(a.start),
          last_bit(a.arrival),
          rest(a.sequence << 16 | uint64_t{static_cast<uint8_t>(a.lost)} << 8 |
               (a.foreign ? 1 : 0)) {}
    uint64_t sequence() const { return rest >> 16; }
    Arrival arrival() && {
      return {
          std::move(frame), start, last_bit, sequence(), static_cast<DropCause>(rest >> 8 & 0xFF),
          (rest & 1) != 0};
    }

    Frame frame;
    FabricTime start, last_bit;
    uint64_t rest = 0;  ///< sequence, `lost` and `foreign`; of a free place: the next free one
  };
  static_assert(sizeof(Kept) == 32 && sizeof(DropCause) == 1);
  /// A type, not a function, so that sorting needs no calls. Sequence numbers are looked up, since hardly any two
  /// frames come to one port at one instant.
  struct Later {
    const std::vector<Kept>& kept;
    bool operator()(const Entry& a, const Entry& b) const {
      if (a.at != b.at) return a.at > b.at;
      if (a.port != b.port) return a.port > b.port;
      return kept[a.place].sequence() > kept[b.place].sequence();
    }
  };
  Later later() const { return Later{kept_}; }

  uint32_t keep(Arrival&& arrival) {
    if (free_ == kNone) {
      make_room(kept_, 1);
      kept_.emplace_back(std::move(arrival));
      return static_cast<uint32_t>(kept_.size() - 1);
    }
    const uint32_t place = free_;
    free_ = static_cast<uint32_t>(kept_[place].rest);
    put_in_place(kept_[place], Kept(std::move(arrival)));
    return place;
  }
  Arrival take(uint32_t place) {
    Kept& kept = kept_[place];
    const uint32_t next_free = std::exchange(free_, place);
    Arrival arrival = std::move(kept).arrival();  // which leaves a place without a frame
    kept.rest = next_free;
    return arrival;
  }
  void fetch(uint32_t place) const { __builtin_prefetch(&kept_[place], 1); }

  bool is_near(const Entry& entry) const { return !near_.empty() && later()(near_.front(), entry); }
  void append(const Entry& entry) {
    make_room(far_, 1);
    far_.push_back(entry);
    soonest_far_ = std::min(soonest_far_, entry.at);
  }
  void insert(const Entry& entry) {
    near_.push_back(entry);
    size_t place = near_.size() - 1;
    while (later()(entry, near_[place - 1])) {  // the first is later than it
      near_[place] = near_[place - 1];
      --place;
    }
    near_[place] = entry;
  }
  [[gnu::noinline]] void put_back_later_half() {
    const auto half = near_.begin() + kNear / 2;
    make_room(far_, kNear / 2);
    far_.insert(far_.end(), near_.begin(), half);
    near_.erase(near_.begin(), half);
    for (const Entry& put_back : far_) soonest_far_ = std::min(soonest_far_, put_back.at);
  }

  [[gnu::noinline]] void refill() {
    if (far_.size() > kRefill) {
      std::nth_element(far_.begin(), far_.end() - kRefill, far_.end(), later());
      near_.assign(far_.end() - kRefill, far_.end());
      far_.resize(far_.size() - kRefill);
    } else {
      near_.assign(far_.begin(), far_.end());  // each keeps its own memory
      far_.clear();
    }
    std::sort(near_.begin(), near_.end(), later());
    for (const Entry& entry : near_) fetch(entry.place);
    const size_t soonest = std::min(near_.size(), kAhead);
    for (size_t i = 1; i <= soonest; ++i) kept_[near_[near_.size() - i].place].frame.fetch();
    soonest_far_ = FabricTime::never();
    for (const Entry& entry : far_) soonest_far_ = std::min(soonest_far_, entry.at);
  }

  /// The sender wrote a frame so long ago that it is in no cache any more. The queue has it loaded so many arrivals
  /// before its turn, and its place in kept_, which says where the frame is, twice as many before.
  static constexpr size_t kAhead = 4;
  static constexpr size_t kNear = 64, kRefill = 32;
  static constexpr uint32_t kNone = ~0u;  // frame pools have fewer frames

  std::vector<Entry> near_;  // the last is the next
  std::vector<Entry> far_;   // in no order; none before the first of near_
  FabricTime soonest_far_ = FabricTime::never();
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
