// What a SwitchNode does for RoCE's data beyond forwarding it: it pauses neighbours, is paused by them, and
// chooses uplinks by their queues where the fabric routes adaptively.

#include <algorithm>
#include <array>

#include "fabric/base/random.h"
#include "fabric/packet/pause_frame.h"
#include "fabric/topology/fabric_file.h"
#include "switchd/switch_node.h"

namespace mrclab::switchd {

/// A frame of RoCE's data that came in at `ingress` has left, or was dropped out of its queue.
void SwitchNode::release(FabricTime now, PortId ingress, Bytes length) {
  pause_->buffer().release(ingress, length);
  // The pause is sent once the event in hand is over: it may have started a frame.
  if (pause_->may_let_go(ingress)) look_again(now, ingress);
}

void SwitchNode::tell_neighbour(FabricTime now, PortId port, FrameSink& out) {
  PortState& state = at(port);
  if (!state.egress.carrier() || stands_still()) return;
  if (const std::optional<uint16_t> quanta = pause_->take_request(port, now)) {
    const mrclab::Port& self = environment_.topology.port({environment_.self, port});
    if (Frame frame = make_pause(environment_.frames, self.mac, *quanta)) {
      state.egress.put_pause(std::move(frame));
      start_next(now, port, state, out);
    }
  }
  look_again(pause_->deadline(port, now), port);
}

void SwitchNode::on_pause_frame(FabricTime now, PortId port, const Frame& frame, FrameSink& out) {
  // MAC control of another kind ends here like a pause of another class (IEEE 802.3 §31: an unsupported opcode is
  // ignored). What is shorter than any Ethernet frame is broken.
  if (!parse_pause(frame.bytes()) && frame.size() < kPauseFrameBytes) {
    record_drop(now, port, Direction::kIngress, DropCause::kMalformed, QueueClass::kPause, frame);
    return;
  }
  const std::optional<uint16_t> quanta = lossless_quanta(frame.bytes());
  if (!quanta) return;
  PortState& state = at(port);
  ++(*quanta > 0 ? state.tally.trouble().xoff_received : state.tally.trouble().xon_received);
  pause_->on_pause(port, *quanta, now, state.egress.wire().rate());
  on_pause_timer(now, port, out);
}

/// What is due at a port: a pause has ended, the neighbour's pause must be renewed, the watchdog fires.
void SwitchNode::on_pause_timer(FabricTime now, PortId port, FrameSink& out) {
  if (!pause_) return;
  if (now >= pause_timers_[port.value]) pause_timers_[port.value] = FabricTime::never();
  PortState& state = at(port);
  pause_->note_queue(port, state.egress.waiting_lossless() > 0, false, now);
  if (pause_->run_watchdog(port, now)) {
    const bool begins = pause_->in_storm(port);
    environment_.observer.event(
        {now, begins ? "pause_storm_detected" : "pause_storm_over", port, {}, {}, {}, {}, {}});
    if (pause_->drops(port)) drop_waiting(now, port);
  }
  state.egress.set_paused(!pause_->may_send(port, now));
  start_next(now, port, state, out);
  tell_neighbour(now, port, out);
}

void SwitchNode::look_again(FabricTime at, PortId port) {
  // What became due while the switch stood still is due now.
  at = std::max(at, committed_);
  if (at == FabricTime::never() || at >= pause_timers_[port.value]) return;
  pause_timers_[port.value] = at;
  events_.push({at, EventClass::kTimer, port.value, local_sequence_++}, 0);
}

void SwitchNode::look_at_all_pauses(FabricTime now) {
  if (!pause_) return;
  for (uint32_t i = 0; i < port_count(); ++i) look_again(now, PortId{i});
}

std::optional<NodePauses> SwitchNode::pauses() const {
  if (!pause_) return std::nullopt;
  const IngressBuffer& buffer = pause_->buffer();
  NodePauses account;
  account.watchdog = watchdog_text(environment_.topology.lossless);
  account.buffer = buffer.size();
  account.shared = buffer.pool();
  account.shared_held = buffer.pool_used();
  account.xoff_above = buffer.reserve() + buffer.threshold();
  for (uint32_t i = 0; i < port_count(); ++i) {
    static constexpr TroubleCounters kNone;
    const PortState* const state = find(PortId{i});
    const TroubleCounters& counters = state != nullptr ? state->tally.seen_trouble() : kNone;
    PortPauses& port = account.ports.emplace_back();
    port.port = environment_.topology.port({environment_.self, PortId{i}}).name();
    port.priority = kLosslessPriority;
    port.xoff_sent = counters.xoff_sent;
    port.xon_sent = counters.xon_sent;
    port.xoff_received = counters.xoff_received;
    port.xon_received = counters.xon_received;
    pause_->add_to(port, PortId{i}, committed_);
    account.held += port.held;
  }
  return account;
}

void SwitchNode::drop_waiting(FabricTime now, PortId port) {
  while (const auto flushed = at(port).egress.flush_one_lossless()) {
    record_flushed(now, port, DropCause::kPauseStorm, *flushed);
  }
}

/// Adaptive routing as uet-htsim's switch has it: the uplink whose queue is shortest, as a share of its
/// limit and in four steps; one of those that are alike by a draw.
PortId SwitchNode::least_loaded(std::span<const PortId> ports) {
  constexpr std::array<uint64_t, 3> kSteps{5, 10, 20};  // percent
  const auto step_of = [&](PortId port) {
    const mrclab::Wire& wire =
        environment_.topology.wire(environment_.topology.port({environment_.self, port}).out);
    const uint64_t share = at(port).egress.depth(QueueClass::kLossless).value * 100 /
                           environment_.topology.queues_of(wire).lossless_limit.value;
    return std::upper_bound(kSteps.begin(), kSteps.end(), share) - kSteps.begin();
  };
  least_loaded_.clear();
  auto least = step_of(ports.front());
  for (const PortId port : ports) {
    const auto step = step_of(port);
    if (step < least) least_loaded_.clear();
    least = std::min(least, step);
    if (step == least) least_loaded_.push_back(port);
  }
  const uint64_t random = draw(environment_.seed, environment_.self, {},
                               DrawPurpose::kAdaptiveRoute, adaptive_draws_++);
  return least_loaded_[below(random, least_loaded_.size())];
}

}  // namespace mrclab::switchd
