#include "switchd/pause_control.h"

#include <algorithm>

#include "fabric/packet/pause_frame.h"

namespace mrclab::switchd {
PauseControl::PauseControl(const Topology& topology, NodeId self)
    : buffer_(buffer_settings(topology, self)),
      action_(topology.lossless.watchdog),
      detect_(topology.lossless.detect),
      restore_(topology.lossless.restore) {
  for (const mrclab::Port& port : topology.node(self).ports) {
    ports_.emplace_back().rate = topology.wire(port.out).rate;
  }
}

std::optional<uint16_t> PauseControl::take_request(PortId at, FabricTime now) {
  Port& port = ports_[at.value];
  if (may_let_go(at)) {
    port.asked = false;
    port.ask_again = FabricTime::never();
    return uint16_t{0};
  }
  const bool due = port.asked ? port.ask_again <= now : buffer_.wants_stop(at);
  if (!due) return std::nullopt;
  port.asked = true;
  // A neighbour that a fault makes slower stands longer, so half of the time as built comes soon enough.
  port.ask_again = now + pause_time(kPauseQuanta, port.rate) / 2;
  return kPauseQuanta;
}

void PauseControl::on_pause(PortId at, uint16_t quanta, FabricTime now, BitRate rate) {
  Port& port = ports_[at.value];
  port.paused.set(now + pause_time(quanta, rate), now);
}

void PauseControl::reset(PortId at, FabricTime now) {
  Port& port = ports_[at.value];
  PauseClock paused = port.paused;
  paused.set(now, now);
  const uint64_t storms = port.storms;
  const BitRate rate = port.rate;
  port = {};
  port.rate = rate;
  port.paused = paused;
  port.storms = storms;
}

bool PauseControl::may_send(PortId at, FabricTime now) const {
  const Port& port = ports_[at.value];
  return !port.paused.in_force(now) || port.storm;
}

void PauseControl::note_queue(PortId at, bool waiting, bool one_left, FabricTime now) {
  if (action_ == WatchdogAction::kOff) return;
  Port& port = ports_[at.value];
  const bool blocked = waiting && port.paused.in_force(now) && !port.storm;
  if (!blocked) {
    port.blocked_since = FabricTime::never();
  } else if (one_left || port.blocked_since == FabricTime::never()) {
    port.blocked_since = now;
  }
}

bool PauseControl::run_watchdog(PortId at, FabricTime now) {
  Port& port = ports_[at.value];
  if (port.storm) {
    if (now < port.paused.until() + restore_) return false;
    port.storm = false;
    return true;
  }
  if (port.blocked_since == FabricTime::never() || now < port.blocked_since + detect_) return false;
  port.storm = true;
  ++port.storms;
  port.blocked_since = FabricTime::never();
  return true;
}

FabricTime PauseControl::deadline(PortId at, FabricTime now) const {
  const Port& port = ports_[at.value];
  FabricTime due = port.ask_again;
  if (port.storm) return std::min(due, port.paused.until() + restore_);
  if (port.paused.in_force(now)) due = std::min(due, port.paused.until());
  if (port.blocked_since != FabricTime::never()) {
    due = std::min(due, port.blocked_since + detect_);
  }
  return due;
}

void PauseControl::add_to(PortPauses& account, PortId at, FabricTime now) const {
  const Port& port = ports_[at.value];
  account.stands = port.paused.in_force(now);
  account.stood = port.paused.stood(now);
  account.asks = port.asked;
  account.storm = port.storm;
  account.storms = port.storms;
  account.held = buffer_.held(at);
  account.most_held = buffer_.most_held(at);
  account.headroom_held = buffer_.headroom_used(at);
  account.headroom = buffer_.headroom(at);
}

}  // namespace mrclab::switchd
