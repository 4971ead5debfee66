#pragma once
// One egress port: a queue per traffic class in front of a transmitter that runs at the link's rate in
// fabric time. Has no clock: the node passes the time, and asks for no frame while one is being sent.
//
// Lengths are wire lengths (fabric/base/units.h). A queue's depth counts what waits, not the frame that
// is being sent. Classes as in UEC 1.0.3 §4.1 (TC_low, TC_med and TC_high):
//
//   data     every frame whose DSCP is none of the others. Would a frame take the depth over the
//            trim threshold and is it trimmable: trimmed, to the next queue. Over the tail drop
//            limit: dropped (kQueueFull).
//   trimmed  what this switch or one before it trimmed. Over its limit: dropped
//            (kTrimmedQueueFull). While data waits too, it gets no more than half of the bytes.
//   control  SACK, NACK, ACK: before everything else, as long as it keeps to its part of the bytes while others
//            wait (fabric/topology/scheduler_weights.h). Over its limit: dropped (kControlQueueFull).
//   lossless data of RoCE. While frames of the classes above wait too, it gets as many bytes as they (as
//            deficit round robin with equal weights does). It may be paused; over its limit, which there is
//            only where nothing pauses: dropped (kQueueFull). ECN by RED from its own depth, on all hops.
//   pause    one pause frame (fabric/packet/pause_frame.h), before everything: the headroom counts on it
//   ECN      decided when a frame leaves the data queue, from the depth it leaves behind: the
//            newest state, as in htsim's composite queue. Never on host-facing ports: the
//            last hop's congestion is the receiver's own (MRC paper §2.1).
//
// Trimmed frames have a class of their own because there may be many more of them than a link can
// carry: where 128 senders begin at once, their headers alone are four times its rate, and SACKs that
// waited with them would be lost with them.
//
// A wire that carries a frame twice (fabric/node/wire_model.h) is sent a copy of it before anything queued; the copy
// is not queued, and is dropped with the carrier.

#include <array>
#include <cassert>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "fabric/base/fifo.h"
#include "fabric/node/node.h"
#include "fabric/node/wire_model.h"
#include "fabric/packet/frame.h"
#include "fabric/topology/topology.h"

namespace mrclab::switchd {

struct EgressSettings {
  EgressWire::Site wire;
  bool host_facing = false;
  QueueProfile queues;  ///< as built
  LosslessProfile lossless;
  /// The bound of RoCE's queue where the buffer of the whole switch is its limit: with PFC, or an ASIC's. Zero: elsewhere.
  Bytes lossless_room;
};

/// What faults do to the queues of all ports of a switch. The default is as built.
struct QueueFaults {
  bool trim_off = false;
  EcnKind ecn = EcnKind::kAsBuilt;
  Probability buffer_lost;
};
/// The thresholds under these faults: each shrinks by the share of the buffer that is lost.
QueueProfile spoilt(const QueueProfile& as_built, const QueueFaults& faults);

/// The thresholds of a port's queues, and what faults leave of them. Ports of one switch that are alike have them
/// in common, since nothing in them is a port's own.
class QueueRules {
 public:
  /// Of every queue, whatever limit it was given: a port keeps its depths in 32 bits.
  static constexpr Bytes kDeepestQueue{UINT32_MAX};
  explicit QueueRules(const EgressSettings& settings);
  /// Are these the rules of such a port?
  bool fit(const EgressSettings& settings) const;
  /// Applies from now on; frames that are queued stay queued.
  void set_faults(const QueueFaults& faults);

  const QueueProfile& limits() const { return limits_; }
  bool trims() const { return limits_.trim; }
  bool always_marks() const { return always_marks_; }
  const LosslessProfile& lossless() const { return lossless_; }
  const DscpMap& dscps() const { return dscps_; }
  QueueClass class_of(uint8_t dscp) const { return classes_[dscp]; }
  /// How much may wait in a queue.
  Bytes most_waiting(QueueClass queue) const { return most_waiting_[static_cast<size_t>(queue)]; }
  /// Data that would take its queue over this is trimmed if that is possible; nothing is where the profile trims
  /// nothing.
  Bytes trim_over(bool host_facing) const { return trim_over_[host_facing ? 1 : 0]; }
  // The limits of queues without faults, which only take from them.
  Bytes most_trimmed_as_built() const { return as_built_.trimmed_limit; }
  Bytes most_lossless_as_built() const { return most_lossless(as_built_); }

 private:
  Bytes most_lossless(const QueueProfile& limits) const {
    return lossless_room_ > Bytes{0} ? lossless_room_ : limits.lossless_limit;
  }
  void apply_limits();

