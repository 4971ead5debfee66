#include "live/bringup/ordinary_paths.h"

#include <algorithm>

#include "fabric/paths/path_list.h"
#include "fabric/topology/graph_paths.h"
#include "fabric/topology/routes.h"

namespace mrclab::lab {
namespace {

/// In a whole fabric: each takes some 5 us of the kernel's time (our choice: a third of a second at
/// most).
constexpr uint64_t kMaxWaysOfFabric = 65'536;
/// A request to the kernel has room for these.
constexpr uint32_t kMaxWaysOfRoute = 16;

bool loses_everything(const WireLoss& loss) {
  if (loss.one_ev) return false;
  if (loss.kind == LossKind::kEveryNth) return loss.every == 1;
  return loss.kind == LossKind::kRandom && loss.loss.ppb == Probability::kOne;
}

/// Those that leave by NIC port `plane`.
std::vector<Path> paths_out_of(const Topology& topology, uint32_t from, uint32_t to,
                               uint32_t plane) {
  std::vector<Path> paths;
  if (!topology.regular()) {
    for (const Path path : topology.graph->between(from, to)) {
      if (path.plane == plane) paths.push_back(path);
    }
  } else if (topology.host_row(from) == topology.host_row(to)) {
    paths.push_back({plane, kT0LocalUplink});
  } else {
    for (uint32_t u = 0; u < topology.t1_per_plane; ++u) paths.push_back({plane, u});
  }
  return paths;
}

}  // namespace

DeadParts::DeadParts(const Topology& topology)
    : topology_(&topology), wires_(topology.all_wires().size()), nodes_(topology.nodes.size()) {}

void DeadParts::add_wire(WireId wire) { wires_[wire.value] = any_ = true; }

void DeadParts::add_link(LinkId link) {
  add_wire(topology_->link(link).a_to_b());
  add_wire(topology_->link(link).b_to_a());
}

void DeadParts::add(const Effect& effect) {
  if (const auto* wire = std::get_if<WireState>(&effect); wire != nullptr && !wire->up) {
    add_wire(wire->wire);
  } else if (const auto* loss = std::get_if<WireLoss>(&effect);
             loss != nullptr && loses_everything(*loss)) {
    add_wire(loss->wire);
  } else if (const auto* carrier = std::get_if<PortCarrier>(&effect);
             carrier != nullptr && !carrier->up) {
    add_link(topology_->port(carrier->port).link);
  } else if (const auto* state = std::get_if<SwitchState>(&effect);
             state != nullptr && state->work != SwitchWork::kForwarding) {
    nodes_[state->node.value] = any_ = true;
  } else if (const auto* route = std::get_if<SwitchRoute>(&effect);
             route != nullptr && route->kind != RouteKind::kAsBuilt) {
    add_route(*route);
  }
}

void DeadParts::add_route(const SwitchRoute& route) {
  const std::optional<UsidFields> fields = topology_->usids.parse(route.usid);
  if (fields && fields->role == UsidRole::kNicPort) return;  // MRC's alone
  const std::optional<PortId> port = port_toward(*topology_, route.node, route.usid);
  if (port) add_wire(topology_->port({route.node, *port}).out);
}

bool DeadParts::carries(uint32_t from, uint32_t to, Path path) const {
  if (!any_) return true;
  const std::vector<PortRef> exits = exits_of(*topology_, from, to, path);
  return std::none_of(exits.begin(), exits.end(), [this](const PortRef& exit) {
    const Port& port = topology_->port(exit);
    return wires_[port.out.value] || nodes_[port.peer.node.value];
  });
}

uint32_t most_ordinary_ways(const Topology& topology) {
  const uint64_t hosts = topology.host_count();
  const uint64_t pairs = std::max<uint64_t>(1, hosts * (hosts - 1));
  const uint64_t share = std::max<uint64_t>(1, kMaxWaysOfFabric / pairs);
  return static_cast<uint32_t>(std::min<uint64_t>({share, topology.planes, kMaxWaysOfRoute}));
}

std::vector<Path> ordinary_paths(const Topology& topology, uint32_t from, uint32_t to,
                                 const DeadParts& dead) {
  const uint32_t most = most_ordinary_ways(topology);
  std::vector<Path> chosen;
  for (uint32_t i = 0; i < topology.planes && chosen.size() < most; ++i) {
    const uint32_t plane = (from + to + i) % topology.planes;
    const std::vector<Path> paths = paths_out_of(topology, from, to, plane);
    for (size_t turn = 0; turn < paths.size(); ++turn) {
      const Path path = paths[((from ^ to) + plane + turn) % paths.size()];
      if (!dead.carries(from, to, path)) continue;
      chosen.push_back(path);
      break;
    }
  }
  return chosen;
}

}  // namespace mrclab::lab
