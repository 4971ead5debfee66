#pragma once
// Names of nodes that another tool accepts, made of the fabric's own: one to one, so that a name there means one
// node here.

#include <string>
#include <string_view>
#include <vector>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

/// What a tool's names are like beside letters and digits. All of them are at most 16 characters long.
struct NameRule {
  char separator = '-';  ///< in place of the dot in "p2.t0-1"
  bool dashes = true;    ///< may names hold dashes? Otherwise the separator stands for them as well
  bool letter_first = false;                    ///< a letter, where others take a digit, too
  std::vector<std::string_view> reserved = {};  ///< words that mean something else
};

/// containerlab: a short endpoint "host:eth1" is a link to the machine itself (its links/link.go). No dots, which
/// Kubernetes does not allow in names of its own (clabernetes).
NameRule containerlab_names();
/// netlab: identifiers of 16 characters that begin with a letter (its netsim/data/types.py).
NameRule netlab_names();
/// Kathará: a-z, 0-9 and underscores (its model/Machine.py).
NameRule kathara_names();

/// By NodeId.
std::vector<std::string> tool_names(const Topology& topology, const NameRule& rule);

}  // namespace mrclab::lab
