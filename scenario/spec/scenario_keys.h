#pragma once
// The keys of scenario files, a row for each: what it may hold, what it means, how it is read and written.

#include <filesystem>
#include <optional>

#include "fabric/text/key_table.h"
#include "fabric/topology/pattern.h"
#include "scenario/spec/scenario_value.h"

namespace mrclab::lab {

/// What keys are read with besides the file.
struct ScenarioReading {
  std::filesystem::path base;         ///< where paths start
  std::optional<FabricTime> end;      ///< in place of the file's
  bool contrasts = true;              ///< are they read?
  std::optional<NameResolver> names;  ///< of the fabric and the seed; there for kWhatHappens
  /// Something could not be read, so that what a run can answer is not asked; the file is refused anyhow.
  bool is_doubtful = false;
  bool on_fat_twin = false;  ///< is the scenario of the file on its fabric's fat twin (fat_twin.h)?
};

/// The passes in which keys are read (KeyRow::read_pass). `fabric` is read between the first two, by scenario.h.
enum ScenarioPass : uint8_t { kBeforeFabric, kHowItRuns, kEnd, kWhatHappens };

using ScenarioKeys = KeyTable<Scenario, ScenarioReading>;
const ScenarioKeys& scenario_keys();
/// `end`: an instant, never, or with the work and at an instant at the latest (scenario.cc).
ScenarioKeys::Row end_row();

/// Refuses a workload that the scenario's fabric cannot route, or that no run to its end does. Throws InputError.
void check_workload(const YamlValue& entry, const endpoint::WorkloadSpec& spec,
                    const Scenario& scenario);
/// Does the text look like an id such as "L5"? No shipped file has a name in capital letters.
bool is_like_an_id(std::string_view text);
/// One id or a list of them. Throws InputError.
std::vector<std::string> read_ids(const YamlValue& value);

}  // namespace mrclab::lab
