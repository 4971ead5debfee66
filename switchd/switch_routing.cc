// The part of a switch that routes by itself: when its speaker runs, and what becomes of its messages.

#include "switchd/switch_node.h"

namespace mrclab::switchd {

void SwitchNode::start_speaker(FabricTime now) {
  std::vector<bool> carrier(port_count(), true);
  for (uint32_t i = 0; i < port_count(); ++i) {
    if (const PortState* const port = find(PortId{i})) carrier[i] = port->egress.carrier();
  }
  fare_->start(carrier, now);
  plan_speaker(now);
}

void SwitchNode::plan_speaker(FabricTime at) {
  if (at >= speaker_planned_) return;
  speaker_planned_ = at;
  events_.push({at, EventClass::kApplication, 0, local_sequence_++}, 0);
}

void SwitchNode::run_speaker(FabricTime now, FrameSink& out) {
  if (stands_still()) return;
  fare_->run(now);
  for (auto& [port, frame] : fare_->take_frames()) {
    enqueue(now, {DropCause::kNone, port, environment_.topology.dscps.control}, port,
            std::move(frame), out);
  }
  plan_speaker(fare_->deadline());
}

void SwitchNode::on_wire_rate(FabricTime now, const WireRate& rate) {
  if (!fare_ || rate.wire.value >= environment_.topology.all_wires().size()) return;
  const Wire& wire = environment_.topology.wire(rate.wire);
  if (wire.from.node != environment_.self) return;
  fare_->set_rate(wire.from.port, at(wire.from.port).egress.wire().rate(), now);
  plan_speaker(now);
}

}  // namespace mrclab::switchd