  QueueProfile as_built_;
  LosslessProfile lossless_;
  Bytes lossless_room_;
  DscpMap dscps_;
  QueueProfile limits_;  // as faults have left them
  bool always_marks_ = false;
  // apply_limits() and the constructor derive the rest from the members above, because every hop asks for it.
  std::array<QueueClass, kMaxDscp + 1> classes_{};
  std::array<Bytes, 6> most_waiting_{};  // by QueueClass
  std::array<Bytes, 2>
      trim_over_{};  // [0] for ports that lead to switches, [1] for ports that lead to hosts
};

/// What became of a frame offered to a port.
struct Admission {
  DropCause refused = DropCause::kNone;
  QueueClass queue = QueueClass::kData;
  bool trimmed = false;
  Bytes length = {};  ///< of what is queued now
};

/// A frame whose transmission starts now.
struct Departure {
  Frame frame;
  QueueClass queue = QueueClass::kData;
  bool trimmed = false;     ///< this port trimmed it
  bool ecn_marked = false;  ///< this port marked it
  bool is_copy = false;     ///< a copy of the frame before: the wire carries that one twice
  FabricTime end;           ///< its last bit leaves
  PortId ingress;           ///< of a frame of RoCE: where it came in
  WireFate fate;
};

class EgressPort {
 public:
  /// `rules` fit the settings and outlive the port.
  EgressPort(const EgressSettings& settings, const QueueRules& rules);

  /// Queues `frame`, trimmed if need be, or refuses it and leaves it unchanged. `ingress`: where it came in. `room`: what
  /// the switch's buffer leaves to one queue, besides the queue's own limit.
  Admission admit(Frame& frame, uint8_t dscp, PortId ingress = {}, Bytes room = Bytes{UINT64_MAX});
  QueueClass class_of(uint8_t dscp) const { return rules_->class_of(dscp); }

  /// Carrier and something to send. The owner keeps whether the transmitter is idle.
  bool ready() const {
    if (!carrier_) return false;
    if (waiting_frames_ > 0 && !paused_) return true;
    return (seldom_ && (seldom_->copy || seldom_->pause)) ||
           (paused_ && waiting_frames_ > waiting_lossless());
  }
  /// The neighbour pauses the class of RoCE's data, or lets it go on.
  void set_paused(bool paused) { paused_ = paused; }
  /// A pause frame is to be sent next; it takes the place of one that has not been sent yet.
  void put_pause(Frame frame) { seldom().pause = std::move(frame); }
  size_t waiting_lossless() const { return waiting(QueueClass::kLossless); }
  /// Starts the next frame. Requires ready() and that the frame before has left.
  Departure depart(FabricTime now);

  bool carrier() const { return carrier_; }
  /// A port that loses its carrier starts nothing; the owner takes the queued frames out with
  /// flush_one() and records them. The frame being sent finishes (the receiver cuts it).
  void set_carrier(bool up) { carrier_ = up; }
  struct Flushed {
    Frame frame;
    QueueClass queue;
    PortId ingress;
  };
  /// Takes one waiting frame of RoCE out; empty when none waits.
  std::optional<Flushed> flush_one_lossless();
  /// Takes one waiting frame out, control first and data last; empty when nothing waits.
  std::optional<Flushed> flush_one();
  /// The wire's second copy of the frame that is being sent, if one is to come, is not sent.
  void forget_copy() {
    if (seldom_) seldom_->copy.reset();
  }

  EgressWire& wire() { return wire_; }
  Bytes depth(QueueClass queue) const { return {in_use(queue) ? queue_of(queue).depth : 0u}; }
  Bytes depth_max(QueueClass queue) const {
    return {in_use(queue) ? queue_of(queue).depth_max : 0u};
  }
  size_t queued_frames() const { return waiting_frames_; }
  // For a port whose turn comes: loads the first place of each queue that nearly all ports use, then the frame.
  void fetch_waiting() const {
    for (const Queue& queue : queues_) queue.waiting.fetch(0);
  }
  void fetch_waiting_frames() const {
    for (const Queue& queue : queues_) queue.fetch_front_frame();
  }

