#pragma once
// A scenario in the simulated world: its hosts and switches, with an observer of the caller's
// choice.

#include <functional>
#include <vector>

#include "analysis/history/reports.h"
#include "endpoint/host/host_node.h"
#include "endpoint/plan/own_connections.h"
#include "scenario/spec/scenario.h"
#include "sim/sim_world.h"

namespace mrclab::switchd {
class SwitchNode;
}

namespace mrclab::lab {

class Simulation {
 public:
  /// Which bytes of a frame the observers read: headers alone, or payload and ICRC as well. If they read headers
  /// alone, hosts copy no payload into frames; the receiver copies it from the sender's memory, and of a stream it takes
  /// note of it (endpoint/workload/stream_contents.h), unless ranks have to send it to one another.
  enum class Observed : uint8_t { kHeaders, kWholeFrames };
  /// `scenario` outlives it, and so do the observers (SimWorld: what several threads require of
  /// them) and the ranks that it is shared with, null for none.
  Simulation(const Scenario& scenario, uint32_t threads, const SimWorld::ObserverOf& observer_of,
             RankLink* ranks = nullptr, Observed observed = Observed::kHeaders);
  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  /// Runs to the instant where the scenario stops, to `until`, or until `go_on` returns false. It
  /// is called every few milliseconds of wall time, however slowly fabric time passes. Returns the
  /// instant reached.
  FabricTime run(const SimWorld::GoOn& go_on = {}, FabricTime until = FabricTime::never());
  /// Has all work ended that ends by itself? Of the hosts that this rank simulates.
  bool work_ended() const;
  /// Has this rank the node? Only of such nodes there is something to ask.
  bool is_here(NodeId node) const { return world_.is_here(node); }
  /// Has this rank the node, and had the node something to do already?
  bool is_made(NodeId node) const { return world_.made_node(node) != nullptr; }
  /// The account that the host with this number gives of itself.
  endpoint::HostAccount account(uint32_t host) const;
  /// The reports of the hosts that this rank simulates.
  analysis::HostReports hosts() const;
  /// What they report of the ranks of jobs that they run, host by host.
  std::vector<endpoint::JobReport> jobs() const;
  /// `node` must be a switch.
  const switchd::SwitchNode& switch_at(NodeId node) const;
  const endpoint::HostNode& host_at(NodeId node) const;
  /// The device of a host, for programs that live at fabric time.
  endpoint::Device& device(uint32_t host);
  /// A host got an event past the wires (SimWorld::plan).
  void plan(uint32_t host) { world_.plan(scenario_.topology.host(host)); }
  FabricTime now() const { return world_.now(); }
  FabricTime longest_window() const { return world_.longest_window(); }

 private:
  std::unique_ptr<Node> make_node(const NodeEnvironment& environment) const;
  std::function<bool(NodeId)> waiting_nodes() const;

  const Scenario& scenario_;
  std::vector<endpoint::ConnectionPlan> connections_;
  endpoint::OwnConnections by_host_;
  endpoint::StreamContents contents_;
  endpoint::HostConfig host_config_;
  SimWorld world_;
};

}  // namespace mrclab::lab
