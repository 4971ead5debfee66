#pragma once
// Which nodes of a containerlab file are hosts and which are switches, and which switch is above which. The first
// of these that is there decides:
//
//   label mrclab-role   host, or t0, t1, t2, leaf, spine, switch
//   kind and image      a network operating system is a switch, and so is linux with an image of a routing program;
//                       an image of a tool of hosts is a host
//   labels, group       words that people use: hosts, servers, leaf, spine, ... (role: leaf)
//   icon                the label graph-icon
//   name                the last such word in it: p0-leaf00, dc1-leaf1-server1
//   label graph-level   the lowest row are hosts, if all nodes have it
//   degree, neighbours  who has a host as neighbour is a switch; linux with a single link is a host, and linux whose
//                       neighbours are all switches, where network operating systems are the switches
//
// A kind or an image that nodes of both roles have, by their labels, icons and names, decides nothing: labs are built of one
// image, too. Who is left could be either, and is refused.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "live/translate/containerlab_file.h"

namespace mrclab::lab {

struct NodeStanding {
  bool is_host = false;
  bool linked = false;   ///< a node without links is no part of a fabric
  int height = 0;        ///< switches: how far above the hosts
  std::string_view why;  ///< what decided: "name", "image", ...
};

/// By the file's nodes. Throws InputError at a node of unknown role.
std::vector<NodeStanding> node_standings(const ContainerlabFile& file);

/// "16 hosts by name: green-host00, green-host01, ..."
std::vector<std::string> standing_sentences(const ContainerlabFile& file,
                                            const std::vector<NodeStanding>& standings);

}  // namespace mrclab::lab
