#pragma once
// How much of what faults cost the steps of jobs is explained by what the run with them shows: twins of chaos' seeds.
//
//   delay     when the steps had ended with all faults, minus when with none
//   due       by how much the lengths of steps with all faults differ from those with the faults alone of which no frame
//             shows anything (fault_signs.h: without_signs): a pause of a host, a drain and the like
//   missed    by how much they differ from those in the run without the faults that somebody did not find
//   explained what is due minus what is missed
//
// So a fault that was not found and did nothing to the steps as things were takes nothing from what is explained, whatever it
// would have done without the others; and steps that are late in one run and early in another do not cancel each other.
// A fault is found
//
//   by signs   if the run with all faults shows a sign of it, whatever that is
//   by losses  if lost or refused packets or lost answers are among the signs
//   by data    if lost or refused packets are
//   by blame   if blame names it, from packets and hosts' reports alone. It names nothing where a fault took so few packets
//              that they could be anything on their way, though a job waits for the last packet of a message as long as
//              for many
//
// Signs are of the run with all faults alone, and what is due and missed is the twins': a fault whose work the signs do not
// show costs share. Steps are those that the job had ended in all of these runs.

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "lab/chaos/chaos.h"
#include "lab/twin/fault_signs.h"

namespace mrclab::lab {

/// Of the delay that is due.
struct ExplainedDelay {
  FabricTime time;                  ///< explained: zero to all
  std::vector<std::string> missed;  ///< the others that are due, in words
  bool operator==(const ExplainedDelay&) const = default;
};

struct ExplainedSeed {
  uint64_t seed = 0;
  std::string transport;
  size_t steps = 0, planned = 0;  ///< that count; of the job
  FabricTime without;             ///< those steps with no faults
  FabricTime delay, due;
  FabricTime
      gone;  ///< when the steps had ended, minus when without the faults found by signs: with what they hid
  size_t faults_due = 0, faults_shown = 0;  ///< that are due; of these, with a sign
  ExplainedDelay by_signs, by_losses, by_data, by_blame;
  bool operator==(const ExplainedSeed&) const = default;

  /// The delay that is due is 0.1 % of the time without faults or more (twin_report.h: kHiddenOneIn).
  bool is_delayed() const;
};

/// Over seeds of which something is due; all of nothing.
struct ExplainedShare {
  double of_all = 1;   ///< of their delays together
  double of_mean = 1;  ///< mean of their shares
};
ExplainedShare share_of(const std::vector<ExplainedSeed>& seeds,
                        ExplainedDelay ExplainedSeed::*explained);

/// Our choice, as precision's. It must be reached by signs.
inline constexpr double kExplainedMark = 0.95;

/// Which signs are looked at, by Sign.
using SignsSeen = std::array<bool, kSigns>;
inline constexpr SignsSeen kAllSigns{true, true, true, true, true, true, true};

/// Simulates the seed's twins. `base` has jobs. Without some of the signs less is explained.
ExplainedSeed explain_seed(const ChaosBase& base, uint64_t seed, const SignsSeen& seen = kAllSigns);

/// In lines of 80 columns, with the seeds of which less than the mark is explained. `seeds` ascending.
std::string explained_text(const std::vector<ExplainedSeed>& seeds);
nlohmann::ordered_json to_json(const ExplainedSeed& seed);
/// Throws InputError.
ExplainedSeed explained_seed_from_json(const std::string& text);

/// `chaos --explained`: 0 if signs explain the mark, 1 if not, 3 where the user did not wait. Throws InputError.
int explained_command(const ChaosOptions& options);

}  // namespace mrclab::lab
