#pragma once
// Which paths a fabric has, and where they lead.

#include <optional>
#include <vector>

#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// Every path of the fabric between some two hosts, port by port of a NIC: numbered ones, then the
/// T0-local one.
std::vector<Path> all_paths(const Topology& topology);
/// Is `path` in all_paths()? For a hashed path: has the fabric its plane, and do its switches hash
/// so?
bool has_path(const Topology& topology, Path path);

/// Every path between two hosts, in the order of their EVs.
std::vector<Path> paths_between(const Topology& topology, uint32_t source, uint32_t destination);
/// The uplinks of those of one plane, in their order, in place of what `uplinks` held. Its memory is used again: who asks
/// for each plane and queue pair of a large fabric leaves no holes in the heap.
void uplinks_between(const Topology& topology, uint32_t source, uint32_t destination,
                     uint32_t plane, std::vector<uint32_t>& uplinks);
/// Is `path` in paths_between()? False for a hashed path, which names no uplink (fabric/paths/ecmp.h:
/// path_between).
bool has_path(const Topology& topology, uint32_t source, uint32_t destination, Path path);

/// The ports that a packet leaves by: the NIC's, then one of each switch. The path must exist.
std::vector<PortRef> exits_of(const Topology& topology, uint32_t source, uint32_t destination,
                              Path path);

/// The path of the destination over the same switches and links; empty if it is no path of the pair.
/// A hashed path is returned as it is: a switch's hash chooses the way back.
std::optional<Path> path_back(const Topology& topology, uint32_t source, uint32_t destination,
                              Path path);

}  // namespace mrclab
