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

#include <cstdint>
#include <optional>

#include "fabric/fifo.h"
#include "fabric/frame.h"
#include "fabric/node.h"
#include "fabric/topology.h"
#include "fabric/wire_model.h"

namespace mrclab::switchd {

struct EgressSettings {
  PortRef self;
  uint64_t seed = 0;
  BitRate rate;
  FabricTime propagation;
  bool host_facing = false;
  QueueProfile queues;
};

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
  bool trimmed = false;               ///< by this port
  bool ecn_marked = false;            ///< by this port
  FabricTime end;                     ///< its last bit leaves
  DropCause lost = DropCause::kNone;  ///< the wire's random loss takes it
};

class EgressPort {
 public:
  explicit EgressPort(const EgressSettings& settings);

  /// Queues `frame` (trimming it if that is what it takes) or refuses and leaves it alone.
  Admission admit(Frame& frame, uint8_t dscp);

  /// Carrier, idle transmitter and something to send.
  bool ready() const { return carrier_ && !sending_ && !(data_.empty() && control_.empty()); }
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

  EgressWire& wire() { return wire_; }
  FabricTime flight() const { return settings_.propagation; }
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
  bool draws_ecn_mark();

  EgressSettings settings_;
  EgressWire wire_;
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
