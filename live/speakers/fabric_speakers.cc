#include "live/speakers/fabric_speakers.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/topology/fare.h"
#include "fabric/topology/path.h"
#include "live/bringup/lab_record.h"
#include "live/bringup/node_plan.h"

namespace mrclab::lab {

SpeakerPlan speaker_plan(const Topology& topology, NodeId node) {
  const NodeSite& site = topology.node(node);
  SpeakerPlan plan;
  plan.name = site.name;
  plan.as = routing::AsNumber{as_number(topology, node)};
  plan.router = routing::RouterId{router_id(node)};
  for (uint32_t i = 0; i < site.ports.size(); ++i) {
    const Port& port = site.ports[i];
    const NodeSite& peer = topology.node(port.peer.node);
    const BitRate rate = topology.wire(port.out).rate;
    if (peer.role == NodeRole::kHost) {
      // Without a rate: each neighbour is announced that of its own link.
      plan.origins.push_back({routing::Prefix::host(host_address(topology, peer.index)),
                              {},
                              device_of(topology, {node, PortId{i}}),
                              other_end()});
      continue;
    }
    SpeakerPlan::Neighbour neighbour;
    neighbour.device = device_of(topology, {node, PortId{i}});
    neighbour.local = link_address(topology, {node, PortId{i}});
    neighbour.remote = link_address(topology, port.peer);
    neighbour.as = routing::AsNumber{as_number(topology, port.peer.node)};
    neighbour.rate = rate;
    if (peer.forwarding == Forwarding::kSwitchd) neighbour.hold = 0;
    plan.neighbours.push_back(neighbour);
  }
  return plan;
}

FabricSpeakers::FabricSpeakers(LiveFabric& fabric, const std::filesystem::path& own_programs) {
  const std::string variable = instance_variable(fabric.instance());
  const size_t equals = variable.find('=');
  for (const NodeSite& site : fabric.topology().nodes) {
    if (site.role == NodeRole::kHost || site.forwarding != Forwarding::kKernel) continue;
    const SpeakerPlace place{fabric.network_namespace(site.id),
                             fabric.run_directory() / "speakers" / site.name,
                             own_programs,
                             {{variable.substr(0, equals), variable.substr(equals + 1)}},
                             "",
                             [&fabric](pid_t pid, const std::string& program) {
                               fabric.record_process(mark_of(pid, program));
                             }};
    running_.push_back({&site, std::make_unique<SpeakerProcess>(
                                   speaker_plan(fabric.topology(), site.id), site.speaker, place)});
  }
}

std::vector<std::string> FabricSpeakers::find_changes() {
  std::vector<std::string> found;
  for (Running& running : running_) {
    if (running.told) continue;
    if (const std::string stops = running.process->take_stops(); !stops.empty()) {
      found.push_back(fmt::format("{}, the speaker of {},", stops, running.site->name));
    }
    if (const auto ended = running.process->check()) {
      running.told = true;
      found.push_back(fmt::format("{}, the speaker of {}, ended", *ended, running.site->name));
    }
  }
  return found;
}

bool FabricSpeakers::asked_for(NodeId node, uint32_t sender) {
  const auto running = std::find_if(running_.begin(), running_.end(),
                                    [&](const Running& each) { return each.site->id == node; });
  if (running == running_.end()) return false;
  // A socket may be newer than the last look.
  if (!running->netlink_ports.contains(sender)) {
    running->netlink_ports.merge(running->process->netlink_ports());
  }
  return running->netlink_ports.contains(sender);
}

}  // namespace mrclab::lab
