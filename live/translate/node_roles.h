#pragma once
// Which nodes of a containerlab file are hosts and which are switches, and which switch is above which. The first
// of these that is there decides:
//
//   label mrclab-role   host, or t0, t1, t2, leaf, spine, switch
//   group               words that people use: hosts, servers, leaf, spine, ...
//   kind                a network operating system is a switch; linux with an image of a routing program, too
//   label graph-level   the lowest row are hosts, if all nodes have it
//   neighbours          who has a host as neighbour is a switch; linux with a single link is a host, and linux whose
//                       neighbours are all switches, where network operating systems are the switches
//
// Who is left could be either, and is refused.

#include <cstdint>
#include <optional>
#include <vector>

#include "live/translate/containerlab_file.h"

namespace mrclab::lab {

struct NodeStanding {
  bool is_host = false;
  bool linked = false;  ///< a node without links is no part of a fabric
  int height = 0;       ///< switches: how far above the hosts
};

/// By the file's nodes. Throws InputError at a node of unknown role.
std::vector<NodeStanding> node_standings(const ContainerlabFile& file);

}  // namespace mrclab::lab
