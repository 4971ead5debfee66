#include "analysis/orchestrator/orchestrator_collector.h"

#include <algorithm>

#include "analysis/orchestrator/cabling_difference.h"

namespace mrclab::analysis {
namespace {

using Hearing = std::vector<std::vector<PortHearing>>;

/// What each port heard last; a neighbour that is silent now still shows where the cable leads.
Hearing hearing_of(const Topology& topology, const EventHistory& events, FabricTime& all_heard) {
  Hearing hearing(topology.nodes.size());
  for (const NodeSite& site : topology.nodes) hearing[site.id.value].resize(site.ports.size());
  for (const LinkNews& news : events.links()) {
    PortHearing& at = hearing[news.port.node.value][news.port.port.value];
    if (news.kind == NeighbourNews::Kind::kGone) continue;
    const bool first = !at.peer && at.stranger.empty();
    if (first) all_heard = std::max(all_heard, news.t);
    const std::string planned = topology.port_name(topology.planned_peer(news.port));
    const std::optional<PortRef> peer = news.who == planned
                                            ? std::optional(topology.planned_peer(news.port))
                                            : topology.find_port(news.who);
    if (!first && at.peer == peer && (peer || at.stranger == news.who)) continue;
    at.peer = peer;
    at.stranger = peer ? std::string() : news.who;
    at.since = news.t;
  }
  return hearing;
}

void add_links(const Topology& topology, const Hearing& hearing, OrchestratorResult& result) {
  for (const Link& link : topology.links) {
    if (!speaks_lldp(topology, link.a.node) || !speaks_lldp(topology, link.b.node)) continue;
    ++result.links;
  }
  for (const NodeSite& site : topology.nodes) {
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const PortRef port{site.id, PortId{i}};
      const std::optional<PortRef> peer = hearing[site.id.value][i].peer;
      if (!peer || hearing[peer->node.value][peer->port.value].peer != port) continue;
      if (std::pair(peer->node.value, peer->port.value) < std::pair(site.id.value, i)) continue;
      if (*peer == topology.planned_peer(port)) ++result.as_planned;
      result.heard.push_back({topology.port_name(port), topology.port_name(*peer)});
    }
  }
}

void add_services(const Topology& topology, const EventHistory& events,
                  OrchestratorResult& result) {
  for (const ServiceNews& news : events.services()) {
    const std::string& name = topology.node(news.node).name;
    result.services.push_back({news.t, name, news.phase, news.why});
  }
  for (const NodeSite& site : topology.nodes) {
    const auto last = std::find_if(result.services.rbegin(), result.services.rend(),
                                   [&](const ServiceStep& step) { return step.node == site.name; });
    if (last == result.services.rend() || last->phase != "kept_out") continue;
    result.found.push_back({FindingKind::kKeptOut,
                            {site.name},
                            {site.name + " is kept out of service: " + last->why},
                            {},
                            last->t});
  }
}

}  // namespace

std::optional<OrchestratorResult> orchestrator_result(const Topology& topology,
                                                      const EventHistory& events,
                                                      const Coverage& coverage) {
  if (!topology.orchestrator.on) return std::nullopt;
  OrchestratorResult result;
  result.period = topology.orchestrator.period.at(topology.base_rtt);
  if (!coverage.whole(Witness::kEvents)) {
    result.none = coverage.why(Witness::kEvents);
    return result;
  }
  const Hearing hearing = hearing_of(topology, events, result.all_heard);
  add_links(topology, hearing, result);
  result.found = cabling_difference(topology, hearing);
  add_services(topology, events, result);
  return result;
}

}  // namespace mrclab::analysis
