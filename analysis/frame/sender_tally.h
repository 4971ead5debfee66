#pragma once
// Which host sent what arrived, and what was dropped: by the port that a frame left by, not by its source address.
//
// The record of a host's own port has each frame that the host sent, whatever source address is in it. A frame that
// reaches another host is matched with these by its source and its receiver; where the host of that address and another
// one both sent datagrams under it to one receiver, all of these count as forged.

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "fabric/packet/drop_cause.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

struct SenderTally {
  /// Hosts: whose address the frames have as their source, and who gets them.
  using Way = std::pair<uint32_t, uint32_t>;
  struct Arrived {
    uint64_t packets = 0;
    FabricTime first = FabricTime::never();
  };
  /// Packets of a host at a host of another tenant.
  struct Intrusion {
    uint32_t from = 0, to = 0;
    Arrived arrived;
    bool forged = false;  ///< under another's address
  };

  std::map<std::pair<uint32_t, DropCause>, uint64_t> drops;  ///< by sender and cause
  std::map<Way, uint64_t> sent;  ///< datagrams that are no MRC, by the sender and who they are for
  std::map<Way, Arrived> datagrams;   ///< those that arrived
  std::map<Way, uint32_t> forged_by;  ///< who sent datagrams under the address of another host
  std::map<Way, Arrived> foreign;     ///< packets of MRC between hosts of two tenants
  uint64_t arrivals = 0;              ///< packets that reached hosts
  uint64_t crossings = 0,
           counted =
               0;  ///< links that datagrams crossed, and how many left hosts: by packet records

  uint64_t uncounted =
      0;  ///< datagrams and packets for which kMostWays left no room: no check may pass for want of them

  /// Pairs of hosts in each of these maps (our choice, which bounds memory).
  static constexpr size_t kMostWays = 1 << 16;
  void add(const SenderTally& more);
  /// A frame left a host, or reached one. `source` and `receiver` as its inner addresses have them.
  void left(uint32_t host, uint32_t source, uint32_t receiver);
  void arrived(uint32_t source, uint32_t host, bool datagram, FabricTime t,
               const Topology& topology);
  /// `claimed`: the host whose source address the frame has. A drop at a host's port counts for the host behind that port.
  void dropped(const Topology& topology, PortRef where, bool out, DropCause cause,
               std::optional<uint32_t> claimed);

  std::vector<Intrusion> intrusions(const Topology& topology) const;
};

}  // namespace mrclab::analysis
