#pragma once
// Notices that somebody changes the table of a switch that is not ours: the table is read again from time to time, and
// compared with what it was when the lab last changed it.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "fabric/topology/topology.h"
#include "live/external/node_difference.h"

namespace mrclab::lab {

class TableWatch {
 public:
  /// Reads the table of a switch, a line for each entry, in any order.
  using Read = std::function<NodeSnapshot(NodeId)>;
  explicit TableWatch(Read read) : read_(std::move(read)) {}

  /// The lab has changed the table: its state at the next look is the reference.
  void forget(NodeId node) { known_.erase(node); }
  /// What differs from the last look, in words: "missing: ..."; each difference is returned once. Empty if nothing does.
  std::optional<std::string> find_difference(NodeId node);

 private:
  Read read_;
  std::map<NodeId, NodeSnapshot> known_;
};

}  // namespace mrclab::lab
