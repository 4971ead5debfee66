#include "switchd/switch_node.h"

#include <algorithm>
#include <cassert>

namespace mrclab::switchd {
namespace {

/// Room for faults that delay frames, in how long outages are remembered.
constexpr FabricTime kDelayRoom = FabricTime::from_ms(1);

/// How far back a frame that is yet to be processed may have started: an outage that ended before
/// that cannot have cut anything any more.
FabricTime longest_crossing(const Wire& wire, FabricTime ingress_latency) {
  return serialization_time(wire_length({kFrameCapacity}), wire.rate) + wire.propagation +
         ingress_latency + kDelayRoom;
}

}  // namespace

SwitchNode::SwitchNode(const NodeEnvironment& environment)
    : environment_(environment),
      latency_(environment.topology.ingress_latency(environment.self)),
      table_(environment.topology, environment.self),
      nothing_(environment.frames.make(0)) {
  const Topology& topology = environment.topology;
  const NodeSite& site = topology.node(environment.self);
  ports_.reserve(site.ports.size());
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const Wire& out = topology.wire(site.ports[i].out);
    EgressSettings settings;
    settings.self = {environment.self, PortId{i}};
    settings.seed = environment.seed;
    settings.rate = out.rate;
    settings.propagation = out.propagation;
    settings.host_facing = topology.node(out.to.node).role == NodeRole::kHost;
    settings.queues = topology.queues;
    const FabricTime memory = longest_crossing(topology.wire(site.ports[i].in), latency_);
    ports_.push_back({IngressWire{}, memory, EgressPort{settings}, PortCounters{}});
  }
}

void SwitchNode::receive(PortId port, Arrival arrival) {
  assert(port.value < ports_.size());
  // Not before the committed time: what happened until then is final.
  const FabricTime at = std::max(arrival.arrival + latency_, committed_);
  const EventKey key{at, EventClass::kArrival, port.value, arrival.sequence};
  events_.push(key, arrivals_.put(std::move(arrival)));
}

void SwitchNode::apply(const ScheduledEffect& effect) {
  const EventKey key{std::max(effect.at, committed_), EventClass::kFault, 0, effect.sequence};
  events_.push(key, effects_.put(effect.effect));
}

void SwitchNode::run_until(FabricTime committed, FrameSink& out) {
  while (events_.next_time() <= committed && !events_.empty()) {
    const auto [key, slot] = events_.pop();
    assert(key.at >= committed_);
    committed_ = key.at;
    const PortId port{key.port};
    switch (key.event_class) {
      case EventClass::kFault: on_effect(key.at, effects_.take(slot)); break;
      case EventClass::kArrival: on_arrival(key.at, port, arrivals_.take(slot), out); break;
      case EventClass::kTransmitComplete:
        at(port).egress.transmission_done();
        start_next(key.at, port, out);
        break;
      case EventClass::kTimer:
      case EventClass::kApplication:
        assert(false);  // a switch makes none
        break;
    }
  }
  committed_ = std::max(committed_, committed);
}

void SwitchNode::on_arrival(FabricTime now, PortId port, Arrival arrival, FrameSink& out) {
  PortState& state = at(port);
  const FabricTime arrived = now - latency_;
  DropCause lost = arrival.lost;
  if (lost == DropCause::kNone && state.in.cut(arrival.start, arrival.arrival)) {
    lost = DropCause::kWireDown;
  }
  if (lost == DropCause::kNone && !arrival.frame) lost = DropCause::kNoBuffer;
  if (lost != DropCause::kNone) {
    ++state.counters.arrivals_lost;
    record_drop(arrived, port, Direction::kIngress, lost, QueueClass::kNone,
                arrival.frame ? arrival.frame : nothing_);
    return;
  }
  ++state.counters.rx;
  state.counters.rx_bytes += arrival.frame.wire_length().value;
  record(arrived, port, Direction::kIngress, PacketEvent::kPassed, DropCause::kNone,
         QueueClass::kNone, arrival.frame);
  forward(now, port, std::move(arrival.frame), out);
}

void SwitchNode::forward(FabricTime now, PortId port, Frame frame, FrameSink& out) {
  const ForwardingDecision decision = table_.forward(frame.bytes(), frame.modelled_size());
  if (decision.drop != DropCause::kNone) {
    record_drop(now, port, Direction::kIngress, decision.drop, QueueClass::kNone, frame);
    return;
  }
  enqueue(now, decision, std::move(frame), out);
}

