#pragma once
// One branch of a session: a scenario, a world that runs it or ran it, and what was seen of it. There are
// branches that are simulated (simulated_branch.h), happen in namespaces now (live_branch.h), or were recorded in
// a run's folder (recorded_branch.h). A page sees no difference but what cannot be done.

#include <array>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "endpoint/host/host_account.h"
#include "faults/fault_book.h"
#include "faults/fault_order.h"
#include "scenario/spec/scenario.h"
#include "session/recording/fabric_tally.h"
#include "session/recording/recording.h"
#include "sim/sim_world.h"

namespace mrclab::lab {

/// The answer of a switch: its table as in switchd/table_json.h, its pauses (null: none), and
/// its counters by name.
struct SwitchStatus {
  nlohmann::json table, pauses;
  std::map<std::string, uint64_t> counters;
};

/// Faults of a world that happens now and cannot go back: an act takes effect at the first instant that is open.
class FaultInjector {
 public:
  virtual ~FaultInjector() = default;
  FaultInjector() = default;
  FaultInjector(const FaultInjector&) = delete;
  FaultInjector& operator=(const FaultInjector&) = delete;

  /// Returns its number. Throws InputError.
  virtual uint32_t break_now(FaultOrder order) = 0;
  /// `word`: see FaultBook::select. Returns the numbers. Throws InputError.
  virtual std::vector<uint32_t> heal_now(const std::string& word) = 0;
  /// All faults by number, also those that others made.
  virtual std::vector<BookedFault> booked() const = 0;
};

/// Where the records of a world end before the world does.
struct RecordsCut {
  FabricTime from;  ///< nothing is known from here on
  std::string why;  ///< a sentence that names the instant and the bound
};

/// What makes the records of a branch.
enum class BranchWorld : uint8_t { kSimulated, kLive, kRecorded };
/// As the page has it: "sim", "live", "run".
inline std::string_view name_of(BranchWorld world) {
  constexpr std::array<std::string_view, 3> kWords{"sim", "live", "run"};
  return kWords.at(static_cast<size_t>(world));
}

class Branch {
 public:
  using GoOn = SimWorld::GoOn;

  virtual ~Branch() = default;
  Branch(const Branch&) = delete;
  Branch& operator=(const Branch&) = delete;

  const Scenario& scenario() const { return scenario_; }
  const Topology& topology() const { return scenario_.topology; }
  const Recording& recording() const { return *recording_; }
  FabricTime end() const { return scenario_.stop(); }
  /// Everything up to here has happened, and is recorded.
  FabricTime reached() const { return reached_; }

  /// What the whole fabric did, where it is too large to be recorded packet by packet (is_summarised) and recording()
  /// is of the racks that are followed; null: recording() has all of it.
  virtual const FabricTally* tally() const { return nullptr; }
  /// Where there is a tally: this branch runs another scenario from its beginning on, and follows these racks. So there are
  /// never two worlds of that size. Throws InputError, and then this world begins anew.
  virtual void begin_again(Scenario, std::vector<uint32_t>) {
    throw InputError("this world cannot begin again");
  }

  /// Where the records end for lack of room, and reach() with them; empty: no bound was met.
  virtual std::optional<RecordsCut> records_cut() const { return std::nullopt; }

  virtual BranchWorld world() const = 0;
  /// The lab whose namespaces it lives in; empty: it lives in none.
  virtual std::string lab() const { return {}; }
  /// Lets the world go on up to `until`, or until `go_on`, which is called every few milliseconds, returns false.
  virtual void reach(FabricTime until, const GoOn& go_on = {}) = 0;
  /// What is to be done every few milliseconds, whether time passes or not. True if faults have come or gone that
  /// were not asked for.
  virtual bool look_after() { return false; }
  /// The instant of the answers of hosts and switches.
  virtual FabricTime told_at() const { return reached_; }
  /// The host's own account. Throws InputError.
  virtual endpoint::HostAccount account(uint32_t host) const = 0;
  /// The switch's own answer. Throws InputError.
  virtual SwitchStatus status_of(const NodeSite& node) const = 0;
  /// The history as far as it goes, as a run of the same scenario up to there has it.
  virtual std::string history_sha256() const = 0;
  /// The instant up to which history_sha256() goes.
  virtual FabricTime history_until() const { return reached_; }
  /// Why no result of this world can be relied on; empty: it can.
  virtual std::string unsound() const { return {}; }
  /// For what no record holds: this branch if it is simulated, else a simulation of its scenario, as
  /// far as `at_least`. Throws InputError if that may differ from what happened.
  virtual const Branch& simulated(FabricTime at_least) const = 0;
  /// Null where every change begins another branch.
  virtual FaultInjector* fault_injector() { return nullptr; }
  /// A world of the same kind that runs another scenario: a run that is over is simulated. Throws InputError.
  virtual std::unique_ptr<Branch> another(Scenario scenario) const = 0;

 protected:
  explicit Branch(Scenario scenario, size_t max_packets = Recording::kMaxPackets)
      : scenario_(std::move(scenario)),
        recording_(std::make_unique<Recording>(scenario_.topology, scenario_.stop(), max_packets)) {
  }
  /// One that makes its recording itself, of a part of the fabric.
  Branch(Scenario scenario, std::nullptr_t) : scenario_(std::move(scenario)) {}

  Scenario scenario_;
  std::unique_ptr<Recording> recording_;
  FabricTime reached_ = FabricTime::zero();
};

/// The scenario as a page runs it, its faults compiled. Throws InputError for one without an end, or without carried
/// time, or with programs.
Scenario playable(Scenario scenario);

}  // namespace mrclab::lab
