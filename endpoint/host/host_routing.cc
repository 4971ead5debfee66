// The part of a host that routes by itself: when its speaker runs, and what becomes of its messages.

#include <algorithm>

#include "endpoint/host/host_device.h"

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

}  // namespace mrclab::endpoint
