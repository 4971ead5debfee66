#include "fabric/neighbours/neighbour_agent.h"

#include <algorithm>

namespace mrclab {

NeighbourAgent::NeighbourAgent(const Topology& topology, NodeId self)
    : topology_(topology),
      self_(self),
      period_(topology.orchestrator.period.at(topology.base_rtt)),
      ports_(topology.node(self).ports.size()) {}

void NeighbourAgent::start(FabricTime now) {
  for (PortState& port : ports_) {
    const bool light = port.light;
    port = {};
    port.light = light;
  }
  periodic_ = next_ = now;
}

std::vector<PortId> NeighbourAgent::run(FabricTime now) {
  std::vector<PortId> due;
  if (now < next_) return due;
  const bool all = now >= periodic_;
  for (uint32_t i = 0; i < ports_.size(); ++i) {
    PortState& port = ports_[i];
    const bool known = port.found == Found::kPlanned || port.found == Found::kOther;
    if (known && now >= port.until) forget(PortId{i});
    if (port.light && (all || port.send_now)) due.push_back(PortId{i});
    port.send_now = false;
  }
  if (all) periodic_ = now + period_;
  next_ = periodic_;
  return due;
}

LldpError NeighbourAgent::receive(PortId port, std::span<const uint8_t> bytes, FabricTime now) {
  LldpFrame frame;
  const LldpError error = parse_lldp(bytes, frame);
  if (error != LldpError::kNone) {
    ++malformed_;
    return error;
  }
  PortState& state = ports_[port.value];
  if (frame.ttl_s == 0) {
    forget(port);
    return error;
  }
  const std::string who = sender_of(frame);
  const bool known = state.found == Found::kPlanned || state.found == Found::kOther;
  if (!known || who != state.who) {
    news_.push_back(
        {port, known ? NeighbourNews::Kind::kChanged : NeighbourNews::Kind::kFound, who});
    state.who = who;
  }
  state.found = is_planned(port, who) ? Found::kPlanned : Found::kOther;
  const bool heeded = frame.ours && state.found == Found::kPlanned;
  state.service = heeded ? frame.service : LldpService{};
  state.until = now + period_ / kLldpInterval_s * frame.ttl_s;
  return error;
}

void NeighbourAgent::set_light(PortId port, bool light, FabricTime now) {
  PortState& state = ports_[port.value];
  if (state.light == light) return;
  state.light = light;
  forget(port);
  state.found = Found::kGone;  // what is plugged in afterwards may be something else
  if (!light || next_ == FabricTime::never()) return;
  state.send_now = true;
  next_ = std::min(next_, now);
}

void NeighbourAgent::set_service(const LldpService& service, FabricTime now) {
  if (service == service_) return;
  service_ = service;
  if (next_ == FabricTime::never()) return;
  for (PortState& port : ports_) port.send_now = true;
  next_ = std::min(next_, now);
}

bool NeighbourAgent::may_use(PortId port) const {
  const PortState& state = ports_[port.value];
  const PortRef planned = topology_.planned_peer({self_, port});
  if (topology_.node(planned.node).role == NodeRole::kHost) return true;
  if (state.found == Found::kNotYet) return state.service.forwards;
  return state.found == Found::kPlanned && state.service.forwards;
}

bool NeighbourAgent::has_heard_all() const {
  return std::all_of(ports_.begin(), ports_.end(), [](const PortState& port) {
    return !port.light || port.found == Found::kPlanned || port.found == Found::kOther;
  });
}

UplinkSet NeighbourAgent::unused_uplinks() const {
  UplinkSet set;
  const NodeSite& site = topology_.node(self_);
  if (site.role != NodeRole::kT0 || !topology_.regular()) return set;
  for (uint32_t i = topology_.hosts_per_t0; i < ports_.size(); ++i) {
    const uint32_t uplink = i - topology_.hosts_per_t0;
    if (uplink < set.size()) set[uplink] = !ports_[i].light || !may_use(PortId{i});
  }
  return set;
}

uint32_t NeighbourAgent::heard() const {
  return static_cast<uint32_t>(
      std::count_if(ports_.begin(), ports_.end(), [](const PortState& port) {
        return port.found == Found::kPlanned || port.found == Found::kOther;
      }));
}

bool NeighbourAgent::is_planned(PortId port, const std::string& who) const {
  return who == topology_.port_name(topology_.planned_peer({self_, port}));
}

void NeighbourAgent::forget(PortId port) {
  PortState& state = ports_[port.value];
  if (state.found == Found::kPlanned || state.found == Found::kOther) {
    news_.push_back({port, NeighbourNews::Kind::kGone, std::exchange(state.who, {})});
  }
  state.found = Found::kGone;
  state.service = {};
}

}  // namespace mrclab
