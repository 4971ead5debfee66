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
  Pauses& pauses = pausing();
  ++(quanta > 0 ? pauses.xoff_received : pauses.xon_received);
  pauses.clock.set(now + pause_time(quanta, out_wire.rate()), now);
  return pauses.clock.until();
}

FabricTime NicPort::start_pause(FabricTime now, FrameSink& out) {
  Pauses& pauses = pausing();
  const bool stops = lossless_quanta(pauses.frame.bytes()).value_or(0) > 0;
  ++(stops ? pauses.xoff_sent : pauses.xon_sent);
  return start_frame(std::move(pauses.frame), QueueClass::kPause, now, out);
}

PortPauses NicPort::pauses(FabricTime now) const {
  PortPauses account;
  account.port = environment_.topology.port({environment_.self, id_}).name();
  account.priority = kLosslessPriority;
  if (!pauses_) return account;
  account.xoff_sent = pauses_->xoff_sent;
  account.xon_sent = pauses_->xon_sent;
  account.xoff_received = pauses_->xoff_received;
  account.xon_received = pauses_->xon_received;
  account.stands = pauses_->clock.in_force(now);
  account.stood = pauses_->clock.stood(now);
  return account;
}

void NicPort::end_pauses(FabricTime now) {
  if (!pauses_) return;
  pauses_->frame = {};
  pauses_->clock.set(now, now);
}

void NicPort::set_carrier(bool up, FabricTime now) {
  carrier_ = up;
  copy_ = {};
  end_pauses(now);
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
  end_pauses(now);
}

void NicPort::drop_control(DropCause cause, FabricTime now) {
  while (!control_.empty()) drop(control_.pop(), QueueClass::kControl, cause, now);
}

void NicPort::drop(const Frame& frame, QueueClass queue, DropCause cause, FabricTime now) {
  environment_.observer.packet(
      {now, id_, Direction::kEgress, PacketEvent::kDropped, cause, queue, frame});
}

}  // namespace mrclab::endpoint
