#pragma once
// A branch that is simulated in this process. It is exact: a run of the same scenario has the same history.
//
// Of a fabric that is too large to be recorded packet by packet (is_summarised) the racks that are followed are, and
// the counters of all switches and hosts at the end of each bin; nothing else of it is watched.

#include "scenario/simulation/simulation.h"
#include "session/branch.h"
#include "session/recording/recording_watch.h"

namespace mrclab::lab {

/// The scenario as a page simulates it: one that ends with its work ends where its work has. Throws as playable().
Scenario played_to_its_end(Scenario scenario);

class SimulatedBranch : public Branch {
 public:
  /// Of a fabric that is summarised so many times the packets that others keep: two racks of 256 hosts at line rate make
  /// 60,000 records a microsecond (our choice).
  static constexpr size_t kFollowedTimes = 2;

  /// The scenario is simulated with its payload elided where that is possible: the history is the same
  /// (tested), and less is computed. Throws InputError for what cannot be simulated. Its recording, and those of the branches
  /// that another() makes, have at most so many packets.
  explicit SimulatedBranch(Scenario scenario, size_t max_packets = Recording::kMaxPackets);

  BranchWorld world() const override { return BranchWorld::kSimulated; }
  void reach(FabricTime until, const GoOn& go_on = {}) override;
  const FabricTally* tally() const override { return tally_ ? &*tally_ : nullptr; }
  void begin_again(Scenario scenario, std::vector<uint32_t> racks) override;
  endpoint::HostAccount account(uint32_t host) const override { return simulation_->account(host); }
  SwitchStatus status_of(const NodeSite& node) const override;
  std::string history_sha256() const override { return watch_->history_sha256(); }
  const Branch& simulated(FabricTime) const override { return *this; }
  std::unique_ptr<Branch> another(Scenario scenario) const override {
    return std::make_unique<SimulatedBranch>(played_to_its_end(std::move(scenario)), max_packets_);
  }

 private:
  void begin(std::vector<uint32_t> racks);
  void count_window();

  size_t max_packets_;
  std::unique_ptr<RecordingWatch> watch_;
  std::optional<FabricTally> tally_;
  std::unique_ptr<Simulation> simulation_;  // watched by it
};

/// A scenario simulated beside another world that runs it, made when it is first asked for.
class SimulatedTwin {
 public:
  /// The scenario is the same at each call, or forget() was called.
  const Branch& reach(const Scenario& scenario, FabricTime until) {
    if (!branch_) branch_ = std::make_unique<SimulatedBranch>(scenario);
    branch_->reach(until);
    return *branch_;
  }
  /// The same, and not a picosecond further.
  const Branch& come_to(const Scenario& scenario, FabricTime at) {
    if (branch_ && branch_->reached() > at) forget();
    return reach(scenario, at);
  }
  void forget() { branch_.reset(); }

 private:
  std::unique_ptr<SimulatedBranch> branch_;
};

}  // namespace mrclab::lab
