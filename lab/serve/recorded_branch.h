#pragma once
// A branch that is over: the records of the nodes of a finished run. What is changed from there on is simulated,
// and so are the answers of its hosts and switches, which do not run any more.

#include "recorded/diff/recorded_run.h"
#include "session/simulated_branch.h"

namespace mrclab::lab {

class RecordedBranch : public Branch {
 public:
  /// Reads history/*.bin and events.jsonl. Throws InputError for what is missing, wrong, or altered since the run.
  explicit RecordedBranch(const RecordedRun& run);

  BranchWorld world() const override { return BranchWorld::kRecorded; }
  /// All of it has happened; hosts and switches are shown at this instant from now on.
  void reach(FabricTime until, const GoOn& = {}) override { told_at_ = std::min(until, end()); }
  std::optional<RecordsCut> records_cut() const override { return cut_; }
  FabricTime told_at() const override { return told_at_; }
  endpoint::HostAccount account(uint32_t host) const override;
  SwitchStatus status_of(const NodeSite& node) const override;
  std::string history_sha256() const override { return history_sha256_; }
  FabricTime history_until() const override { return end(); }
  std::string unsound() const override { return unsound_; }
  const Branch& simulated(FabricTime at_least) const override;
  std::unique_ptr<Branch> another(Scenario scenario) const override;

 private:
  /// Throws InputError if the simulation need not be what happened.
  void require_exact() const;
  /// The run, simulated again up to told_at().
  const Branch& twin() const;

  std::string history_sha256_, unsound_;
  bool exact_;
  std::optional<RecordsCut> cut_;
  FabricTime told_at_;
  mutable SimulatedTwin twin_;
};

}  // namespace mrclab::lab
