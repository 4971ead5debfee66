#pragma once
// One port of a NIC: its wires, its carrier, and the control packets that wait for it. Data never
// waits here: it is made when the port is free.
//
// A port that lost its carrier puts nothing on the wire. Until the NIC notices (NicProfile delays)
// it is still used, and what it is given is lost; after that it is avoided.

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

  bool has_control() const { return !control_.empty(); }
  /// False if the queue is full; the frame is gone then.
  bool queue_control(Frame frame);
  /// Starts the oldest control frame.
  FabricTime start_control(FabricTime now, FrameSink& out);
  /// Starts `frame`; the port is busy until the instant that is returned, then call finished().
  FabricTime start(Frame frame, QueueClass queue, FabricTime now, FrameSink& out);
  void finished() { busy_ = false; }

  void set_carrier(bool up) { carrier_ = up; }
  /// The NIC notices that the carrier is gone or back. Going down, the waiting control frames are
  /// dropped.
  void set_avoided(bool avoided, FabricTime now);

  IngressWire in;
  EgressWire out_wire;

 private:
  void drop(const Frame& frame, QueueClass queue, FabricTime now);

  NodeEnvironment environment_;
  PortId id_;
  BitRate rate_;
  FabricTime propagation_;
  Fifo<Frame> control_{kControlQueueLimit};
  bool busy_ = false;
  bool carrier_ = true;
  bool avoided_ = false;
};

}  // namespace mrclab::endpoint
