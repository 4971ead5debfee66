#pragma once
// A future that is simulated in this process. It is exact: a run of the same scenario has the same history.

#include "scenario/simulation/simulation.h"
#include "session/future.h"
#include "session/recording_watch.h"

namespace mrclab::lab {

class SimulatedFuture : public Future {
 public:
  /// The scenario is simulated with its payload elided where that is possible: the history is the same
  /// (tested), and less is computed. Throws InputError for what cannot be simulated.
  explicit SimulatedFuture(Scenario scenario);

  FutureWorld world() const override { return FutureWorld::kSimulated; }
  void reach(FabricTime until, const GoOn& go_on = {}) override;
  endpoint::HostAccount account(uint32_t host) const override { return simulation_->account(host); }
  SwitchWords words_of(const NodeSite& node) const override;
  std::string history_sha256() const override { return watch_.history_sha256(); }
  const Future& simulated(FabricTime) const override { return *this; }
  std::unique_ptr<Future> another(Scenario scenario) const override {
    return std::make_unique<SimulatedFuture>(std::move(scenario));
  }

 private:
  RecordingWatch watch_;
  std::unique_ptr<Simulation> simulation_;  // watched by it
};

/// A scenario simulated beside another world that runs it, made when it is first asked for.
class SimulatedTwin {
 public:
  /// The scenario is the same at each call, or forget() was called.
  const Future& reach(const Scenario& scenario, FabricTime until) {
    if (!future_) future_ = std::make_unique<SimulatedFuture>(scenario);
    future_->reach(until);
    return *future_;
  }
  /// The same, and not a picosecond further.
  const Future& come_to(const Scenario& scenario, FabricTime at) {
    if (future_ && future_->reached() > at) forget();
    return reach(scenario, at);
  }
  void forget() { future_.reset(); }

 private:
  std::unique_ptr<SimulatedFuture> future_;
};

}  // namespace mrclab::lab
