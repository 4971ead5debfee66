#include "switchd/switch_node.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "fabric/base/byte_order.h"
#include "fabric/packet/authorised.h"
#include "fabric/packet/pause_frame.h"
#include "switchd/outer_header.h"

namespace mrclab::switchd {
namespace {

/// Order of effects at one instant: power first, so that frames lost with a switch's power do not
/// count as lost by its ports.
constexpr uint32_t kPowerFirst = 0, kThenTheRest = 1;

}  // namespace

SwitchNode::SwitchNode(const NodeEnvironment& environment)
    : environment_(environment),
      latency_(environment.topology.ingress_latency(environment.self)),
      table_(environment.topology, environment.self),
      flips_(environment.seed, environment.self),
      ports_(environment.topology.node(environment.self).ports.size()),
      arrivals_(port_count(), latency_, kSwitchedBytes),
      ends_(port_count()),
      nothing_(environment.frames.make(0)) {
  const Topology& topology = environment.topology;
  const NodeSite& site = topology.node(environment.self);
  const LosslessProfile& lossless = topology.lossless;
  if (lossless.pfc) pause_.emplace(topology, environment.self);
  pools_roce_ = !lossless.pfc && lossless.asic != SwitchAsic::kScaled;
  pools_mrc_ = lossless.pools_mrc;
  if (!pause_ && (pools_roce_ || pools_mrc_)) {
    unpaused_.emplace(buffer_settings(topology, environment.self));
  }
  if (pause_ || pools_roce_) lossless_room_ = buffer()->size();
  if (topology.switching == Switching::kCutThrough) {
    for (uint32_t i = 0; i < port_count(); ++i) {
      arrivals_.set_cut_through(PortId{i}, topology.wire(site.ports[i].in).rate);
    }
  }
  if (pause_) pause_timers_.assign(port_count(), FabricTime::never());
  if (topology.lossless.adaptive) {
    table_.set_uplink_choice([this](std::span<const PortId> ports) { return least_loaded(ports); });
  }
  if (table_.fare()) {
    fare_.emplace(environment, *table_.fare());
    start_speaker(FabricTime::zero());
  }
  if (topology.orchestrator.on) {
    neighbours_.emplace(topology, environment.self);
    start_neighbours(FabricTime::zero());
  }
}

EgressSettings SwitchNode::settings_of(PortId port) const {
  const Topology& topology = environment_.topology;
  const Wire& out = topology.wire(topology.port({environment_.self, port}).out);
  EgressSettings settings;
  settings.wire = {out.propagation,
                   out.rate,
                   environment_.seed,
                   out.from,
                   topology.node(environment_.self).plane,
                   topology.dscps};
  settings.host_facing = topology.node(out.to.node).role == NodeRole::kHost;
  settings.queues = topology.queues_of(out);
  settings.lossless = topology.lossless;
  settings.lossless_room = lossless_room_;
  return settings;
}

SwitchNode::PortState SwitchNode::make_port(uint32_t number) {
  const Topology& topology = environment_.topology;
  const EgressSettings settings = settings_of(PortId{number});
  const Port& port = topology.port({environment_.self, PortId{number}});
  return {.in = IngressWire{topology.wire(port.in), latency_},
          .tally = {},
          .egress = EgressPort{settings, rules_of(settings)}};
}

/// Ports with the same thresholds have them in common.
const QueueRules& SwitchNode::rules_of(const EgressSettings& settings) {
  for (const auto& rules : queue_rules_) {
    if (rules->fit(settings)) return *rules;
  }
  QueueRules& rules = *queue_rules_.emplace_back(std::make_unique<QueueRules>(settings));
  // The schedule may have set faults of queues before the switch made this port.
  rules.set_faults(queue_faults_);
  return rules;
}

void SwitchNode::receive(PortId port, Arrival&& arrival) {
  arrivals_.push(port, std::move(arrival));
}

void SwitchNode::apply(const ScheduledEffect& effect) {
  const bool power = std::holds_alternative<SwitchState>(effect.effect);
  const EventKey key{std::max(effect.at, committed_), EventClass::kFault,
                     power ? kPowerFirst : kThenTheRest, effect.sequence};
  events_.push(key, effects_.put(effect.effect));
}

/// Loads all ports at once: a frame that loads its own waits for one line after the other. Where few of many are in use,
/// as of a T1 of a large fabric that is busy in part, those with arrivals alone (our choice: they mostly send, too).
void SwitchNode::fetch() const {
  const bool all = arrivals_.busy_ports() >= port_count() / 4;
  const auto for_each = [&](auto&& load) {
    ports_.for_each([&](uint32_t port, const PortState& state) {
      if (all || arrivals_.is_busy(PortId{port})) load(state);
    });
  };
  arrivals_.fetch_arrivals();
  environment_.observer.fetch();
  usids_.fetch();
  for_each([](const PortState& state) { fetch_lines(&state, kHotPortBytes); });
  arrivals_.fetch_frames();
  for_each([](const PortState& state) { state.egress.fetch_waiting(); });
  for_each([](const PortState& state) { state.egress.fetch_waiting_frames(); });
}

void SwitchNode::run_until(FabricTime committed, FrameSink& out) {
  while (true) {
    const FabricTime end = ends_.next_time();
    const FabricTime others = std::min(events_.next_time(), arrivals_.next_time());
    if (std::min(end, others) > committed) break;
    if (end < others) {  // at one instant the ends of transmissions come after everything else
      const PortId port{ends_.next()};
      begin(end, EventClass::kTransmitComplete, port.value);
      PortState& state = at(port);
      state.egress.wakes = false;
      start_next(end, port, state, out);
      if (!state.egress.wakes) ends_.set(port.value, FabricTime::never());
    } else if (arrival_is_next(arrivals_, events_)) {
      const FabricTime now = arrivals_.next_time();
      const PortId port = arrivals_.next_port();
      begin(now, EventClass::kArrival, port.value);
      Arrival arrival = arrivals_.pop(environment_.frames);
      on_arrival(now, port, arrival, out);
    } else if (!events_.empty()) {
      on_event(out);
    } else {
      break;  // nothing is left, and `committed` is never()
    }
  }
  committed_ = std::max(committed_, committed);
  arrivals_.set_floor(committed_);  // what happened until then is final
}

/// The next of events_.
void SwitchNode::on_event(FrameSink& out) {
  const auto [key, slot] = events_.pop();
  begin(key.at, key.event_class, key.port);
  switch (key.event_class) {
    case EventClass::kArrival: go_on(key.at, slot, out); break;  // other arrivals have a queue
    case EventClass::kTransmitComplete: break;                   // these as well
    case EventClass::kFault: on_effect(key.at, effects_.take(slot)); break;
    case EventClass::kTimer: on_pause_timer(key.at, PortId{key.port}, out); break;
    case EventClass::kApplication:
      if (key.port == kForNeighbours) {
        run_neighbours(key.at, out);
        break;
      }
      if (key.at == speaker_planned_) speaker_planned_ = FabricTime::never();
      run_speaker(key.at, out);
      break;
  }
}

void SwitchNode::on_arrival(FabricTime now, PortId port, Arrival& arrival, FrameSink& out) {
  PortState& state = at(port);
  const FabricTime lead = arrivals_.lead_of(port, arrival);
  const FabricTime arrived = now - latency_ + lead;
  DropCause lost = arrival.lost;
  // A frame check needs a frame; a dark wire delivers none.
  if ((lost == DropCause::kNone || lost == DropCause::kFrameCheck) &&
      state.in.cut(arrival.start, arrival.arrival)) {
    lost = DropCause::kWireDown;
  }
  if (lost == DropCause::kNone && !arrival.frame) lost = DropCause::kNoBuffer;
  if (lost != DropCause::kNone) {
    ++state.tally.trouble().arrivals_lost;
    record_drop(arrived, port, Direction::kIngress, lost, QueueClass::kNone,
                arrival.frame ? arrival.frame : nothing_);
    return;
  }
  ++state.tally.traffic.rx;
  state.tally.traffic.rx_bytes += arrival.frame.wire_length().value;
  const bool pauses = pause_ && is_mac_control(arrival.frame.bytes());
  record(arrived, port, Direction::kIngress, PacketEvent::kPassed, DropCause::kNone,
         pauses ? QueueClass::kPause : QueueClass::kNone, arrival.frame);
  if (const DropCause gone = loss_inside(arrived, arrival.frame); gone != DropCause::kNone) {
    record_drop(now, port, Direction::kIngress, gone,
                pauses ? QueueClass::kPause : QueueClass::kNone, arrival.frame);
    return;
  }
  if (pauses) return on_pause_frame(now, port, arrival.frame, out);
  if (neighbours_ && is_lldp(arrival.frame.bytes())) {
    return on_neighbour_frame(now, port, arrival.frame);
  }
  forward(now, port, lead, std::move(arrival.frame), out);
}

/// What happens to a frame in a faulty switch. kNone: it is forwarded.
DropCause SwitchNode::loss_inside(FabricTime arrived, Frame& frame) {
  if (work_ == SwitchWork::kDown || arrived < power_lost_) return DropCause::kSwitchDown;
  if (work_ == SwitchWork::kHung) return DropCause::kSwitchHung;
  return flips_.pass(frame);
}

void SwitchNode::forward(FabricTime now, PortId port, FabricTime lead, Frame&& frame,
                         FrameSink& out) {
  // The speaker takes all messages of one instant before it decides and announces anything.
  if (fare_ && fare_->receive(port, frame.bytes(), now)) return plan_speaker(now);
  if (const DropCause denied = denied_at(port, frame); denied != DropCause::kNone) {
    record_drop(now, port, Direction::kIngress, denied, QueueClass::kNone, frame);
    return;
  }
  const UsidCarrier carrier = carrier_of(frame);  // as it came
  const ForwardingDecision decision = table_.forward(frame.hop_bytes(), frame.modelled_size());
  if (carrier.in_block()) count_usids(carrier, decision.drop, frame.modelled_size());
  if (decision.drop != DropCause::kNone) {
    record_drop(now, port, Direction::kIngress, decision.drop, QueueClass::kNone, frame);
    return;
  }
  if (decision.strip) strip_outer(frame);
  if (lead > FabricTime::zero()) {
    const Topology& topology = environment_.topology;
    const Ports ports = topology.node(environment_.self).ports;
    const BitRate in = topology.wire(ports[port.value].in).rate;
    if (topology.wire(ports[decision.port.value].out).rate > in) {
      return store(now, lead, decision, port, std::move(frame));
    }
  }
  enqueue(now, decision, port, std::move(frame), out);
}

/// What a host may not send, at the port that it hangs on.
DropCause SwitchNode::denied_at(PortId port, const Frame& frame) const {
  const Topology& topology = environment_.topology;
  if (!at_t0(topology.authorise)) return DropCause::kNone;
  const PortRef nic = topology.port({environment_.self, port}).peer;
  if (topology.node(nic.node).role != NodeRole::kHost) return DropCause::kNone;
  return not_authorised(topology, nic, frame.bytes());
}

/// What goes on faster than it came waits until all of it would have passed the pipeline.
void SwitchNode::store(FabricTime now, FabricTime lead, const ForwardingDecision& decision,
                       PortId ingress, Frame&& frame) {
  events_.push({now + lead, EventClass::kArrival, ingress.value, local_sequence_++},
               stored_.put({now, decision, ingress, std::move(frame)}));
}

void SwitchNode::go_on(FabricTime now, uint32_t slot, FrameSink& out) {
  Stored stored = stored_.take(slot);
  const bool dark = work_ == SwitchWork::kDown || stored.looked_at < power_lost_;
  if (dark || work_ == SwitchWork::kHung) {
    record_drop(now, stored.ingress, Direction::kIngress,
                dark ? DropCause::kSwitchDown : DropCause::kSwitchHung, QueueClass::kNone,
                stored.frame);
    return;
  }
  enqueue(now, stored.decision, stored.ingress, std::move(stored.frame), out);
}

/// The frame's carrier, or one that is not in the block.
UsidCarrier SwitchNode::carrier_of(const Frame& frame) {
  const std::span<const uint8_t> bytes = frame.bytes();
  const bool ipv6 = bytes.size() >= kDestinationOffset + 16 &&
                    load_be<uint16_t>(&bytes[kEthertypeOffset]) == kEthertypeIpv6;
  return ipv6 ? UsidCarrier(bytes.data() + kDestinationOffset) : UsidCarrier();
}

void SwitchNode::count_usids(const UsidCarrier& carrier, DropCause drop, Bytes size) {
  const auto count = [&](uint16_t usid) -> UsidCounters& {
    UsidCounters& counters = usids_.of(usid);
    ++counters.packets;
    counters.bytes += size.value;
    return counters;
  };
  const bool own = carrier.active() == table_.own().value;
  const bool refused = drop == DropCause::kEndOfCarrier || drop == DropCause::kHopLimit;
  if (own || refused) count(carrier.active()).errors += refused ? 1 : 0;
  if (drop == DropCause::kNone) count(own ? carrier.next() : carrier.active());
  if (drop == DropCause::kUnknownUsid) count(0);
}

void SwitchNode::enqueue(FabricTime now, const ForwardingDecision& decision, PortId ingress,
                         Frame&& frame, FrameSink& out) {
  PortState& state = at(decision.port);
  if (!state.egress.carrier()) {
    record_drop(now, decision.port, Direction::kEgress, DropCause::kPortDown, QueueClass::kNone,
                frame);
    return;
  }
  if (pause_ && state.egress.class_of(decision.dscp) == QueueClass::kLossless) {
    return enqueue_paused(now, decision, state, ingress, std::move(frame), out);
  }
  if (admit(now, decision, state, ingress, frame)) start_next(now, decision.port, state, out);
}

/// Data of RoCE where switches pause their neighbours: it takes its length of their common buffer first.
void SwitchNode::enqueue_paused(FabricTime now, const ForwardingDecision& decision,
                                PortState& state, PortId ingress, Frame&& frame, FrameSink& out) {
  const Bytes length = frame.wire_length();
  const DropCause refused = pause_->drops(decision.port)              ? DropCause::kPauseStorm
                            : pause_->buffer().admit(ingress, length) ? DropCause::kNone
                                                                      : DropCause::kQueueFull;
  if (refused != DropCause::kNone) {
    record_drop(now, decision.port, Direction::kEgress, refused, QueueClass::kLossless, frame);
    return;
  }
  if (!admit(now, decision, state, ingress, frame)) {
    return pause_->buffer().release(ingress, length);
  }
  start_next(now, decision.port, state, out);
  pause_->note_queue(decision.port, state.egress.waiting_lossless() > 0, false, now);
  look_again(pause_->deadline(decision.port, now), decision.port);
  tell_neighbour(now, ingress, out);
}

/// Offers a frame to the queues of its port; false if they refuse it, which is recorded.
bool SwitchNode::admit(FabricTime now, const ForwardingDecision& decision, PortState& state,
                       PortId ingress, Frame& frame) {
  const bool pooled = is_pooled(state.egress.class_of(decision.dscp));
  const Bytes room = pooled ? buffer()->room_of_queue() : Bytes{UINT64_MAX};
  const Admission admission = state.egress.admit(frame, decision.dscp, ingress, room);
  if (admission.refused != DropCause::kNone) {
    record_drop(now, decision.port, Direction::kEgress, admission.refused, admission.queue, frame);
    return false;
  }
  if (pooled) buffer()->take(admission.length);
  if (admission.trimmed) ++state.tally.traffic.trimmed;
  return true;
}

void SwitchNode::record_flushed(FabricTime now, PortId port, DropCause cause,
                                const EgressPort::Flushed& flushed) {
  if (pause_ && flushed.queue == QueueClass::kLossless) {
    release(now, flushed.ingress, flushed.frame.wire_length());
  }
  if (is_pooled(flushed.queue)) buffer()->give(flushed.frame.wire_length());
  record_drop(now, port, Direction::kEgress, cause, flushed.queue, flushed.frame);
}

/// Does the end of this port's transmission come after the event that run_until() handles now? The end is in ends_
/// only if the port has more to send (wake_when_sent()), which most ports have not. Within one instant the ends of
/// transmissions are the last events, in the order of ports.
bool SwitchNode::sends_behind(FabricTime sends_until, PortId port) const {
  if (sends_until != committed_) return sends_until > committed_;
  return running_class_ != EventClass::kTransmitComplete || port.value > running_port_;
}

void SwitchNode::wake_when_sent(PortId port, PortState& state) {
  if (std::exchange(state.egress.wakes, true)) return;
  ends_.set(port.value, state.sends_until);
}

void SwitchNode::start_next(FabricTime now, PortId port, PortState& state, FrameSink& out) {
  if (!state.egress.ready()) return;
  if (sends_behind(state.sends_until, port)) return wake_when_sent(port, state);
  Departure departure = state.egress.depart(now);
  if (pause_ && departure.queue == QueueClass::kLossless && !departure.is_copy) {
    release(now, departure.ingress, departure.frame.wire_length());
    pause_->note_queue(port, state.egress.waiting_lossless() > 0, true, now);
  }
  if (is_pooled(departure.queue) && !departure.is_copy) {
    buffer()->give(departure.frame.wire_length());
  }
  ++state.tally.traffic.tx;
  state.tally.traffic.tx_bytes += departure.frame.wire_length().value;
  if (departure.is_copy) ++state.tally.trouble().tx_copies;
  if (departure.queue == QueueClass::kPause) {
    const bool stops = lossless_quanta(departure.frame.bytes()).value_or(0) > 0;
    ++(stops ? state.tally.trouble().xoff_sent : state.tally.trouble().xon_sent);
  }
  if (departure.ecn_marked) ++state.tally.traffic.ecn_marked;
  if (departure.fate.lost != DropCause::kNone) ++state.tally.trouble().tx_lost;
  record(departure.end, port, Direction::kEgress,
         departure.trimmed ? PacketEvent::kTrimmed : PacketEvent::kPassed, DropCause::kNone,
         departure.queue, departure.frame);
  state.sends_until = departure.end;
  if (state.egress.ready()) wake_when_sent(port, state);
  out.transmit({port, std::move(departure.frame), now, departure.end, departure.fate.flight,
                departure.fate.lost});
}

void SwitchNode::record(FabricTime t, PortId port, Direction direction, PacketEvent event,
                        DropCause cause, QueueClass queue, const Frame& frame) {
  environment_.observer.packet({t, port, direction, event, cause, queue, frame});
}

void SwitchNode::record_drop(FabricTime t, PortId port, Direction direction, DropCause cause,
                             QueueClass queue, const Frame& frame) {
  ++at(port).tally.trouble().drops[static_cast<size_t>(cause)];
  record(t, port, direction, PacketEvent::kDropped, cause, queue, frame);
}

}  // namespace mrclab::switchd
