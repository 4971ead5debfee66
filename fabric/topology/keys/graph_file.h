#pragma once
// The part of a fabric file that says what there is: the numbers of regular planes, or switches, hosts and links one by
// one.
//
//   switches: {leaf1: 0100, leaf2: 0200, spine5: 0500}   # uSIDs, four hex digits as a carrier shows them
//   hosts: [[leaf1, leaf2], [leaf2, leaf1]]               # h0, h1, ...: p0 of h0 hangs on leaf1
//   links: {leaf*: [spine5]}                              # from each switch up to each of these

#include "fabric/text/key_table.h"
#include "fabric/topology/fabric_shape.h"

namespace mrclab {

/// Does the file list switches, rather than number planes?
bool lists_switches(const YamlValue& file);

/// Throws InputError with the position.
GraphShape read_graph(const YamlValue& file);

/// Throws InputError where carriers could not distinguish links: two links between two switches
/// without `segments: adjacency`, or two ports of a host on one switch with `decap: leaf`.
void check_ways(const YamlValue& file, const FabricShape& shape);

/// `switches`, `hosts` and `links`.
const KeyTable<GraphShape>& graph_keys();

/// `planes`, `t0`, `t1`, `hosts_per_t0` and `address_plan`.
const KeyTable<FabricShape>& regular_keys();
/// Reads them into `shape`. Throws InputError with the position, also for more than `max_nodes`.
void read_regular(const YamlValue& file, uint64_t max_nodes, FabricShape& shape);

}  // namespace mrclab
