#pragma once
// One egress port: a data and a control queue in front of a transmitter that runs at the link's
// rate in fabric time. Knows no clock: the node tells it the time and when a transmission is over.
//
// Lengths are wire lengths (fabric/units.h). A queue's depth counts what waits, not the frame that
// is being sent.
//
//   data     every frame whose DSCP is not a control one. Would a frame take the depth over the
//            trim threshold and is it trimmable: trimmed, to the control queue. Over the tail drop
//            limit: dropped (kQueueFull).
//   control  SACK, NACK, ACK, trimmed. Over its limit: dropped (kControlQueueFull).
//   service  control first, but while data waits too, control gets no more than half of the bytes
//            (UEC 1.0.3 §4.1: trimmed packets at most 50 %).
//   ECN      decided when a frame leaves the data queue, from the depth it leaves behind: the
//            freshest news, and what htsim's composite queue does. Never on host-facing ports: the
//            last hop's congestion is the receiver's own (MRC paper §2.1).
//
// A wire that carries a frame twice (fabric/wire_model.h) is sent a copy of it before anything else;
// nothing is queued for that, and a copy that is still to come is forgotten with the carrier.

#include <cstdint>
#include <optional>

#include "fabric/fifo.h"
#include "fabric/frame.h"
#include "fabric/node.h"
#include "fabric/topology.h"
#include "fabric/wire_model.h"

namespace mrclab::switchd {

struct EgressSettings {
  EgressWire::Site wire;
  bool host_facing = false;
  QueueProfile queues;  ///< as built
};

/// What faults do to the queues of all ports of a switch. The default is as built.
struct QueueFaults {
  bool trim_off = false;
  EcnKind ecn = EcnKind::kAsBuilt;
  Probability buffer_lost;
};
/// The thresholds that are left: each is smaller by the share of the buffer that is lost.
QueueProfile spoilt(const QueueProfile& as_built, const QueueFaults& faults);

/// What became of a frame offered to a port.
struct Admission {
  DropCause refused = DropCause::kNone;
  QueueClass queue = QueueClass::kData;
  bool trimmed = false;
};

/// A frame whose transmission starts now.
struct Departure {
  Frame frame;
  QueueClass queue = QueueClass::kData;
  bool trimmed = false;     ///< by this port
  bool ecn_marked = false;  ///< by this port
  bool is_copy = false;     ///< of the frame before: the wire carries it twice
  FabricTime end;           ///< its last bit leaves
  WireFate fate;
};

class EgressPort {
 public:
  explicit EgressPort(const EgressSettings& settings);

  /// Queues `frame` (trimming it if that is what it takes) or refuses and leaves it alone.
  Admission admit(Frame& frame, uint8_t dscp);

  /// Carrier, idle transmitter and something to send.
  bool ready() const {
    return carrier_ && !sending_ && !(data_.empty() && control_.empty() && !copy_);
  }
  /// Starts the next frame. Requires ready().
  Departure depart(FabricTime now);
  /// The frame that was being sent has left.
  void transmission_done() { sending_ = false; }

  bool carrier() const { return carrier_; }
  /// A port that loses its carrier starts nothing; the owner takes the queued frames out with
  /// flush_one() and records them. The frame being sent finishes (the receiver cuts it).
  void set_carrier(bool up) { carrier_ = up; }
  struct Flushed {
    Frame frame;
    QueueClass queue;
  };
  /// Takes one waiting frame out, control before data; empty when nothing waits.
  std::optional<Flushed> flush_one();
  /// The wire's second copy of the frame that is being sent, if one is to come, is not sent.
  void forget_copy() { copy_.reset(); }

  EgressWire& wire() { return wire_; }
  /// From now on; what is queued stays queued.
  void set_faults(const QueueFaults& faults);
  Bytes data_depth() const { return data_depth_; }
  Bytes control_depth() const { return control_depth_; }
  Bytes data_depth_max() const { return data_depth_max_; }
  Bytes control_depth_max() const { return control_depth_max_; }
  size_t queued_frames() const { return data_.size() + control_.size(); }

 private:
  struct Waiting {
    Frame frame;
    Bytes length;
    bool trimmed = false;
  };
  bool take_control_next();
  void push_control(Frame& frame, Bytes length, bool trimmed);
  bool marks_next(const Frame& frame);
  bool draws_ecn_mark();
  Departure depart_again(FabricTime now);

  EgressSettings settings_;
  QueueProfile limits_;  // as faults have left them
  bool always_marks_ = false;
  EgressWire wire_;
  struct Copy {
    Frame frame;
    QueueClass queue;
    bool trimmed;
  };
  std::optional<Copy> copy_;
  Fifo<Waiting> data_;
  Fifo<Waiting> control_;
  Bytes data_depth_, control_depth_, data_depth_max_, control_depth_max_;
  /// Bytes that control was sent ahead of waiting data; positive: it is data's turn.
  int64_t control_lead_ = 0;
  uint64_t ecn_counter_ = 0;
  bool carrier_ = true;
  bool sending_ = false;
};

}  // namespace mrclab::switchd
