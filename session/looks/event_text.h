#pragma once
// What a host reported, as a sentence of the page's story.

#include <span>
#include <string>
#include <vector>

#include "fabric/topology/topology.h"
#include "scenario/spec/scenario.h"
#include "session/recording/seen.h"

namespace mrclab::lab {

/// Whom a queue pair of a host is connected to.
struct PeerOf {
  uint32_t host = 0;
  Qpn qp;
  uint32_t peer = 0;
};

/// Of all queue pairs, sorted by host and queue pair.
std::vector<PeerOf> peers_of(const Scenario& scenario);

/// "h1: port p0 of h0 is down, as h0 reported". `peers`: as peers_of(). Empty for a kind of event that
/// is no line of a story.
std::string event_text(const Topology& topology, std::span<const PeerOf> peers,
                       const SeenEvent& event);

}  // namespace mrclab::lab
