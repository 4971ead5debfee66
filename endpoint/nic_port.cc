#include "endpoint/nic_port.h"

#include <utility>

namespace mrclab::endpoint {

NicPort::NicPort(const NodeEnvironment& environment, PortId id)
    : out_wire(environment.seed, environment.self, id), environment_(environment), id_(id) {
  const Port& port = environment.topology.port({environment.self, id});
  const Wire& wire = environment.topology.wire(port.out);
  rate_ = wire.rate;
  propagation_ = wire.propagation;
}

bool NicPort::queue_control(Frame frame) { return control_.push(std::move(frame)); }

FabricTime NicPort::start_control(FabricTime now, FrameSink& out) {
  return start(control_.pop(), QueueClass::kControl, now, out);
}

FabricTime NicPort::start(Frame frame, QueueClass queue, FabricTime now, FrameSink& out) {
  busy_ = true;
  const FabricTime end = now + serialization_time(frame.wire_length(), rate_);
  if (!carrier_) {
    drop(frame, queue, now);
    return end;
  }
  environment_.observer.packet(
      {end, id_, Direction::kEgress, PacketEvent::kPassed, DropCause::kNone, queue, frame});
  Transmission transmission;
  transmission.port = id_;
  transmission.frame = std::move(frame);
  transmission.start = now;
  transmission.end = end;
  transmission.flight = propagation_;
  if (out_wire.takes_next_frame()) transmission.lost = DropCause::kWireLoss;
  out.transmit(std::move(transmission));
  return end;
}

void NicPort::set_avoided(bool avoided, FabricTime now) {
  avoided_ = avoided;
  while (avoided && !control_.empty()) drop(control_.pop(), QueueClass::kControl, now);
}

void NicPort::drop(const Frame& frame, QueueClass queue, FabricTime now) {
  environment_.observer.packet(
      {now, id_, Direction::kEgress, PacketEvent::kDropped, DropCause::kPortDown, queue, frame});
}

}  // namespace mrclab::endpoint
