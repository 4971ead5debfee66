#pragma once
// The frames that are on their way to a node, in the order in which it takes them in: (time, port, sequence).
//
// A wire hands its frames over in the order in which they were sent, but for a few that faults let overtake. So each
// port has a queue of its own, to whose end nearly every frame goes, and only the first ones compete. Sorting all
// arrivals of a node took more instructions, and a processor could not guess its jumps (tests/bench/README.md).
//
// Where switches cut through a long frame is taken in sooner after its last bit than a short one. That keeps the order
// of a port's frames, because it keeps that of their first bits: each is due when the first kLookupLength of it have
// come and passed the pipeline, or, where that takes longer than the pipeline, when its last bit comes.

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "fabric/base/cache_line.h"
#include "fabric/base/event_queue.h"
#include "fabric/base/fifo.h"
#include "fabric/node/node.h"
#include "fabric/node/port_groups.h"
#include "fabric/node/soonest_port.h"

namespace mrclab {

class ArrivalQueue {
  struct Line;

 public:
  /// The node takes an arrival in `latency` after its last bit came, and looks at `frame_bytes` of its frame's buffer.
  ArrivalQueue(size_t ports, FabricTime latency, size_t frame_bytes)
      : latency_(latency), frame_bytes_(frame_bytes), soonest_(ports), lines_(ports) {}
  ArrivalQueue(const ArrivalQueue&) = delete;  // a Door leads to it
  ArrivalQueue& operator=(const ArrivalQueue&) = delete;

  size_t ports() const { return lines_.ports(); }
  /// What comes in at this port, over a wire of this rate, is cut through (fabric/topology/topology.h).
  void set_cut_through(PortId port, BitRate rate) { line_of(port.value).cut_through = rate; }
  /// How much earlier than the latency after its last bit the node took in this arrival, which pop() has returned. A
  /// frame that was lost on the wire has nothing that the node could look at ahead of time.
  FabricTime lead_of(PortId port, const Arrival& arrival) const {
    return lead(lines_.made(port.value), latency_, arrival.frame, arrival.lost);
  }

  /// Where arrivals come into the queue of one node. A world with many nodes keeps their doors side by side: it finds no
  /// queue in a cache, and by a door it reaches what the queue keeps of a port without a look at the queue.
  class Door {
   public:
    Door() = default;  ///< leads nowhere
    explicit operator bool() const { return queue_ != nullptr; }
    /// Puts an arrival behind those that its port takes in earlier. Arrivals at one port and instant are ordered by their
    /// sequence. The node must take the arrival in before never(), because never() stands for a port without arrivals.
    /// Returns when the node takes it in, if that may be sooner than anything else at this port, or else never().
    [[gnu::always_inline]] FabricTime push(PortId port, Arrival&& arrival) const {
      Line* const found = PortGroups<Line>::find(lines_, port.value);
      if (found == nullptr) [[unlikely]]
        return push_new(port, std::move(arrival));
      Line& line = *found;
      const FabricTime due =
          arrival.arrival + latency_ - lead(line, latency_, arrival.frame, arrival.lost);
      if (line.frames.empty()) return queue_->push_first(port.value, due, std::move(arrival));
      // Nearly every frame comes behind all others of its port, which are due after the floor. Where some come at one
      // instant, or late, their sequence decides.
      const bool behind = due > line.newest;
      line.frames.emplace(std::move(arrival));
      if (!behind) return queue_->bring_forward(port.value);
      line.newest = due;
      return FabricTime::never();
    }
    // A caller with many arrivals for many doors calls these ahead of each push, in this order, and each one when what
    // the one before loads has come: what the queue keeps of the port, the place of the arrival.
    void fetch_line_of(PortId port) const {
      if (const Line* const line = PortGroups<Line>::find(lines_, port.value)) fetch_line(line);
    }
    void fetch_place_of(PortId port) const {
      const Line* const found = PortGroups<Line>::find(lines_, port.value);
      if (found == nullptr) return;
      const Line& line = *found;
      line.frames.fetch_back();
      if (line.frames.empty()) queue_->soonest_.fetch(port.value);
    }

