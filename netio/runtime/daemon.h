#pragma once
// What mrc-switchd and mrc-endpointd have in common: read the configuration, open the nodes' rings
// in their namespaces, run them behind the gate, answer the control socket, write the report.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "fabric/node/node.h"
#include "netio/runtime/daemon_config.h"
#include "netio/runtime/gate.h"

namespace mrclab::netio {

/// What a program does for its kind of node.
class DaemonProgram {
 public:
  virtual ~DaemonProgram() = default;
  /// Makes the node that lives at environment.self.
  virtual std::unique_ptr<Node> make_node(const NodeEnvironment& environment) = 0;
  /// What the node says of itself, for the control socket and the report (process_report.h).
  virtual nlohmann::json describe(const Node& node) const = 0;
  /// The node's forwarding table, for the control socket; null if it has none.
  virtual nlohmann::json table(const Node&) const { return nullptr; }
  /// What the node says of pauses (fabric/node/pause_account.h); null where the fabric pauses nothing.
  virtual nlohmann::json pauses(const Node&) const { return nullptr; }
  /// Adds the node's figures to the process's live ones.
  virtual void add_progress(const Node& node,
                            std::array<uint64_t, kProgressCounters>& progress) const = 0;
};

using MakeProgram =
    std::function<std::unique_ptr<DaemonProgram>(const DaemonConfig&, const Topology&)>;

/// `main` of a daemon: its configuration file as the argument, or those of many daemons of one lab, which
/// become copies of this process (daemon_start.h). Returns the exit code.
int daemon_main(int argc, char** argv, const MakeProgram& make_program);

}  // namespace mrclab::netio
