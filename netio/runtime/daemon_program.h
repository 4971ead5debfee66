#pragma once
// What distinguishes mrc-switchd from mrc-endpointd: the nodes that a daemon runs, and what they report.

#include <array>
#include <memory>
#include <nlohmann/json.hpp>

#include "fabric/node/node.h"
#include "netio/runtime/gate.h"

namespace mrclab::netio {

/// What a program does for its kind of node.
class DaemonProgram {
 public:
  virtual ~DaemonProgram() = default;
  /// Makes the node that lives at environment.self.
  virtual std::unique_ptr<Node> make_node(const NodeEnvironment& environment) = 0;
  /// The node's report of itself, for the control socket and the report (process_report.h).
  virtual nlohmann::json describe(const Node& node) const = 0;
  /// The node's forwarding table, for the control socket; null if it has none.
  virtual nlohmann::json table(const Node&) const { return nullptr; }
  /// The node's account of pauses (fabric/node/pause_account.h); null where the fabric pauses nothing.
  virtual nlohmann::json pauses(const Node&) const { return nullptr; }
  /// Adds the node's figures to the process's live ones.
  virtual void add_progress(const Node& node,
                            std::array<uint64_t, kProgressCounters>& progress) const = 0;
};

}  // namespace mrclab::netio