   private:
    friend class ArrivalQueue;
    explicit Door(ArrivalQueue& queue)
        : queue_(&queue), lines_(queue.lines_.groups()), latency_(queue.latency_) {}
    /// Makes the line of a port at which nothing has come in before, and puts the arrival there.
    [[gnu::noinline]] FabricTime push_new(PortId port, Arrival&& arrival) const {
      const Line& line = queue_->line_of(port.value);
      const FabricTime due =
          arrival.arrival + latency_ - lead(line, latency_, arrival.frame, arrival.lost);
      return queue_->push_first(port.value, due, std::move(arrival));
    }
    ArrivalQueue* queue_ = nullptr;
    Line* const* lines_ = nullptr;  ///< PortGroups::groups()
    FabricTime latency_;
  };
  /// It holds until the queue is gone.
  Door door() { return Door(*this); }
  /// Returns when the node takes it in, if that may be sooner than anything else at this port, or else never().
  FabricTime push(PortId port, Arrival&& arrival) { return door().push(port, std::move(arrival)); }
  /// A node that has handled everything up to `floor` takes in then what it should have taken in earlier. The floor only
  /// rises, and arrivals that were due before it are taken out before it does.
  void set_floor(FabricTime floor) { floor_ = floor; }

  /// For a node whose turn has come, which finds little of its own in the cache: loads the first arrivals of each port, of
  /// all at once. When they have come, fetch_frames() loads the frame of each first one.
  void fetch_arrivals() const {
    lines_.for_each([](uint32_t, const Line& line) { fetch_line(&line); });
    lines_.for_each([](uint32_t, const Line& line) {
      if (line.frames.empty()) return;
      line.frames.fetch(0);
      line.frames.fetch(kInCacheLine);
    });
  }
  void fetch_frames() const {
    lines_.for_each([this](uint32_t, const Line& line) {
      if (!line.frames.empty()) line.frames.front().frame.fetch(frame_bytes_);
    });
  }

  /// Ports at which something comes in.
  size_t busy_ports() const { return busy_ports_; }
  bool is_busy(PortId port) const {
    const Line* const line = lines_.find(port.value);
    return line != nullptr && !line->frames.empty();
  }
  FabricTime next_time() const { return soonest_.next_time(); }
  bool empty() const { return next_time() == FabricTime::never(); }
  /// Where the next one comes in. Not empty, here and below.
  PortId next_port() const { return {soonest_.next()}; }
  /// Takes the next one out. Its frame is of this pool from now on.
  Arrival pop(FramePool& frames) {
    const uint32_t port = soonest_.next();
    Line& at = lines_.made(port);
    auto& line = at.frames;
    Kept kept = line.pop();
    if (line.empty()) {
      --busy_ports_;
      soonest_.set(port, FabricTime::never());
    } else {
      line.fetch(kInCacheLine);
      line.front().frame.fetch(frame_bytes_);
      soonest_.set(port, time_of(at, line.front()));
    }
    if (kept.frame) frames.adopt(kept.frame);
    return std::move(kept).arrival();
  }

 private:
  static constexpr size_t kMostFrames =
      std::numeric_limits<uint32_t>::max() / 2;  // frame pools have fewer
  /// An arrival in 24 bytes, because a switch has hundreds of them in hand. Its sequence breaks ties between frames
  /// that come to one port at one instant, for which its low 17 bits do: none of them overtakes 65,536 others. From its
  /// first bit to its last a frame takes at most kLongestWay, 0.27 s, or counts as if it did: at 1 Mb/s the longest takes
  /// 35 ms, and a fault delays it by 1 ms.
  struct Kept {
    static constexpr int kSequenceBits = 17, kWayBits = 38;
    static constexpr int64_t kLongestWay = (int64_t{1} << kWayBits) - 1;  // ps
    Kept() = default;
    explicit Kept(Arrival&& a) noexcept
        : frame(std::move(a.frame)),
          last_bit(a.arrival),
          rest(a.sequence << (64 - kSequenceBits) | way_of(a) << 9 |
               uint64_t{static_cast<uint8_t>(a.lost)} << 1 | (a.foreign ? 1 : 0)) {}
    uint64_t sequence() const { return rest >> (64 - kSequenceBits); }
    /// Was it sent before the other, which comes to the same port at the same instant?
    bool precedes(const Kept& other) const {
      const uint64_t behind = sequence() - other.sequence();
      return static_cast<int64_t>(behind << (64 - kSequenceBits)) < 0;
    }
    DropCause lost() const { return static_cast<DropCause>(rest >> 1 & 0xFF); }
    Arrival arrival() && {
      const auto way = static_cast<int64_t>(rest >> 9 & kLongestWay);
      return {std::move(frame), last_bit - FabricTime::from_ps(way), last_bit, sequence(), lost(),
              (rest & 1) != 0};
    }

