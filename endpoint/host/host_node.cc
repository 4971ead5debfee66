// The Node interface and the order of events.

#include "endpoint/host/host_node.h"

#include <algorithm>
#include <utility>

#include "endpoint/host/host_device.h"
#include "fabric/base/cache_line.h"
#include "fabric/node/event_kind.h"

namespace mrclab::endpoint {

HostNode::HostNode(const NodeEnvironment& environment, const HostConfig& config)
    : impl_(std::make_unique<HostImpl>(environment, config)) {}
HostNode::~HostNode() = default;
void HostNode::receive(PortId port, Arrival&& arrival) { impl_->receive(port, std::move(arrival)); }
void HostNode::apply(const ScheduledEffect& effect) { impl_->apply(effect); }
FabricTime HostNode::next_event() const { return impl_->next_event(); }
ArrivalQueue* HostNode::arrivals() { return impl_->arrivals(); }
void HostNode::fetch() const { impl_->fetch(); }
void HostNode::run_until(FabricTime committed, FrameSink& out) { impl_->run_until(committed, out); }
HostStats HostNode::stats() const { return impl_->stats(); }
std::optional<NodePauses> HostNode::pauses() const { return impl_->pauses(); }
std::vector<QueueCounts> HostNode::queues() const { return impl_->queues(); }
std::optional<EvEvent> HostNode::poll_ev_event() { return impl_->poll_ev_event(); }
bool HostNode::finished() const { return impl_->finished(); }
bool HostNode::work_ended() const { return impl_->work_ended(); }
Device& HostNode::device() { return impl_->device(); }
std::vector<WorkReport> HostNode::work() const { return impl_->work(); }
std::vector<JobReport> HostNode::jobs() const { return impl_->jobs(); }
const HostRoutes* HostNode::routes() const { return impl_->routes(); }

/// Queue pairs first, then the applications that use them.
HostImpl::HostImpl(const NodeEnvironment& environment, const HostConfig& config)
    : host_(environment, config.transport, config.paths, config.payload_elided, config.payload_lent,
            config.contents != nullptr, config.transport_stays),
      ports_(host_),
      checks_(host_),
      receiving_(host_),
      pauses_(host_, ports_, receiving_),
      peers_(host_, ports_, queue_pairs_, HostRoutes::nics_speak_bgp(host_.topology)),
      queues_(queue_pairs_, rc_queue_pairs_),
      applications_(host_, queues_),
      roce_(host_, ports_, receiving_, pauses_, memory_.regions, applications_, rc_queue_pairs_),
      sender_(host_, ports_, queue_pairs_, roce_),
      denials_(host_.topology, host_.self) {
  std::vector<ConnectionPlan> worked_out;
  std::optional<OwnConnections> worked_out_by_host;
  if (config.connections == nullptr) {
    worked_out = plan_connections(host_.topology, config.workloads, host_.environment.seed,
                                  host_.profile.max_psn_range);
    worked_out_by_host.emplace(worked_out, host_.topology.host_count());
  }
  const OwnConnections& connections =
      config.connections != nullptr ? *config.connections : *worked_out_by_host;
  for (const uint32_t place : connections.of(host_.self)) {
    const ConnectionPlan& connection = connections.plan()[place];
    const bool begins_here = connection.initiator.host == host_.self;
    partners_.push_back(begins_here ? connection.acceptor.host : connection.initiator.host);
  }
  add_queue_pairs(connections);
  WorkloadBuilder(host_, queues_, memory_, applications_).add_applications(config, connections);
  is_planned_ = true;
  if (HostRoutes::nics_speak_bgp(host_.topology)) {
    routes_ = std::make_unique<HostRoutes>(host_, ports_);
    start_routes();
  }
  if (host_.topology.mapper.on) {
    mapper_ = std::make_unique<MapperAgent>(host_.topology, host_.self, environment.seed);
    plan_mapper();
  }
  if (host_.topology.orchestrator.on) {
    neighbours_ = std::make_unique<NeighbourAgent>(host_.topology, environment.self);
    unused_uplinks_.resize(ports_.size());
    neighbours_->start(host_.now);
    plan_neighbours();
  }
  start_denylist();
}

HostImpl::~HostImpl() = default;

/// Most hosts have no program outside.
Device& HostImpl::device() {
  if (device_ == nullptr) {
    auto device = std::make_unique<HostDevice>(*this);
    device_ = device.get();
    device_->set_index(applications_.add_application(std::move(device), {}));
  }
  return *device_;
}

void HostImpl::receive(PortId port, Arrival&& arrival) {
  if (port.value >= host_.events.ports()) return;
  host_.events.push_arrival(port, std::move(arrival));
}

void HostImpl::fetch() const {
  fetch_lines(this, sizeof *this);
  host_.events.fetch_arrivals();
  host_.environment.observer.fetch();
  sender_.fetch_next();
}

void HostImpl::run_until(FabricTime committed, FrameSink& out) {
  while (true) {
    const FabricTime next = host_.events.next_time(), end = ports_.next_end();
    if (std::min(next, end) > committed) break;
    if (end < next) {
      host_.now = std::max(host_.now, end);
      ports_.finish_sending();
    } else if (host_.events.arrival_is_next()) {
      host_.now = std::max(host_.now, next);  // a late one happens now
      const PortId port = host_.events.port_of_arrival();
      on_arrival(port.value, host_.events.pop_arrival(host_.environment.frames));
    } else {
      const auto [key, event] = host_.events.pop();
      host_.now = std::max(host_.now, key.at);
      process(event);
    }
    after_event(out);
  }
  host_.now = std::max(host_.now, committed);
}

void HostImpl::process(const HostEvent& event) {
  const auto of_this_life = [&] { return host_.events.is_of_this_life(event); };
  switch (event.kind) {
    case HostEventKind::kEffect: on_effect(host_.events.take_effect(event.index)); break;
    case HostEventKind::kPortNotice:
      if (ports_.is_newest_notice(event)) on_port_notice(PortId{event.index});
      break;
    case HostEventKind::kQpTimer:
      if (of_this_life() && queue_pairs_.contains(event.index)) {
        on_qp_timer(queue_pairs_[event.index]);
      }
      break;
    case HostEventKind::kPeerTimer:
      if (of_this_life()) peers_.on_peer_timer(event.index);
      break;
    case HostEventKind::kReverseTimer:
      if (of_this_life()) peers_.on_reverse_timer(event.index);
      break;
    case HostEventKind::kStart:
      if (of_this_life()) applications_.wake(ApplicationRunner::Kind::kStart, event.index);
      break;
    case HostEventKind::kWake:
      if (of_this_life()) applications_.wake(ApplicationRunner::Kind::kWake, event.index);
      break;
    case HostEventKind::kInMemory:
      if (of_this_life()) on_memory();
      break;
    case HostEventKind::kRcTimer:
      if (of_this_life()) roce_.on_timer(event.index);
      break;
    case HostEventKind::kLoop:
      if (of_this_life()) roce_.on_loop();
      break;
    case HostEventKind::kRoutes:
      if (of_this_life()) run_routes();
      break;
    case HostEventKind::kMapper:
      if (of_this_life()) run_mapper();
      break;
    case HostEventKind::kAttack: attack_planned_ = FabricTime::never(); break;
    case HostEventKind::kNeighbours:
      if (of_this_life()) run_neighbours();
      break;
    case HostEventKind::kPauseEnd: break;  // what follows every event does the rest
    case HostEventKind::kPauseCheck:
      if (of_this_life()) pauses_.look_at_buffer();
      break;
    case HostEventKind::kDoorbell:
      doorbell_ = false;  // what follows every event does the rest
      break;
  }
}

void HostImpl::after_event(FrameSink& out) {
  applications_.deliver_all();
  ports_.start_control(out);
  sender_.start_packets(out);
  if (sender_.attacks()) plan_attack();
  ports_.start_control_after_data(out);
  if (!queue_pairs_.touched().empty()) settle_touched();
  roce_.set_timers();
  receiving_.set_memory_timer();
}

/// What was posted from outside starts at the next run_until().
void HostImpl::ring_doorbell() {
  if (!std::exchange(doorbell_, true)) {
    host_.events.push(host_.now, EventClass::kApplication, 0, {HostEventKind::kDoorbell, 0, 0});
  }
}

/// What follows for the queue pairs that the event was about. The window of a peer is shared, so other queue
/// pairs may have moved the pace of one whose own timer cannot be sooner.
void HostImpl::settle_touched() {
  for (QueuePair* const qp : queue_pairs_.touched()) {
    Peer& peer = qp->peer;
    if (peer.window_reports.is_due(*peer.window, host_.now)) tell_window(peer);
    const bool sooner = qp->touched == Touched::kTimerMayBeSooner;
    if (sooner || peer.window->is_paced()) set_timer(*qp);
  }
  queue_pairs_.clear_touched();
}

void HostImpl::tell_window(Peer& peer) {
  auto record = peer.window_reports.due(*peer.window, host_.now);
  if (!record) return;
  record->peer = host_.topology.host(peer.host);
  host_.environment.observer.window(*record);
}

/// One event per queue pair stands in the queue; a deadline that moves later is found out when the
/// event comes, one that moves earlier gets a new event.
void HostImpl::set_timer(QueuePair& qp) {
  const FabricTime deadline =
      std::max({qp.requester.deadline(host_.now), qp.peer.held_until, host_.now});
  if (deadline == FabricTime::never() || deadline >= qp.timer_at) return;
  qp.timer_at = deadline;
  host_.events.push(deadline, EventClass::kTimer, 0,
                    {HostEventKind::kQpTimer, qp.id.handle.value, 0});
}

void HostImpl::on_qp_timer(QueuePair& qp) {
  if (host_.now >= qp.timer_at) qp.timer_at = FabricTime::never();
  queue_pairs_.touch(qp);
  // While the NIC remaps, its timers do not run out either.
  if (qp.requester.deadline(host_.now) > host_.now || qp.peer.held_until > host_.now) return;
  qp.requester.on_timer(host_.now);
  send_probes(qp);
}

/// The NIC notices that a port lost its carrier or has it back.
void HostImpl::on_port_notice(PortId port) {
  if (!ports_.notice(port)) return;
  if (mapper_) mapper_->set_light(port.value, ports_.is_live(port.value), host_.now);
  if (neighbours_) {
    neighbours_->set_light(port, ports_.is_live(port.value), host_.now);
    after_neighbours();
  }
  if (work_ == HostWork::kDown) return;  // no software is there to notice
  const bool down = !ports_.is_live(port.value);
  host_.report_event({host_.now,
                      down ? event_kind::kPortAvoided : event_kind::kPortRestored,
                      port,
                      {},
                      {},
                      {},
                      {},
                      {}});
  if (device_ != nullptr) device_->port_changed(port, !down);
  peers_.on_own_ports(down);
  if (!routes_) return;
  routes_->set_live(port, !down);
  plan_routes(host_.now);
}

std::optional<NodePauses> HostImpl::pauses() const {
  if (!host_.topology.lossless.pfc) return std::nullopt;
  return pauses_.account();
}

HostStats HostImpl::stats() const {
  HostStats stats = host_.stats;
  for (const QueuePair& qp : queue_pairs_) {
    stats.evs_bad += qp.requester.unusable_evs();
    const SchedulerState state = qp.requester.scheduler_state(host_.now);
    stats.qps_pending += state == SchedulerState::kPending;
    stats.qps_active += state == SchedulerState::kActive;
    stats.qps_ready += state == SchedulerState::kReady;
  }
  roce_.add_states(stats);
  for (const Peer& peer : peers_.table()) {
    stats.window_bytes += peer.window->window().value;
    stats.in_flight_bytes += peer.window->in_flight().value;
  }
  return stats;
}

std::vector<QueueCounts> HostImpl::queues() const {
  std::vector<QueueCounts> all;
  for (const QueuePair& qp : queue_pairs_) {
    all.push_back(qp.counts());
  }
  roce_.add_counts(all);
  if (device_ != nullptr) all.insert(all.end(), device_->ended().begin(), device_->ended().end());
  return all;
}

}  // namespace mrclab::endpoint
