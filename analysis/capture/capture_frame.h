#pragma once
// The comment of a dropped frame in captures of our own.

#include <optional>
#include <string_view>

#include "fabric/node/node.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// A node's comment "drop: <cause> [at] <port> [in|out]". Members that it leaves out, or that
/// cannot be read, are empty.
struct DropComment {
  DropCause cause = DropCause::kMalformed;
  std::optional<PortId> port;
  std::optional<Direction> side;
};
DropComment read_drop_comment(const Topology& topology, NodeId node, std::string_view comment);

}  // namespace mrclab::analysis
