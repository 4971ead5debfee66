#pragma once
// What distinguishes mrc-switchd from mrc-endpointd: the nodes that a daemon runs, and what they report.

#include <array>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "fabric/node/node.h"
#include "netio/runtime/clock_page.h"
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

  // Whoever is connected to the nodes from outside.
  /// `beat` is to be called at least every 50 ms while a node waits in an event for a program: it gives a sign of life
  /// in the gate. False: this process is to end, and nothing waits any more.
  virtual void set_beat(std::function<bool()>) {}
  /// What became of them, for ProcessReport::programs.
  virtual std::string programs() const { return {}; }
  /// All nodes are made; before time starts.
  virtual void open() {}
  /// Called after each tick, between two runs of the nodes; it does not wait. True: something was done, and the next
  /// tick has work.
  virtual bool serve(const ClockPage&) { return false; }
  /// Another process takes over, or this one ends; before the nodes die.
  virtual void close() {}
};

}  // namespace mrclab::netio
