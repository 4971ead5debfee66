#pragma once
// How much of what lost packets cost the steps of jobs is explained by what blame names: twins of chaos' seeds. Blame sees
// packets and hosts' reports alone; the schedule says what to take out.
//
//   delay      steps with all faults minus steps with none
//   by losses  steps with all faults minus steps without those that packets show (blame_target.h: without_evidence)
//   explained  steps with all faults minus steps without those that blame names
//
// Steps are those that the job had ended in all of these runs.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/chaos/chaos.h"

namespace mrclab::lab {

struct ExplainedSeed {
  uint64_t seed = 0;
  std::string transport;
  size_t steps = 0, planned = 0;  ///< that count; of the job
  FabricTime without;             ///< those steps with no faults
  FabricTime delay, by_losses, explained;
  std::vector<std::string> missed;  ///< faults that packets show and blame does not name
  bool operator==(const ExplainedSeed&) const = default;

  /// Losses cost 0.1 % or more (twin_report.h: kHiddenOneIn).
  bool is_delayed() const;
  /// From nothing to all that losses cost: more explains no more.
  FabricTime explained_at_most() const;
};

struct ExplainedShare {
  std::vector<ExplainedSeed> seeds;  ///< ascending
  /// Of the seeds that losses delayed; 1 if there are none.
  double of_all() const;   ///< of their delays together
  double of_mean() const;  ///< mean of their shares
};

/// Our choice, as precision's.
inline constexpr double kExplainedMark = 0.95;

/// Simulates the seed's twins. `base` has jobs.
ExplainedSeed explain_seed(const ChaosBase& base, uint64_t seed);

/// In lines of 80 columns, with the seeds of which less than the mark is explained.
std::string explained_text(const ExplainedShare& share);
nlohmann::ordered_json to_json(const ExplainedSeed& seed);
/// Throws InputError.
ExplainedSeed explained_seed_from_json(const std::string& text);

/// `chaos --explained`: 0 if the share of all reaches the mark, 1 if not, 3 where the user did not wait. Throws InputError.
int explained_command(const ChaosOptions& options);

}  // namespace mrclab::lab
