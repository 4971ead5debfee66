#pragma once
// One port of a NIC: its wires, its carrier, and the control packets that wait for it. Data never
// waits here: it is made when the port is free.
//
// A port that lost its carrier puts nothing on the wire. Until the NIC notices (NicProfile delays)
// it is still used, and what it is given is lost; after that it is avoided.
//
// A wire that carries a frame twice (fabric/wire_model.h) is sent a copy of it before anything else.

#include <cstdint>

#include "fabric/fifo.h"
#include "fabric/node.h"
#include "fabric/wire_model.h"

namespace mrclab::endpoint {

class NicPort {
 public:
  static constexpr size_t kControlQueueLimit = 4096;

  NicPort(const NodeEnvironment& environment, PortId id);

  /// May a frame be started now? (Also true for a dead port that the NIC has not noticed yet.)
  bool can_start() const { return !busy_ && (carrier_ || !avoided_); }
  bool avoided() const { return avoided_; }
  bool carrier() const { return carrier_; }

  /// The wire carries the frame that has just been sent a second time.
  bool has_copy() const { return static_cast<bool>(copy_); }
  FabricTime start_copy(FabricTime now, FrameSink& out);

  bool has_control() const { return !control_.empty(); }
  /// False if the queue is full; the frame is gone then.
  bool queue_control(Frame frame);
  /// Starts the oldest control frame.
  FabricTime start_control(FabricTime now, FrameSink& out);
  /// Starts `frame`; the port is busy until the instant that is returned, then call finished().
  FabricTime start(Frame frame, QueueClass queue, FabricTime now, FrameSink& out);
  void finished() { busy_ = false; }

  void set_carrier(bool up) {
    carrier_ = up;
    copy_ = {};
  }
  /// The NIC notices that the carrier is gone or back. Going down, the waiting control frames are
  /// dropped.
  void set_avoided(bool avoided, FabricTime now);
  /// The host loses its power: everything that waits is gone. What is being sent is cut by the wire.
  void power_off(FabricTime now);

  IngressWire in;
  EgressWire out_wire;

 private:
  FabricTime send(Frame frame, QueueClass queue, bool is_copy, FabricTime now, FrameSink& out);
  void drop_control(DropCause cause, FabricTime now);
  void drop(const Frame& frame, QueueClass queue, DropCause cause, FabricTime now);

  NodeEnvironment environment_;
  PortId id_;
  Fifo<Frame> control_{kControlQueueLimit};
  Frame copy_;
  QueueClass copy_queue_ = QueueClass::kNone;
  bool busy_ = false;
  bool carrier_ = true;
  bool avoided_ = false;
};

}  // namespace mrclab::endpoint
