#include "routing/node/speaker_json.h"

#include <optional>
#include <string>

#include "fabric/topology/path.h"

namespace mrclab::routing {
namespace {

using nlohmann::json;

struct Place {
  const Topology& topology;
  NodeId self;
};

std::string port_name(const Place& node, PortId port) {
  return node.topology.port({node.self, port}).name();
}

json mbps_of(std::optional<BitRate> rate) {
  if (!rate) return nullptr;
  return (rate->bps + 500'000) / 1'000'000;
}

json session_json(const Place& node, const Speaker& speaker, PeerIndex peer) {
  const Topology& topology = node.topology;
  const Neighbour& neighbour = speaker.neighbour(peer);
  const PortId port = neighbour.parameters().port;
  const bool up = neighbour.session() != nullptr;
  json session{{"port", port_name(node, port)},
               {"with", topology.node(topology.port({node.self, port}).peer.node).name},
               {"as", neighbour.parameters().as->value},
               {"state", !neighbour.carrier() ? "dark"
                         : up                 ? "up"
                                              : "down"},
               {"routes", speaker.table().count(peer)}};
  if (neighbour.bfd() != nullptr) session["bfd"] = neighbour.bfd()->up() ? "up" : "down";
  return session;
}

json route_json(const Place& node, const Speaker& speaker, const Prefix& prefix,
                const RouteEntry& entry) {
  json heard = json::array(), told = json::array();
  for (const PeerIndex peer : entry.chosen) {
    if (peer == kOwn) continue;
    heard.push_back({{"port", port_name(node, speaker.neighbour(peer).parameters().port)},
                     {"mbps", mbps_of(entry.path_of(peer)->bandwidth)}});
  }
  for (size_t i = 0; i < speaker.neighbours(); ++i) {
    const auto peer = static_cast<PeerIndex>(i);
    if (!speaker.was_advertised(prefix, peer)) continue;
    told.push_back({{"port", port_name(node, speaker.neighbour(peer).parameters().port)},
                    {"mbps", mbps_of(speaker.advertised_bandwidth(prefix, peer))}});
  }
  const auto host = host_of_address(node.topology, prefix.address());
  const bool whole = host && prefix.length() == Prefix::kMaxLength;
  return {{"to", whole ? "h" + std::to_string(*host) : to_string(prefix)},
          {"own", !entry.chosen.empty() && entry.chosen.front() == kOwn},
          {"heard", std::move(heard)},
          {"told", std::move(told)}};
}

}  // namespace

json speaker_json(const Topology& topology, NodeId self, const Speaker& speaker) {
  const Place node{topology, self};
  json sessions = json::array(), routes = json::array();
  size_t installed = 0;
  for (size_t i = 0; i < speaker.neighbours(); ++i) {
    sessions.push_back(session_json(node, speaker, static_cast<PeerIndex>(i)));
  }
  // Prefixes stand in the order of addresses, which is that of hosts.
  for (const auto& [prefix, entry] : speaker.table().routes()) {
    installed += entry.written.known ? 1 : 0;
    routes.push_back(route_json(node, speaker, prefix, entry));
  }
  const SpeakerCounters& counters = speaker.counters();
  return {{"as", speaker.parameters().as.value},
          {"router", to_string(speaker.parameters().router)},
          {"updates_in", counters.updates_in},
          {"updates_out", counters.updates_out},
          {"fib_writes", counters.fib_writes},
          {"prefixes", speaker.table().size()},
          {"installed", installed},
          {"sessions", std::move(sessions)},
          {"routes", std::move(routes)}};
}

}  // namespace mrclab::routing
