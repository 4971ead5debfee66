#pragma once
// A branch that happens now: a lab of namespaces and daemons, owned by this process. What a page shows of it is what
// the daemons wrote down of their packets. It stands whenever it is not asked to go on.

#include "console/interrupt.h"
#include "lab/persistent/lab_clock.h"
#include "lab/serve/run_follower.h"
#include "live/world/lab_faults.h"
#include "live/world/lab_loop.h"
#include "session/branch.h"
#include "session/simulated_branch.h"

namespace mrclab::lab {

class LiveBranch : public Branch, private FaultInjector {
 public:
  struct Options {
    IsInterrupted interrupted = {};       ///< asked while the lab comes up
    std::filesystem::path programs = {};  ///< where the daemons lie; empty: beside this program
    /// Bound on the packet records of one lab; empty: 256 MiB, or a quarter of what is free in /run if that is less.
    std::optional<uint64_t> record_bytes = {};
  };

  /// Brings the lab up; its time stands at 0. Throws InputError, SystemError, Interrupted.
  LiveBranch(Scenario scenario, Options options);

  BranchWorld world() const override { return BranchWorld::kLive; }
  std::string lab() const override { return lab_.fabric().lab(); }
  /// Returns early when `go_on` returns false; the lab then goes on up to `until` by itself. It stops for good once
  /// packet records found no room.
  void reach(FabricTime until, const GoOn& go_on = {}) override;
  bool look_after() override;
  endpoint::HostAccount account(uint32_t host) const override;
  SwitchStatus status_of(const NodeSite& node) const override;
  /// Throws InputError where the records were cut: the digest goes on beyond them.
  std::string history_sha256() const override;
  std::optional<RecordsCut> records_cut() const override;
  std::string unsound() const override { return cut_ ? cut_->why : std::string(); }
  const Branch& simulated(FabricTime at_least) const override {
    return twin_.reach(scenario_, std::min(at_least, reached_));
  }
  FaultInjector* fault_injector() override { return this; }
  std::unique_ptr<Branch> another(Scenario scenario) const override {
    return std::make_unique<LiveBranch>(std::move(scenario), options_);
  }

 private:
  uint32_t break_now(FaultOrder order) override;
  std::vector<uint32_t> heal_now(const std::string& word) override;
  std::vector<BookedFault> booked() const override;

  void take_records();
  /// How far it can be asked to go on to reach `until`: not beyond its end, and not to where its records are cut.
  FabricTime goal(FabricTime until) const;
  /// Throws InputError if hosts and switches stand beyond the end of the records.
  void require_recorded() const;
  /// Waits for the instant up to which the lab was to go.
  void stand();
  void take_faults();
  /// What the node's daemon answers, of this node.
  nlohmann::json ask(const NodeSite& node, const char* method) const;

  Options options_;
  uint64_t record_bytes_;
  LiveLab lab_;
  LabClock clock_;
  LabFaults faults_;
  LabLoop loop_;
  NodeRecordReader told_;
  RunFollower follower_;
  bool faults_changed_ = false;
  std::optional<RecordsCut> cut_;
  mutable SimulatedTwin twin_;
};

}  // namespace mrclab::lab
