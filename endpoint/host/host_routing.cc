// What runs on a host beside its transport. The part that routes by itself: when its speaker runs, and what becomes of its
// messages. The part that probes its fabric: when the mapper's agent runs, and what becomes of its probes and reports.
// The part that names itself to its switches, and takes what its own T0s say about their uplinks: it denies the entropy
// values of those that lead elsewhere than planned, or to a switch that is not in service.

#include <algorithm>

#include "endpoint/host/host_device.h"
#include "fabric/neighbours/neighbour_text.h"
#include "fabric/node/event_kind.h"
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
  if (!routes_ || rate.wire.value >= host_.topology.wires_list.size()) return;
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
  if (!list_announced_) announce_list("static");
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
