#pragma once
// A carrier that no host needs: up to a neighbouring switch and back, as often as one container has room for, and then
// a path to the receiver. What a host sends that wants each of its packets to cross as many links as can be.

#include "fabric/topology/path.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// `turn` chooses the neighbour where the path itself names none. The path's own carrier where nothing more fits in;
/// `::` if the fabric has no such path.
Ipv6Address long_carrier(const Topology& topology, uint32_t source, uint32_t destination, Path path,
                         uint32_t turn);

}  // namespace mrclab
