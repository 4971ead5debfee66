#pragma once
// What a fabric whose switches route by themselves (routing: fare) is numbered by, and when it is ready. The
// switches speak BGP on the links between them, as RFC 7938 lays a Clos network out: every T0 is an AS of its own,
// the T1s of a plane share one, so that no route leads down and up again.

#include <cstdint>

#include "fabric/base/ids.h"
#include "fabric/topology/topology.h"

namespace mrclab {

/// The AS of a node, of four octets, for private use (RFC 6996): 42000 and five digits of the plane for a T1,
/// 42001 and more for a T0, 42010 and more for a host. In a listed fabric, too, all switches without hosts are one.
uint32_t as_number(const Topology& topology, NodeId node);
/// 10.x.y.z, of the node's number plus one.
uint32_t router_id(NodeId node);

/// Which routes NICs get; kOff where switches do not route by themselves.
NicRoutes nic_routes(const Topology& topology);

/// What a T0 announces in place of its hosts where NICs get aggregates: the addresses of its row, of so many
/// bits (fabric/topology/path.h: host_address).
inline constexpr uint8_t kRowPrefixBits = 32;

/// When workloads of FARE begin that have no `at:`: `routing: {ready: ...}`, or long enough
/// for sessions to come up and routes to cross the fabric three times over, as measured (tests/switchd/fare_test.cc).
/// A packet that comes before has no route and is dropped.
FabricTime fare_ready(const Topology& topology);

}  // namespace mrclab
