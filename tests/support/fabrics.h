#pragma once
// The shipped fabrics as values, for tests that must not depend on files.

#include "fabric/topology/build_topology.h"
#include "fabric/topology/topology.h"

namespace mrclab::test {

inline FabricShape shape_of(const char* name, uint32_t planes, uint32_t t0, uint32_t t1,
                            uint32_t hosts_per_t0) {
  FabricShape shape;
  shape.name = name;
  shape.planes = planes;
  shape.t0 = t0;
  shape.t1 = t1;
  shape.hosts_per_t0 = hosts_per_t0;
  return shape;
}

/// 8 planes x (2 T0 + 4 T1), 8 hosts: 56 nodes, 128 links.
inline Topology octet() { return build_topology(shape_of("octet", 8, 2, 4, 4)); }

/// Two hosts on one T0 in each of 2 planes.
inline Topology pair() { return build_topology(shape_of("pair", 2, 1, 0, 2)); }

/// The smallest fabric with a T1: 2 planes x (2 T0 + 1 T1), 2 hosts.
inline Topology two_rows() { return build_topology(shape_of("two-rows", 2, 2, 1, 1)); }

}  // namespace mrclab::test