void SwitchNode::enqueue(FabricTime now, const ForwardingDecision& decision, Frame frame,
                         FrameSink& out) {
  PortState& state = at(decision.port);
  if (!state.egress.carrier()) {
    record_drop(now, decision.port, Direction::kEgress, DropCause::kPortDown, QueueClass::kNone,
                frame);
    return;
  }
  const Admission admission = state.egress.admit(frame, decision.dscp);
  if (admission.refused != DropCause::kNone) {
    record_drop(now, decision.port, Direction::kEgress, admission.refused, admission.queue, frame);
    return;
  }
  if (admission.trimmed) ++state.counters.trimmed;
  start_next(now, decision.port, out);
}

void SwitchNode::start_next(FabricTime now, PortId port, FrameSink& out) {
  PortState& state = at(port);
  if (!state.egress.ready()) return;
  Departure departure = state.egress.depart(now);
  ++state.counters.tx;
  state.counters.tx_bytes += departure.frame.wire_length().value;
  if (departure.ecn_marked) ++state.counters.ecn_marked;
  if (departure.lost != DropCause::kNone) ++state.counters.tx_lost;
  record(departure.end, port, Direction::kEgress,
         departure.trimmed ? PacketEvent::kTrimmed : PacketEvent::kPassed, DropCause::kNone,
         departure.queue, departure.frame);
  events_.push({departure.end, EventClass::kTransmitComplete, port.value, local_sequence_++}, 0);
  out.transmit({port, std::move(departure.frame), now, departure.end, state.egress.flight(),
                departure.lost});
}

void SwitchNode::on_effect(FabricTime now, const Effect& effect) {
  if (const auto* state = std::get_if<WireState>(&effect)) return on_wire_state(now, *state);
  if (const auto* carrier = std::get_if<PortCarrier>(&effect)) {
    return on_port_carrier(now, *carrier);
  }
  const auto* loss = std::get_if<WireLoss>(&effect);
  if (loss == nullptr || loss->wire.value >= environment_.topology.wires_list.size()) return;
  const PortRef from = environment_.topology.wire(loss->wire).from;
  if (from.node == environment_.self) at(from.port).egress.wire().set_loss(loss->loss);
}

void SwitchNode::on_wire_state(FabricTime now, const WireState& state) {
  if (state.wire.value >= environment_.topology.wires_list.size()) return;
  const PortRef to = environment_.topology.wire(state.wire).to;
  if (to.node != environment_.self) return;
  PortState& port = at(to.port);
  if (state.up) {
    port.in.come_up(now);
  } else {
    port.in.forget_before(now - port.outage_memory);
    port.in.go_down(now);
  }
}

void SwitchNode::on_port_carrier(FabricTime now, const PortCarrier& carrier) {
  const PortId port = carrier.port.port;
  if (carrier.port.node != environment_.self || port.value >= ports_.size()) return;
  EgressPort& egress = at(port).egress;
  if (egress.carrier() == carrier.up) return;
  egress.set_carrier(carrier.up);
  environment_.observer.event(
      {now, carrier.up ? "port_up" : "port_down", port, {}, {}, {}, {}, {}});
  if (carrier.up) return;  // what waited was dropped; there is nothing to start
  while (auto flushed = egress.flush_one()) {
    record_drop(now, port, Direction::kEgress, DropCause::kPortDown, flushed->queue,
                flushed->frame);
  }
}

void SwitchNode::record(FabricTime t, PortId port, Direction direction, PacketEvent event,
                        DropCause cause, QueueClass queue, const Frame& frame) {
  environment_.observer.packet({t, port, direction, event, cause, queue, frame});
}

void SwitchNode::record_drop(FabricTime t, PortId port, Direction direction, DropCause cause,
                             QueueClass queue, const Frame& frame) {
  ++at(port).counters.drops[static_cast<size_t>(cause)];
  record(t, port, direction, PacketEvent::kDropped, cause, queue, frame);
}

SwitchCounters SwitchNode::counters() const {
  SwitchCounters out;
  out.ports.reserve(ports_.size());
  for (const PortState& state : ports_) {
    PortCounters port = state.counters;
    port.data_depth = state.egress.data_depth();
    port.data_depth_max = state.egress.data_depth_max();
    port.control_depth = state.egress.control_depth();
    port.control_depth_max = state.egress.control_depth_max();
    port.queued = state.egress.queued_frames();
    port.carrier = state.egress.carrier();
    out.ports.push_back(port);
  }
  return out;
}

uint64_t SwitchNode::trimmed() const {
  uint64_t total = 0;
  for (const PortState& port : ports_) total += port.counters.trimmed;
  return total;
}

NamedCounters SwitchNode::named_counters() const {
  std::vector<std::string> names;
  for (const Port& port : environment_.topology.node(environment_.self).ports) {
    names.push_back(port.name);
  }
  return named(counters(), names);
}

}  // namespace mrclab::switchd
