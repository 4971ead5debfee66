// What runs on a host beside its transport. The part that routes by itself: when its speaker runs, and what becomes of its
// messages. The part that probes its fabric: when the mapper's agent runs, and what becomes of its probes and reports. The
// denylist: what goes to the collector and what comes from it, and what a list means to queue pairs and ways back; on one
// host the collector itself is. The part that names itself to its switches, and takes what its own T0s say about their
// uplinks: it denies the entropy values of those that lead elsewhere than planned, or to a switch that is not in service.

#include <algorithm>
#include <utility>

#include "endpoint/host/host_device.h"
#include "fabric/neighbours/neighbour_text.h"
#include "fabric/node/event_kind.h"
#include "fabric/paths/path_list.h"
#include "fabric/probes/denylist_fit.h"
#include "fabric/probes/probe_route.h"

namespace mrclab::endpoint {

void HostImpl::start_routes() {
  routes_->start(partners_);
  routes_planned_ = FabricTime::never();
  plan_routes(host_.now);
}

void HostImpl::plan_routes(FabricTime at) {
  if (at >= routes_planned_) return;
  routes_planned_ = at;
  host_.events.push(at, EventClass::kApplication, 0, {HostEventKind::kRoutes, 0, 0});
}

/// Once for all frames of an instant, which were received before.
void HostImpl::run_routes() {
  if (host_.now >= routes_planned_) routes_planned_ = FabricTime::never();
  routes_->run();
  for (auto& [port, frame] : routes_->take_frames()) {
    ports_.queue_control(port.value, std::move(frame));
  }
  for (const uint32_t host : routes_->take_changed()) {
    const std::vector<uint32_t> weights = routes_->plane_weights(host);
    peers_.on_routes(host, weights);
    roce_.on_routes(host, weights);
  }
  plan_routes(std::max(routes_->deadline(), host_.now));
}

void HostImpl::on_wire_rate(const WireRate& rate) {
  if (!routes_ || rate.wire.value >= host_.topology.all_wires().size()) return;
  const Wire& wire = host_.topology.wire(rate.wire);
  if (wire.from.node != host_.environment.self) return;
  routes_->set_rate(wire.from.port, ports_.at(wire.from.port.value).out_wire.rate());
  plan_routes(host_.now);
}

/// One event for the agent, and for the collector where it is, stands in the queue; one that comes too early finds nothing to do.
void HostImpl::plan_mapper() {
  FabricTime due = mapper_ ? mapper_->deadline() : FabricTime::never();
  if (collector_) due = std::min(due, collector_->deadline());
  if (!list_announced_) due = host_.now;
  const FabricTime at = std::max(due, host_.now);
  if (at == FabricTime::never() || at >= mapper_planned_) return;
  mapper_planned_ = at;
  host_.events.push(at, EventClass::kTimer, 0, {HostEventKind::kMapper, 0, 0});
}

void HostImpl::run_mapper() {
  if (host_.now >= mapper_planned_) mapper_planned_ = FabricTime::never();
  if (!list_announced_) list_changed("static");
  if (work_ == HostWork::kRunning) run_collector();
  if (!mapper_) return plan_mapper();
  while (const std::optional<ProbeReport> report = mapper_->next_report(host_.now)) {
    host_.report_event(
        {host_.now, event_kind::kMapperReport, {}, {}, {}, {}, {}, to_text(*report)});
    send_report(*report);
  }
  const MapperProfile& profile = host_.topology.mapper;
  while (const std::optional<MapperAgent::Due> due = mapper_->next_probe(host_.now)) {
    const uint32_t plane = due->probe.plane;
    const size_t size = probe_bytes(profile.form);
    Frame frame = host_.environment.frames.make(size);
    if (!frame) {
      ++host_.stats.no_buffer;
      mapper_->not_sent();
      continue;
    }
    const PathHeaders way = host_.topology_paths.headers(host_.self, ev_of({plane}));
    write_probe(
        {profile.form, due->probe, due->tag, way.source_mac, way.destination_mac, way.outer_source,
         probe_carrier(host_.topology, host_.self, due->probe), host_.topology.dscps.trimmable},
        frame.writable_bytes());
    frame.set_modelled_size({size});
    ports_.queue_control(plane, std::move(frame));
  }
  plan_mapper();
}

/// False for whatever is no probe that came back to the address that it was sent from: that is refused as all else.
bool HostImpl::take_probe(uint32_t port, const Frame& frame) {
  if (frame.size() > probe_bytes(ProbeForm::kStamp)) return false;
  const std::optional<SeenProbe> seen = parse_probe(frame.bytes());
  if (!seen) return false;
  const bool here = !seen->carried || (host_.paths.accepts(port, seen->outer_destination) &&
                                       host_.paths.ends_here(seen->outer_destination));
  const Ipv6Address own = host_.paths.address(host_.self);
  if (!here || !same_address(seen->destination, own)) return false;
  if (seen->damaged) {
    host_.refuse(Refusal::kMalformed);
    host_.environment.observer.packet({host_.now, PortId{port}, Direction::kIngress,
                                       PacketEvent::kDropped, DropCause::kMalformed,
                                       QueueClass::kNone, frame});
  }
  mapper_->receive(port, *seen, host_.now);
  return true;
}

/// At the start, and when software that lost its memory begins anew.
void HostImpl::start_denylist() {
  if (!host_.topology.denylist.on) return;
  collector_host_ = collector_of(host_.topology);
  if (collector_host_ == host_.self)
    collector_ = std::make_unique<DenylistCollector>(host_.topology);
  list_announced_ = false;
  mapper_planned_ = FabricTime::never();
  plan_mapper();
}

std::vector<EntropyValue> HostImpl::values_of(const QueuePair& qp) const {
  std::vector<EntropyValue> values;
  for (uint32_t i = 0; i < qp.requester.evs().size(); ++i) {
    values.push_back(qp.requester.evs().value(i));
  }
  return values;
}

/// What is denied now, by hand or by list.
void HostImpl::apply_denials(QueuePair& qp) {
  const std::vector<EntropyValue> values = values_of(qp);
  const HostDenials::Among among = denials_.among(values, qp.peer.host);
  for (size_t i = 0; i < values.size(); ++i) {
    qp.requester.set_denied(values[i], among.denied[i], host_.now);
  }
}

void HostImpl::apply_denials(Peer& peer) {
  std::vector<EntropyValue> values;
  for (const Path& path : paths_between(host_.topology, host_.self, peer.host)) {
    values.push_back(ev_of(path));
  }
  const HostDenials::Among among = denials_.among(values, peer.host);
  for (size_t i = 0; i < values.size(); ++i) peer.reverse.set_denied(values[i], among.denied[i]);
}

void HostImpl::list_changed(std::string_view cause) {
  for (QueuePair& qp : queue_pairs_) {
    apply_denials(qp);
    queue_pairs_.touch(qp);
  }
  for (Peer& peer : peers_.table()) apply_denials(peer);
  list_announced_ = true;
  uint32_t left_out = 0;
  for (const QueuePair& qp : queue_pairs_) {
    left_out += denials_.among(values_of(qp), qp.peer.host).left_out;
  }
  const DeniedList& list = denials_.list();
  EventRecord record{host_.now, event_kind::kDenylistSet, {}, {}, {}, {}, cause, {}};
  record.detail = "version " + std::to_string(list.version) + ", parts " +
                  std::to_string(list.parts.size()) + ", left_out " + std::to_string(left_out);
  host_.report_event(record);
}

/// Twice, over two planes that have light and whose paths are not denied, in turn; any paths, where all are.
void HostImpl::send_message(uint32_t to, const MapperMessage& message) {
  std::vector<Path> usable, lit;
  for (const Path& path : paths_between(host_.topology, host_.self, to)) {
    if (!ports_.is_live(path.plane)) continue;
    lit.push_back(path);
    if (!denials_.lists(to, path)) usable.push_back(path);
  }
  const std::vector<Path>& paths = usable.empty() ? lit : usable;
  if (paths.empty()) return;
  const size_t first = messages_sent_++ % paths.size();
  send_message_over(paths[first], to, message);
  for (size_t i = 1; i < paths.size(); ++i) {
    const Path& other = paths[(first + i) % paths.size()];
    if (other.plane == paths[first].plane) continue;
    return send_message_over(other, to, message);
  }
  send_message_over(paths[first], to, message);
}

void HostImpl::send_message_over(const Path& path, uint32_t to, const MapperMessage& message) {
  const size_t size = message_bytes(message);
  Frame frame = host_.environment.frames.make(size);
  if (!frame) {
    ++host_.stats.no_buffer;
    return;
  }
  const PathHeaders way = host_.topology_paths.headers(to, ev_of(path));
  MessageFrameSpec spec;
  spec.source_mac = way.source_mac;
  spec.destination_mac = way.destination_mac;
  spec.outer_source = way.outer_source;
  spec.carrier = way.carrier;
  spec.source = host_.paths.address(host_.self);
  spec.destination = host_.paths.address(to);
  spec.ev = ev_of(path);
  spec.dscp = host_.topology.dscps.control;
  spec.session = mapper_session(host_.environment.seed);
  write_message(spec, message, frame.writable_bytes());
  frame.set_modelled_size({size});
  ports_.queue_control(path.plane, std::move(frame));
}

void HostImpl::send_report(const ProbeReport& report) {
  if (!host_.topology.denylist.on) return;
  if (denials_.expire(host_.now)) list_changed("expired");
  AgentReport out = agent_report(host_.topology, host_.self, report, denials_.list().version);
  if (!collector_) return send_message(collector_host_, std::move(out));
  collector_->take(host_.self, out, host_.now);
  collector_->end_period(report.period, host_.now);
  run_collector();
}

/// What the collector has decided is in force here at once, and goes to all others.
void HostImpl::run_collector() {
  if (!collector_) return;
  collector_->run_drains(host_.now);
  for (DenylistCollector::Change& change : collector_->take_changes()) {
    EventRecord record{host_.now, event_kind::kDenylist, {}, {}, {}, {}, change.cause, {}};
    record.detail = "version " + std::to_string(collector_->list().version) + ", " +
                    name_of(host_.topology, change.part) + ", " + change.why;
    host_.report_event(record);
  }
  const DeniedList list = collector_->list();
  if (denials_.take(list, host_.now)) list_changed("list");
  for (const uint32_t host : collector_->take_behind()) {
    if (host != host_.self) send_message(host, list);
  }
}

/// False for what is for another port or another address: that is refused as all else.
bool HostImpl::take_message(uint32_t port, const Frame& frame) {
  std::optional<SeenMessage> seen = parse_message(frame.bytes());
  if (!seen) return false;
  const bool here = !seen->carried || (host_.paths.accepts(port, seen->outer_destination) &&
                                       host_.paths.ends_here(seen->outer_destination));
  if (!here || !same_address(seen->destination, host_.paths.address(host_.self))) return false;
  const auto source = host_.paths.host_of(seen->source);
  const bool known = seen->message && source && *source != host_.self &&
                     seen->session == mapper_session(host_.environment.seed);
  if (!known || !take_message_of(*source, *seen->message)) {
    host_.refuse(Refusal::kMalformed);
    host_.environment.observer.packet({host_.now, PortId{port}, Direction::kIngress,
                                       PacketEvent::kDropped, DropCause::kMalformed,
                                       QueueClass::kNone, frame});
  }
  return true;
}

bool HostImpl::take_message_of(uint32_t source, MapperMessage& message) {
  if (work_ != HostWork::kRunning) return true;  // no software is there to read it
  if (const auto* report = std::get_if<AgentReport>(&message)) {
    if (!collector_ || !collector_->take(source, *report, host_.now)) return false;
    run_collector();
    return true;
  }
  auto& list = std::get<DeniedList>(message);
  const bool right = source == collector_host_ && !collector_ &&
                     list.version <= static_cast<uint64_t>(host_.now.ps());
  if (!right) return false;
  for (const DeniedPart& part : list.parts) {
    if (!has_part(host_.topology, part)) return false;
  }
  if (denials_.take(std::move(list), host_.now)) list_changed("list");
  return true;
}

void HostImpl::plan_neighbours() {
  const FabricTime at = std::max(neighbours_->deadline(), host_.now);
  if (at == FabricTime::never() || at >= neighbours_planned_) return;
  neighbours_planned_ = at;
  host_.events.push(at, EventClass::kTimer, 0, {HostEventKind::kNeighbours, 0, 0});
}

void HostImpl::run_neighbours() {
  if (host_.now >= neighbours_planned_) neighbours_planned_ = FabricTime::never();
  for (const PortId port : neighbours_->run(host_.now)) {
    ports_.queue_control(port.value, neighbours_->make(host_.environment.frames, port));
  }
  after_neighbours();
}

void HostImpl::take_neighbour(uint32_t port, const Frame& frame) {
  if (neighbours_->receive(PortId{port}, frame.bytes(), host_.now) != LldpError::kNone) {
    host_.refuse(Refusal::kMalformed);
    host_.environment.observer.packet({host_.now, PortId{port}, Direction::kIngress,
                                       PacketEvent::kDropped, DropCause::kMalformed,
                                       QueueClass::kNone, frame});
    return;
  }
  after_neighbours();
}

void HostImpl::after_neighbours() {
  for (NeighbourNews& news : neighbours_->take_news()) {
    host_.report_event({host_.now,
                        event_kind::kNeighbour,
                        news.port,
                        {},
                        {},
                        {},
                        name_of(news.kind),
                        std::move(news.who)});
  }
  for (uint32_t p = 0; p < unused_uplinks_.size() && host_.topology.regular(); ++p) {
    const UplinkSet unused = neighbours_->service_at(PortId{p}).unused;
    const UplinkSet changed = unused ^ std::exchange(unused_uplinks_[p], unused);
    const uint32_t uplinks =
        std::min<uint32_t>(host_.topology.t1_per_plane, static_cast<uint32_t>(changed.size()));
    for (uint32_t u = 0; changed.any() && u < uplinks; ++u) {
      if (changed[u]) on_denial({host_.environment.self, ev_of({p, u}), {}, unused[u]});
    }
  }
  plan_neighbours();
}

}  // namespace mrclab::endpoint
