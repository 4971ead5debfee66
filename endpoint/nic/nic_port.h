#pragma once
// One port of a NIC: its wires, its carrier, and the control packets that wait for it. Data never
// waits here: it is made when the port is free.
//
// A port that lost its carrier puts nothing on the wire. Until the NIC notices (NicProfile delays)
// it is still used, and what it is given is lost; after that it is avoided.
//
// Control goes before data, as long as it keeps to its part of the bytes while data could be sent too: data that is
// never asked for it would starve, as short messages cause about as many bytes of SACKs as of data. Whether there was
// data to send shows only when it is asked for; a port that was idle in between had none waiting.
//
// A wire that carries a frame twice (fabric/node/wire_model.h) is sent a copy of it before anything else.

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

#include "fabric/base/fifo.h"
#include "fabric/node/node.h"
#include "fabric/node/pause_account.h"
#include "fabric/node/wire_model.h"
#include "fabric/topology/scheduler_weights.h"

namespace mrclab::endpoint {

class NicPort {
 public:
  static constexpr size_t kControlQueueLimit = 4096;

  /// `environment` outlives it. `payload_stays`: a lent payload lies still as long as there are frames (Frame::lent), and
  /// not only until the next tick.
  NicPort(const NodeEnvironment& environment, PortId id, bool payload_stays = false);

  bool avoided() const { return avoided_; }
  bool carrier() const { return carrier_; }

  /// The wire carries the frame that has just been sent a second time.
  bool has_copy() const { return static_cast<bool>(copy_); }
  FabricTime start_copy(FabricTime now, FrameSink& out);

  /// A pause frame goes before everything else; it takes the place of one that has not been sent yet.
  bool has_pause() const { return pauses_ && pauses_->frame; }
  void put_pause(Frame frame) { pausing().frame = std::move(frame); }
  FabricTime start_pause(FabricTime now, FrameSink& out);
  /// The switch has paused RoCE's data for so many quanta, bit times of the rate as it is
  /// now; 0 ends it. Returns until when.
  FabricTime pause_for(uint16_t quanta, FabricTime now);
  bool is_paused(FabricTime now) const { return pauses_ && pauses_->clock.in_force(now); }
  /// The part of the port's account that is kept here.
  PortPauses pauses(FabricTime now) const;

  bool has_control() const { return !control_.empty(); }
  /// Was so much control sent without a break that data, if there is any, goes first now?
  /// (fabric/topology/scheduler_weights.h)
  bool is_turn_of_data(FabricTime now) const {
    return control_lead_ >= kControlQuantum.value && now <= busy_until_;
  }
  /// There was no data to send in that turn.
  void skip_turn_of_data() { control_lead_ = 0; }
  /// False if the queue is full; the frame is gone then.
  bool queue_control(Frame frame);
  /// Starts the oldest control frame.
  FabricTime start_control(FabricTime now, FrameSink& out);
  /// Starts a data frame; the next one may be started at the instant that is returned.
  FabricTime start_data(Frame&& frame, QueueClass queue, FabricTime now, FrameSink& out) {
    const uint64_t paid = frame.wire_length().value * kControlWeight;
    control_lead_ -= std::min(control_lead_, paid);
    return send(std::move(frame), queue, false, now, out);
  }

  void set_carrier(bool up, FabricTime now);
  /// The NIC notices that the carrier is gone or back. Going down, the waiting control frames are
  /// dropped.
  void set_avoided(bool avoided, FabricTime now);
  /// The host loses its power: everything that waits is gone. What is being sent is cut by the wire.
  void power_off(FabricTime now);
  /// A frame that does not leave is recorded.
  [[gnu::noinline]] void drop(const Frame& frame, QueueClass queue, DropCause cause,
                              FabricTime now);

  IngressWire in;
  EgressWire out_wire;

 private:
  /// Only ports that received a pause frame, or sent one, have this.
  struct Pauses {
    Frame frame;       ///< to be sent
    PauseClock clock;  ///< of RoCE's data here
    uint64_t xoff_sent = 0, xon_sent = 0, xoff_received = 0, xon_received = 0;
  };
  Pauses& pausing() {
    if (!pauses_) pauses_ = std::make_unique<Pauses>();
    return *pauses_;
  }
  void end_pauses(FabricTime now);
  FabricTime start_frame(Frame&& frame, QueueClass queue, FabricTime now, FrameSink& out) {
    return send(std::move(frame), queue, false, now, out);
  }
  FabricTime send(Frame frame, QueueClass queue, bool is_copy, FabricTime now, FrameSink& out);
  void drop_control(DropCause cause, FabricTime now);

  const NodeEnvironment& environment_;
  PortId id_;
  bool payload_stays_;
  Fifo<Frame> control_{kControlQueueLimit};
  uint64_t control_lead_ =
      0;  ///< bytes that control was sent ahead of its part since the port was idle
  FabricTime busy_until_;
  Frame copy_;
  std::unique_ptr<Pauses> pauses_;
  QueueClass copy_queue_ = QueueClass::kNone;
  bool carrier_ = true;
  bool avoided_ = false;
};

}  // namespace mrclab::endpoint
