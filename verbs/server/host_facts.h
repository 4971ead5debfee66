#pragma once
// What a program is told about its host and the host's device when it connects.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "endpoint/base/transport_profile.h"
#include "fabric/topology/topology.h"

namespace mrclab::verbs {

struct HostFacts {
  std::string name;               ///< "h3"
  uint32_t number = 0;            ///< 3
  std::string device;             ///< "mrc0", "roce0"
  std::array<uint8_t, 16> gid{};  ///< its inner address
  uint64_t node_guid = 0;
  endpoint::TransportKind transport = endpoint::TransportKind::kMrc;
  uint32_t ports = 0;              ///< = planes
  uint64_t rate_bps = 0;           ///< of all of them
  std::vector<Ipv6Address> hosts;  ///< inner addresses, by number
};

HostFacts host_facts(const Topology& topology, uint32_t host, endpoint::TransportKind transport);

}  // namespace mrclab::verbs
