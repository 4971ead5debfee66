#include "session/looks/event_text.h"

#include <algorithm>

#include "fabric/topology/path.h"
#include "scenario/spec/queue_pairs.h"

namespace mrclab::lab {
namespace {

std::string words(std::string text) {
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

/// The name of the other end of a host's queue pair; empty: not known.
std::string peer_name(const Topology& topology, std::span<const PeerOf> peers,
                      const SeenEvent& event) {
  if (!event.qp) return {};
  const std::pair<uint32_t, uint32_t> key{topology.node(event.node).index, event.qp->value};
  const auto found =
      std::lower_bound(peers.begin(), peers.end(), key, [](const PeerOf& peer, const auto& wanted) {
        return std::pair(peer.host, peer.qp.value) < wanted;
      });
  if (found == peers.end() || std::pair(found->host, found->qp.value) != key) return {};
  return topology.node(topology.host(found->peer)).name;
}

/// A port that is down or up again: the host's own, or that of the peer that reported it.
std::string port_text(const Topology& topology, const SeenEvent& event, const std::string& peer) {
  const NodeSite& site = topology.node(event.node);
  const bool named = event.port && event.port->value < site.ports.size();
  const std::string port = "port " + (named ? site.ports[event.port->value].name() : "?");
  const std::string state = event.cause == "port_up" ? " is up again" : " is down";
  if (event.detail != "remote" || peer.empty()) return "its own " + port + state;
  return port + " of " + peer + state + ", as " + peer + " reported";
}

}  // namespace

std::vector<PeerOf> peers_of(const Scenario& scenario) {
  std::vector<PeerOf> peers;
  for (const QueuePairEnd& end : queue_pairs(scenario))
    peers.push_back({end.host, end.qpn, end.peer_host});
  std::sort(peers.begin(), peers.end(), [](const PeerOf& a, const PeerOf& b) {
    return std::pair(a.host, a.qp.value) < std::pair(b.host, b.qp.value);
  });
  return peers;
}

std::string event_text(const Topology& topology, std::span<const PeerOf> peers,
                       const SeenEvent& event) {
  const std::string host = topology.node(event.node).name + ": ";
  const std::string peer = peer_name(topology, peers, event);
  const std::string toward = peer.empty() ? "" : " to " + peer;
  if (event.kind == "ev_state") {
    if (event.cause == "port_down" || event.cause == "port_up")
      return host + port_text(topology, event, peer);
    const auto path = event.ev ? path_of(*event.ev) : std::nullopt;
    const std::string what = path         ? "path " + to_string(*path)
                             : event.port ? "plane " + std::to_string(event.port->value)
                                          : "a path";
    return host + what + toward + " is " + words(event.cause);
  }
  if (event.kind == "loss_detected")
    return host + "takes a packet" + toward + " for lost (" + words(event.cause) + ")";
  if (event.kind == "qp_error")
    return host + "a queue pair" + toward + " failed: " + words(event.cause);
  if (event.kind == "port_status_sent") return host + "reports its ports to its peers";
  return {};
}

}  // namespace mrclab::lab