 private:
  /// 16 bytes, because each queue of each port keeps some.
  struct Waiting {
    Waiting() = default;
    Waiting(Frame&& what, Bytes wire_length, bool is_trimmed, PortId from) noexcept
        : frame(std::move(what)),
          rest(uint64_t{from.value} << 32 | wire_length.value << 1 | (is_trimmed ? 1 : 0)) {
      assert(wire_length.value < 1u << 31);
    }
    Bytes length() const { return {(rest & 0xFFFF'FFFF) >> 1}; }
    bool trimmed() const { return (rest & 1) != 0; }
    PortId ingress() const { return {static_cast<uint32_t>(rest >> 32)}; }

    Frame frame;
    /// Ingress, wire length, trimmed: one word, because a port often reads it right after it wrote it.
    uint64_t rest = 0;
  };
  struct Queue {
    explicit Queue(Bytes limit);
    void fetch_front_frame() const {
      if (!waiting.empty()) waiting.front().frame.fetch(kSwitchedBytes);
    }
    Fifo<Waiting> waiting;
    // Bytes. No queue is deeper than kDeepestQueue.
    uint32_t depth = 0, depth_max = 0;
  };
  /// What only ports have that trimmed frames went through.
  struct Trimmed {
    explicit Trimmed(Bytes limit) : queue(limit) {}
    Queue queue;
    int64_t lead =
        0;  ///< bytes that they were sent ahead of waiting data; positive: it is data's turn
  };
  /// What only ports have that frames of RoCE went through.
  struct Lossless {
    explicit Lossless(Bytes limit) : queue(limit) {}
    Queue queue;
    int64_t lead = 0;  ///< bytes that frames of RoCE were sent ahead of waiting data of MRC
    uint64_t red_counter = 0;
  };
  static constexpr size_t kQueues = 4;  // data, control, trimmed, lossless
  static constexpr size_t index_of(QueueClass queue) { return static_cast<size_t>(queue) - 1; }
  size_t waiting(QueueClass queue) const { return waiting_[index_of(queue)]; }
  bool in_use(QueueClass queue) const {
    return queue == QueueClass::kTrimmed    ? seldom_ && seldom_->trimmed
           : queue == QueueClass::kLossless ? seldom_ && seldom_->lossless
                                            : true;
  }
  const Queue& queue_of(QueueClass queue) const {
    return queue == QueueClass::kTrimmed    ? seldom_->trimmed->queue
           : queue == QueueClass::kLossless ? seldom_->lossless->queue
                                            : queues_[index_of(queue)];
  }
  Queue& queue_of(QueueClass queue) {
    if (!in_use(queue)) begin_queue(queue);
    return const_cast<Queue&>(std::as_const(*this).queue_of(queue));
  }
  [[gnu::noinline]] void begin_queue(QueueClass queue);
  QueueClass take_next();
  QueueClass take_next_below_control();
  bool waits_below_control() const {
    return waiting_frames_ > waiting(QueueClass::kControl) + (paused_ ? waiting_lossless() : 0);
  }
  int64_t length_of_next(QueueClass queue) const {
    return static_cast<int64_t>(queue_of(queue).waiting.front().length().value);
  }
  [[gnu::noinline]] Admission admit_trimmed(Frame& frame, PortId ingress, Bytes room);
  void push(QueueClass queue, Frame& frame, Bytes length, bool trimmed, PortId ingress);
  QueueClass take_next_of_mrc();
  bool draws_mark(QueueClass queue);
  [[gnu::noinline]] void depart_pause(FabricTime now, Departure& departure);
  Waiting pop(QueueClass queue);
  bool marks_next(QueueClass queue, const Frame& frame);
  [[gnu::noinline]] void depart_again(FabricTime now, Departure& departure);

  struct Copy {
    Frame frame;
    QueueClass queue;
    bool trimmed;
  };
  /// What most ports never have.
  struct Seldom {
    Frame pause;  ///< to be sent before all that waits, and so is the copy
    std::optional<Copy> copy;
    std::optional<Trimmed> trimmed;  ///< few ports trim
    std::optional<Lossless> lossless;
  };
  Seldom& seldom() {
    if (!seldom_) seldom_ = std::make_unique<Seldom>();
    return *seldom_;
  }
  // What every frame asks for lies together, from here to the propagation delay in wire_, since a port is in no cache
  // when its turn comes.
  std::array<uint32_t, kQueues> waiting_{};  // frames, by queue
  uint32_t waiting_frames_ = 0;              // in all of them
  bool carrier_ = true;
  bool paused_ = false;
  bool host_facing_;

 public:
  bool wakes = false;  ///< a note of its owner's, for which there is room here

 private:
  const QueueRules* rules_;
  std::unique_ptr<Seldom> seldom_;
  /// Bytes that control was sent ahead of its part while others waited; over the quantum it is their turn.
  int64_t control_lead_ = 0;
  std::array<Queue, 2> queues_;  // data, control
  EgressWire wire_;
  uint64_t ecn_counter_ = 0;
};

}  // namespace mrclab::switchd
