#pragma once
// Scenario files (topologies/incidents/*.yaml): read, checked and resolved. Nothing is
// started here; whatever is wrong with a file is an InputError with its position.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/expect/expectation.h"
#include "analysis/history/reports.h"
#include "endpoint/options/transport_choice.h"
#include "endpoint/workload/workload_spec.h"
#include "fabric/node/effect.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/topology.h"
#include "faults/fault.h"
#include "scenario/spec/contrast.h"
#include "scenario/spec/program_spec.h"

namespace mrclab::lab {

using analysis::TimingMode;
/// Where packets are captured: by the daemons (`captures:`), by libpcap on the veths (`taps:`).
enum class CaptureScope : uint8_t { kHosts, kAll, kNone };

inline constexpr uint64_t kMaxSeed = 999'999'999'999'999'999;  ///< that a scenario file can say

struct Scenario {
  std::string name;
  std::vector<std::string> ids;  ///< "L5", "P-2": what a shipped incident is called in its source
  std::string about;
  std::vector<std::string>
      without;  ///< mechanisms that are switched off (scenario/spec/mechanism.h)
  std::vector<std::string> fails_without;  ///< each of them alone makes an expectation fail
  FabricShape fabric;                      ///< as the fabric file says
  Topology topology;                       ///< built from it
  uint64_t seed = 1;
  endpoint::TransportChoice transport;
  std::optional<uint32_t> dilation;  ///< lab seconds per fabric second; empty: auto
  TimingMode timing = TimingMode::kCarried;
  CaptureScope captures = CaptureScope::kHosts;
  CaptureScope taps = CaptureScope::kNone;  ///< beside those; live only
  bool payload_elided = false;              ///< frames are headers of the modelled length
  std::vector<endpoint::WorkloadSpec> workload;
  std::vector<ExecSpec> programs;  ///< the workload's `exec:` entries; live and `wall` only
  std::vector<faults::Fault> faults;
  std::vector<ScheduledEffect> schedule;  ///< compiled from faults
  FabricTime end;                         ///< never(): of a lab that stays and works until `down`
  std::optional<FabricTime> until;        ///< the run is ended here, before `end`
  std::vector<analysis::Expectation> expect;
  std::vector<CheckProgram> check_programs;  ///< `program:` entries of `expect:`
  std::vector<Contrast> contrasts;           ///< what other transports make of it

  /// Where a run of it stops. No work is cut short before `end`: up to here the history is that of
  /// the whole run.
  FabricTime stop() const { return until.value_or(end); }
};

/// What a command line may put in place of what the file says.
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
  std::vector<std::string> without;  ///< beside what the file says
  uint64_t max_nodes = kMaxNodes;    ///< of its fabric; kMaxSimulatedNodes if nothing else is done
};

/// A path, or the name or the id ("L5") of a shipped incident. Throws InputError.
std::filesystem::path find_scenario(std::string_view name_or_path);
Scenario load_scenario(std::string_view name_or_path, const ScenarioOverrides& overrides = {});
Scenario read_scenario_file(const std::filesystem::path& path,
                            const ScenarioOverrides& overrides = {});
/// `base` is where a relative fabric path starts.
Scenario parse_scenario(const YamlValue& document, const std::filesystem::path& base = {},
                        const ScenarioOverrides& overrides = {});

/// The resolved scenario of a run's folder, of whatever size. Throws InputError.
Scenario read_run_scenario(const std::filesystem::path& folder);

/// Is a workload carried by RoCE?
bool uses_roce(const Scenario& scenario);
/// What a fabric has that cannot carry RoCE, in words; empty if it can.
std::optional<std::string_view> why_without_roce(const Topology& topology);
/// What a transport asks of the rest: pauses and adaptive routing of the switches where RoCE is used, and
/// the queue pairs of workloads that name no number. To be called again when the transport is exchanged.
/// Throws InputError for RoCE where the fabric cannot carry it.
void fit_fabric_to_transport(Scenario& scenario);

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
