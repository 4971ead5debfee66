#pragma once
// What all parts of one host use: its place in the fabric, its profile, its time, its events and its
// counters. HostImpl owns it; each part keeps a reference.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "endpoint/base/host_stats.h"
#include "endpoint/base/transport_profile.h"
#include "endpoint/host/host_events.h"
#include "endpoint/nic/packet_maker.h"
#include "endpoint/nic/path_mapper.h"
#include "fabric/node/node.h"
#include "fabric/topology/topology.h"

namespace mrclab::endpoint {

struct HostShared {
  /// `paths`: null for the paths of the topology; it outlives the host. `transport` does so, too, if it
  /// `is_common` to hosts; else the host keeps a copy.
  HostShared(const NodeEnvironment& node_environment, const TransportProfile& transport,
             const PathMapper* mapper, bool elided, bool lent, bool stays = false,
             bool is_common = false)
      : environment(node_environment),
        topology(environment.topology),
        self(topology.node(environment.self).index),
        own_profile(is_common ? nullptr : std::make_unique<const TransportProfile>(transport)),
        profile(is_common ? transport : *own_profile),
        topology_paths(topology, environment.self),
        paths(mapper != nullptr ? *mapper : topology_paths),
        maker(environment.frames, paths, self,
              {.icrc = profile.icrc, .lends = lent, .dscps = profile.dscps}),
        payload_elided(elided),
        payload_stays(stays),
        all_ports(topology.planes >= 32 ? ~0u : (1u << topology.planes) - 1),
        events(topology.planes, topology.host_latency) {
    stats.planes.resize(topology.planes);
  }
  HostShared(const HostShared&) = delete;
  HostShared& operator=(const HostShared&) = delete;

  std::string name_of_host(uint32_t host) const { return topology.node(topology.host(host)).name; }
  void refuse(Refusal refusal) { ++stats.refused[static_cast<size_t>(refusal)]; }
  void report_event(const EventRecord& record) const { environment.observer.event(record); }

  const NodeEnvironment environment;
  const Topology& topology;
  const uint32_t self;                                        ///< number of this host
  const std::unique_ptr<const TransportProfile> own_profile;  ///< null: others have it as well
  const TransportProfile& profile;
  const TopologyPaths topology_paths;
  const PathMapper& paths;
  PacketMaker maker;
  const bool payload_elided;
  const bool payload_stays;  ///< a lent one, as long as there are frames
  const uint32_t all_ports;  ///< bits
  FabricTime now;            ///< of the event in hand
  HostStats stats;
  HostEvents events;
};

}  // namespace mrclab::endpoint
