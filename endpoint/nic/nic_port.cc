#include "endpoint/nic/nic_port.h"

#include <utility>

#include "fabric/packet/pause_frame.h"
#include "fabric/packet/whole_frame.h"

namespace mrclab::endpoint {
namespace {

EgressWire::Site site_of(const NodeEnvironment& environment, PortId id) {
  const Port& port = environment.topology.port({environment.self, id});
  const Wire& wire = environment.topology.wire(port.out);
  return {wire.propagation, wire.rate,  environment.seed,
          wire.from,        port.plane, environment.topology.dscps};
}

}  // namespace

NicPort::NicPort(const NodeEnvironment& environment, PortId id, bool payload_stays)
    : in(environment.topology.wire(environment.topology.port({environment.self, id}).in),
         environment.topology.host_latency),
      out_wire(site_of(environment, id)),
      environment_(environment),
      id_(id),
      payload_stays_(payload_stays) {}

bool NicPort::queue_control(Frame frame) { return control_.push(std::move(frame)); }

FabricTime NicPort::start_control(FabricTime now, FrameSink& out) {
  if (now > busy_until_) control_lead_ = 0;
  control_lead_ += control_.front().wire_length().value;
  return start_frame(control_.pop(), QueueClass::kControl, now, out);
}

FabricTime NicPort::pause_for(uint16_t quanta, FabricTime now) {
  ++(quanta > 0 ? xoff_received_ : xon_received_);
  paused_.set(now + pause_time(quanta, out_wire.rate()), now);
  return paused_.until();
}

FabricTime NicPort::start_pause(FabricTime now, FrameSink& out) {
  ++(lossless_quanta(pause_.bytes()).value_or(0) > 0 ? xoff_sent_ : xon_sent_);
  return start_frame(std::move(pause_), QueueClass::kPause, now, out);
}

PortPauses NicPort::pauses(FabricTime now) const {
  PortPauses account;
  account.port = environment_.topology.port({environment_.self, id_}).name;
  account.priority = kLosslessPriority;
  account.xoff_sent = xoff_sent_;
  account.xon_sent = xon_sent_;
  account.xoff_received = xoff_received_;
  account.xon_received = xon_received_;
  account.stands = paused_.in_force(now);
  account.stood = paused_.stood(now);
  return account;
}

void NicPort::set_carrier(bool up, FabricTime now) {
  carrier_ = up;
  copy_ = {};
  pause_ = {};
  paused_.set(now, now);
}

FabricTime NicPort::start_copy(FabricTime now, FrameSink& out) {
  return send(std::move(copy_), copy_queue_, true, now, out);
}

FabricTime NicPort::send(Frame frame, QueueClass queue, bool is_copy, FabricTime now,
                         FrameSink& out) {
  const FabricTime end = out_wire.end_of(frame.wire_length(), now);
  busy_until_ = end;
  if (!carrier_) {
    drop(frame, queue, DropCause::kPortDown, now);
    return end;
  }
  environment_.observer.packet(
      {end, id_, Direction::kEgress, PacketEvent::kPassed, DropCause::kNone, queue, frame});
  const WireFate fate = out_wire.start_frame(frame, end, is_copy);
  if (fate.again) {
    copy_ = frame.twin();
    if (copy_ && !payload_stays_)
      hold_payload(copy_);  // it leaves later, when the lent payload may be reused
    copy_queue_ = queue;
  }
  out.transmit({id_, std::move(frame), now, end, fate.flight, fate.lost});
  return end;
}

void NicPort::set_avoided(bool avoided, FabricTime now) {
  avoided_ = avoided;
  if (avoided) drop_control(DropCause::kPortDown, now);
}

void NicPort::power_off(FabricTime now) {
  drop_control(DropCause::kHostDown, now);
  copy_ = {};
  pause_ = {};
  paused_.set(now, now);
}

void NicPort::drop_control(DropCause cause, FabricTime now) {
  while (!control_.empty()) drop(control_.pop(), QueueClass::kControl, cause, now);
}

void NicPort::drop(const Frame& frame, QueueClass queue, DropCause cause, FabricTime now) {
  environment_.observer.packet(
      {now, id_, Direction::kEgress, PacketEvent::kDropped, cause, queue, frame});
}

}  // namespace mrclab::endpoint