    Frame frame;
    FabricTime last_bit;
    uint64_t rest = 0;  ///< sequence, time from the first bit to the last, `lost` and `foreign`

   private:
    static uint64_t way_of(const Arrival& a) {
      return static_cast<uint64_t>(std::clamp<int64_t>((a.arrival - a.start).ps(), 0, kLongestWay));
    }
  };
  static_assert(sizeof(Kept) == 24 && sizeof(DropCause) == 1);
  static constexpr uint32_t kInCacheLine = kCacheLine / sizeof(Kept);  ///< arrivals
  /// Places that a line begins with: on a loaded wire of 100 Gb/s and half a microsecond so many frames are on their way.
  static constexpr uint32_t kInFlight = 9;
  struct alignas(kCacheLine) Line {
    Fifo<Kept, kInFlight, true> frames{kMostFrames};
    FabricTime
        newest;  ///< when the last one of those that came in since there was none is taken in
    BitRate cut_through = {};  ///< of the wire; zero: frames are stored first
  };
  static_assert(sizeof(Line) == 4 * kCacheLine);

  Line& line_of(uint32_t port) {
    return lines_.at(port, [](uint32_t) { return Line(); });
  }

  static FabricTime lead(const Line& line, FabricTime latency, const Frame& frame, DropCause lost) {
    if (line.cut_through.bps == 0 || lost != DropCause::kNone || !frame) return {};
    return cut_through_lead(line.cut_through, latency, frame.wire_length());
  }
  /// Puts an arrival into the empty line of a port, which competes with the other ports from then on.
  [[gnu::noinline]] FabricTime push_first(uint32_t port, FabricTime due, Arrival&& arrival) {
    Line& line = lines_.made(port);
    line.newest = std::max(due, floor_);
    ++busy_ports_;
    soonest_.set(port, line.newest);
    line.frames.emplace(std::move(arrival));
    return line.newest;
  }
  FabricTime time_of(const Line& line, const Kept& kept) const {
    return std::max(kept.last_bit + latency_ - lead(line, latency_, kept.frame, kept.lost()),
                    floor_);
  }
  /// Comes the item of this number in a line before the one in front of it?
  bool overtakes(Line& line, size_t number) const {
    const Kept &it = line.frames[number], &other = line.frames[number - 1];
    const FabricTime at = time_of(line, it), other_at = time_of(line, other);
    return at != other_at ? at < other_at : it.precedes(other);
  }
  /// Moves the newest arrival at a port to where it belongs. Returns when the first one is taken in.
  [[gnu::noinline]] FabricTime bring_forward(uint32_t port) {
    Line& line = lines_.made(port);
    for (size_t i = line.frames.size() - 1; i > 0 && overtakes(line, i); --i) {
      std::swap(line.frames[i], line.frames[i - 1]);
    }
    const FabricTime first = time_of(line, line.frames.front());
    soonest_.set(port, first);
    return first;
  }

  FabricTime latency_;
  size_t frame_bytes_;
  size_t busy_ports_ = 0;
  FabricTime floor_ = FabricTime::from_ps(std::numeric_limits<int64_t>::min());
  SoonestPort soonest_;     // when the node takes in the first arrival of each port
  PortGroups<Line> lines_;  // by port
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
