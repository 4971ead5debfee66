#pragma once
// How much of what faults cost the steps of jobs is explained by the packets that were lost: twins of chaos' seeds.
//
//   delay     steps with all faults minus steps with none
//   due       steps with all faults minus steps without those of which packets show something (blame_target.h:
//             without_evidence): a pause, a delay, a drain lose nothing, and are no case for either of the next two
//   by losses steps with all faults minus steps without those to which the judge assigns lost packets, as twins do
//   by blame  steps with all faults minus steps without those that blame names, from packets and hosts' reports alone. It
//             names nothing where a fault took so few packets that they could be anything on their way, though a job
//             waits for the last packet of a message as long as for many
//
// Steps are those that the job had ended in all of these runs.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/chaos/chaos.h"

namespace mrclab::lab {

/// What goes with the faults that somebody found.
struct ExplainedDelay {
  FabricTime time;
  std::vector<std::string> missed;  ///< the others of which packets show something, in words
  bool operator==(const ExplainedDelay&) const = default;
};

struct ExplainedSeed {
  uint64_t seed = 0;
  std::string transport;
  size_t steps = 0, planned = 0;  ///< that count; of the job
  FabricTime without;             ///< those steps with no faults
  FabricTime delay, due;
  ExplainedDelay by_losses, by_blame;
  bool operator==(const ExplainedSeed&) const = default;

  /// The delay that is due is 0.1 % of the time without faults or more (twin_report.h: kHiddenOneIn).
  bool is_delayed() const;
  /// From nothing to all that is due: more explains no more.
  FabricTime capped(const ExplainedDelay& explained) const;
};

/// Over seeds of which something is due; all of nothing.
struct ExplainedShare {
  double of_all = 1;   ///< of their delays together
  double of_mean = 1;  ///< mean of their shares
};
ExplainedShare share_of(const std::vector<ExplainedSeed>& seeds,
                        ExplainedDelay ExplainedSeed::*explained);

/// Our choice, as precision's. It must be reached by losses.
inline constexpr double kExplainedMark = 0.95;

/// Simulates the seed's twins. `base` has jobs.
ExplainedSeed explain_seed(const ChaosBase& base, uint64_t seed);

/// In lines of 80 columns, with the seeds of which less than the mark is explained. `seeds` ascending.
std::string explained_text(const std::vector<ExplainedSeed>& seeds);
nlohmann::ordered_json to_json(const ExplainedSeed& seed);
/// Throws InputError.
ExplainedSeed explained_seed_from_json(const std::string& text);

/// `chaos --explained`: 0 if losses explain the mark, 1 if not, 3 where the user did not wait. Throws InputError.
int explained_command(const ChaosOptions& options);

}  // namespace mrclab::lab
