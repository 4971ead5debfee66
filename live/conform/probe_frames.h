#pragma once
// The frames by which forwarders are compared: one for every path, and malformed carriers
// with their known fate.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/topology/forwarding.h"
#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// A frame is recognized by its flow label (20 bits), which no switch
/// changes.
inline constexpr uint32_t kMaxProbes = 0xF'FFFF;

struct ProbeFrame {
  std::string name;
  uint32_t source = 0;  ///< host number
  uint32_t port = 0;    ///< its NIC port
  std::vector<uint8_t> bytes;
};

/// The probe of one path.
struct PathProbe {
  ProbeFrame frame;
  uint32_t destination = 0;
  /// The ports that it leaves by, the NIC's first, and its outer destination and hop limit behind each;
  /// behind a leaf that decapsulates those of the inner header.
  struct Hop {
    PortRef exit;
    Ipv6Address destination{};
    uint8_t hop_limit = 0;
  };
  std::vector<Hop> expected;
};
/// Every path of the fabric, by source, destination and path. Throws InputError for more than kMaxProbes.
std::vector<PathProbe> path_probes(const Topology& topology);

/// How far a wrong frame gets: switches that send it on, and its hop limit behind the last of them.
struct Reach {
  uint32_t switches = 0;
  uint8_t hop_limit = 64;
  bool operator==(const Reach&) const = default;
};

struct WrongProbe {
  ProbeFrame frame;
  std::array<Reach, std::size(kForwardings)> known;  ///< by Forwarding
  std::string why;  ///< reason of a difference; empty if there is none
  std::optional<Forwarding> rewritten_by =
      std::nullopt;  ///< what is behind the outer header comes out changed
};
/// From the first host to the first that is behind another switch; flow labels from `first_label` on.
/// Throws InputError if the fabric has no path over three switches.
std::vector<WrongProbe> wrong_probes(const Topology& topology, uint32_t first_label);

}  // namespace mrclab::lab
