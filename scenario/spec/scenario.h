#pragma once
// Scenario files (topologies/incidents/*.yaml): read, checked and resolved. Nothing is
// started here; whatever is wrong with a file is an InputError with its position.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/topology/fabric_file.h"
#include "scenario/spec/contrast.h"
#include "scenario/spec/scenario_value.h"
#include "scenario/spec/set_value.h"

namespace mrclab::lab {

/// What a command line may replace in the file.
struct ScenarioOverrides {
  std::optional<uint64_t> seed;
  std::optional<std::string> fabric;  ///< a name or a path
  /// The forwarder of all switches, in place of the fabric's. A forwarder that is not ours also
  /// sets what it needs: no ECN, no trimming, `timing: wall`, and a pace if the file has none.
  std::optional<Forwarding> forwarding;
  std::optional<FabricTime> end;
  std::optional<std::string> until;  ///< a time of at most the end: "300us", "40rtt"
  std::optional<uint32_t> dilation;
  std::optional<CaptureScope> captures;
  std::optional<CaptureScope> taps;
  std::optional<bool> payload_elided;
  std::vector<std::string> without;  ///< beside the file's own
  std::vector<SetValue> sets;        ///< of files only (scenario_document.h)
  uint64_t max_nodes = kMaxNodes;    ///< of its fabric; kMaxSimulatedNodes if nothing else is done
};

/// A path, or the name or the id ("L5") of a shipped incident. Throws InputError.
std::filesystem::path find_scenario(std::string_view name_or_path);
/// A path, or the name of a shipped fabric or incident, or the id of an incident ("L5"). Throws NameError
/// naming both kinds.
std::filesystem::path find_fabric_or_scenario(const std::string& name_or_path);
Scenario load_scenario(std::string_view name_or_path, const ScenarioOverrides& overrides = {});
Scenario read_scenario_file(const std::filesystem::path& path,
                            const ScenarioOverrides& overrides = {});
/// `base` is where a relative fabric path starts. All that is wrong is in one InputError.
Scenario parse_scenario(const YamlValue& document, const std::filesystem::path& base = {},
                        const ScenarioOverrides& overrides = {});

/// The resolved scenario of a run's folder, of whatever size. Throws InputError.
Scenario read_run_scenario(const std::filesystem::path& folder);

/// In place of the workload that it has: a YAML list, or one entry of it. Throws InputError.
void set_workload(Scenario& scenario, const std::string& text);
/// Nothing but a workload (text as above), without an end, on the fabric of a file.
Scenario workload_scenario(const std::filesystem::path& fabric_file, const std::string& workload);

/// The scenario with every name, pattern and rtt resolved and the fabric inline: again a scenario
/// file, which reads back as the same scenario wherever it lies.
std::string to_yaml(const Scenario& scenario);
void write_resolved_scenario(const Scenario& scenario, const std::filesystem::path& path);

/// One line of JSON per effect: t_ps, effect, target, fault (index), heals.
void write_fault_schedule(const std::vector<ScheduledEffect>& schedule, const Topology& topology,
                          const std::filesystem::path& path);

}  // namespace mrclab::lab
