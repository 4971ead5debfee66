// What runs on a host beside its transport. The part that routes by itself: when its speaker runs, and what becomes of its
// messages. The part that probes its fabric: when the mapper's agent runs, and what becomes of its probes and reports.

#include <algorithm>

#include "endpoint/host/host_device.h"
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

/// One event for the agent stands in the queue; one that comes too early finds nothing to do.
void HostImpl::plan_mapper() {
  const FabricTime at = std::max(mapper_->deadline(), host_.now);
  if (at == FabricTime::never() || at >= mapper_planned_) return;
  mapper_planned_ = at;
  host_.events.push(at, EventClass::kTimer, 0, {HostEventKind::kMapper, 0, 0});
}

void HostImpl::run_mapper() {
  if (host_.now >= mapper_planned_) mapper_planned_ = FabricTime::never();
  while (const std::optional<ProbeReport> report = mapper_->next_report(host_.now)) {
    host_.report_event(
        {host_.now, event_kind::kMapperReport, {}, {}, {}, {}, {}, to_text(*report)});
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

}  // namespace mrclab::endpoint
