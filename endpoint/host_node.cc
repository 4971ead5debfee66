// The Node interface and the order of events.

#include "endpoint/host_node.h"

#include <algorithm>
#include <utility>

#include "endpoint/host_impl.h"

namespace mrclab::endpoint {

HostNode::HostNode(const NodeEnvironment& environment, const HostConfig& config)
    : impl_(std::make_unique<Impl>(environment, config)) {}
HostNode::~HostNode() = default;
void HostNode::receive(PortId port, Arrival arrival) { impl_->receive(port, std::move(arrival)); }
void HostNode::apply(const ScheduledEffect& effect) { impl_->apply(effect); }
FabricTime HostNode::next_event() const { return impl_->next_event(); }
void HostNode::run_until(FabricTime committed, FrameSink& out) { impl_->run_until(committed, out); }
HostStats HostNode::stats() const { return impl_->stats(); }
std::vector<QueueCounts> HostNode::queues() const { return impl_->queues(); }
std::optional<EvEvent> HostNode::poll_ev_event() { return impl_->poll_ev_event(); }
bool HostNode::finished() const { return impl_->finished(); }
Device& HostNode::device() { return impl_->device(); }
std::vector<WorkReport> HostNode::work() const { return impl_->work(); }

void HostNode::Impl::receive(PortId port, Arrival arrival) {
  if (port.value >= ports_.size()) return;
  const EventKey key{arrival.arrival + latency_, EventClass::kArrival, port.value,
                     arrival.sequence};
  const uint32_t slot = arrivals_.put(std::move(arrival));
  events_.push(key, {EventKind::kArrival, slot, port.value});
}

void HostNode::Impl::apply(const ScheduledEffect& effect) {
  const uint32_t slot = effects_.put(effect.effect);
  // Order of effects at one instant: power first, so that frames lost with a host's power do not
  // count as lost by its ports.
  const uint32_t order = std::holds_alternative<HostState>(effect.effect) ? 0 : 1;
  events_.push({effect.at, EventClass::kFault, order, effect.sequence},
               {EventKind::kEffect, slot, 0});
}

void HostNode::Impl::push(FabricTime at, EventClass event_class, uint32_t port, Event event) {
  event.life = life_;
  events_.push({at, event_class, port, next_sequence_++}, event);
}

void HostNode::Impl::run_until(FabricTime committed, FrameSink& out) {
  while (events_.next_time() <= committed) {
    const auto [key, event] = events_.pop();
    // An event before now is a late arrival: it happens now.
    now_ = std::max(now_, key.at);
    process(event);
    after_event(out);
  }
  now_ = std::max(now_, committed);
}

void HostNode::Impl::process(const Event& event) {
  const auto of_this_life = [&] { return event.life == life_; };
  switch (event.kind) {
    case EventKind::kArrival: on_arrival(event.detail, arrivals_.take(event.index)); break;
    case EventKind::kEffect: on_effect(effects_.take(event.index)); break;
    case EventKind::kPortNotice:
      if (ports_[event.index].notice_generation == event.detail) {
        on_port_notice(PortId{event.index});
      }
      break;
    case EventKind::kQpTimer:
      if (of_this_life() && qps_.contains(event.index)) on_qp_timer(qps_[event.index]);
      break;
    case EventKind::kPeerTimer:
      if (of_this_life()) on_peer_timer(event.index);
      break;
    case EventKind::kReverseTimer:
      if (of_this_life()) on_reverse_timer(event.index);
      break;
    case EventKind::kStart:
      if (of_this_life()) wake_application(Notice::Kind::kStart, event.index);
      break;
    case EventKind::kWake:
      if (of_this_life()) wake_application(Notice::Kind::kWake, event.index);
      break;
    case EventKind::kPortFree: ports_[event.index].nic.finished(); break;
    case EventKind::kInMemory:
      if (of_this_life()) on_memory();
      break;
    case EventKind::kDoorbell: doorbell_ = false; break;  // what follows every event does the rest
  }
}

void HostNode::Impl::after_event(FrameSink& out) {
  tell_applications();
  pump(out);
  tell_windows();
  set_timers();
}

/// Posts from outside start at the next run_until().
void HostNode::Impl::ring_doorbell() {
  if (!std::exchange(doorbell_, true)) {
    push(now_, EventClass::kApplication, 0, {EventKind::kDoorbell, 0, 0});
  }
}

void HostNode::Impl::touch(QueuePair& qp) {
  if (std::find(touched_.begin(), touched_.end(), &qp) == touched_.end()) touched_.push_back(&qp);
}

/// Reports the windows of the peers whose queue pairs the event concerned.
void HostNode::Impl::tell_windows() {
  for (QueuePair* qp : touched_) {
    auto record = qp->peer.window_reports.due(*qp->peer.window, now_);
    if (!record) continue;
    record->peer = topology_.host(qp->peer.host);
    environment_.observer.window(*record);
  }
}

/// One event per queue pair stands in the queue; a deadline that moves later is found out when the
/// event comes, one that moves earlier gets a new event.
void HostNode::Impl::set_timers() {
  for (QueuePair* qp : touched_) {
    const FabricTime deadline = std::max({qp->requester.deadline(now_), qp->peer.held_until, now_});
    if (deadline == FabricTime::never() || deadline >= qp->timer_at) continue;
    qp->timer_at = deadline;
    push(deadline, EventClass::kTimer, 0, {EventKind::kQpTimer, qp->id.handle.value, 0});
  }
  touched_.clear();
  set_memory_timer();
}

void HostNode::Impl::on_qp_timer(QueuePair& qp) {
  if (now_ >= qp.timer_at) qp.timer_at = FabricTime::never();
  touch(qp);
  // While the NIC remaps, its timers do not run out either.
  if (qp.requester.deadline(now_) > now_ || qp.peer.held_until > now_) return;
  qp.requester.on_timer(now_);
  send_probes(qp);
}

HostStats HostNode::Impl::stats() const {
  HostStats stats = stats_;
  for (const QueuePair& qp : qps_) {
    stats.evs_bad += qp.requester.evs().unusable();
    const SchedulerState state = qp.requester.scheduler_state(now_);
    stats.qps_pending += state == SchedulerState::kPending;
    stats.qps_active += state == SchedulerState::kActive;
    stats.qps_ready += state == SchedulerState::kReady;
  }
  for (const Peer& peer : peers_) {
    stats.window_bytes += peer.window->window().value;
    stats.in_flight_bytes += peer.window->in_flight().value;
  }
  return stats;
}

std::vector<QueueCounts> HostNode::Impl::queues() const {
  std::vector<QueueCounts> all;
  for (const QueuePair& qp : qps_) {
    const WorkLedger& work = qp.ledger();
    all.push_back({qp.id.local, qp.id.remote, qp.peer.host, work.posted(), work.completed(),
                   work.failed(), work.out_of_order(), qp.requester.failed()});
  }
  return all;
}

bool HostNode::Impl::finished() const {
  return std::all_of(apps_.begin(), apps_.end(),
                     [](const RunningApp& app) { return app.gone || app.application->finished(); });
}

}  // namespace mrclab::endpoint
