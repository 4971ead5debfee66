#pragma once
// One future of a session: a scenario, the simulated world that runs it, and what was seen of it. It is
// exact: a run of the same scenario has the same history.

#include <memory>

#include "lab/scenario/scenario.h"
#include "lab/serve/recording.h"
#include "lab/sim/simulation.h"

namespace mrclab::lab {

class Future {
 public:
  /// The scenario is simulated with its payload elided where that is possible: the history is the same
  /// (tested), and less is computed. Throws InputError for what cannot be simulated.
  explicit Future(Scenario scenario);
  Future(const Future&) = delete;
  Future& operator=(const Future&) = delete;

  const Scenario& scenario() const { return scenario_; }
  const Topology& topology() const { return scenario_.topology; }
  const Recording& recording() const { return *recording_; }
  FabricTime end() const { return scenario_.stop(); }
  /// Everything up to here has happened, and is recorded.
  FabricTime reached() const { return reached_; }
  /// Simulates up to `until`, or until `go_on`, which is asked every few milliseconds, says no.
  void reach(FabricTime until, const SimWorld::GoOn& go_on = {});
  /// What a host says of itself, at reached().
  endpoint::HostAccount account(uint32_t host) const { return simulation_->account(host); }
  /// A switch as it is at reached().
  const switchd::SwitchNode& switch_at(NodeId node) const { return simulation_->switch_at(node); }

 private:
  Scenario scenario_;
  std::unique_ptr<Recording> recording_;
  std::unique_ptr<Simulation> simulation_;  // watched by it
  FabricTime reached_ = FabricTime::zero();
};

}  // namespace mrclab::lab
