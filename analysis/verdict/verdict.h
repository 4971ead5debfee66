#pragma once
// The verdict of a run and its written forms: verdict.json, junit.xml, a table for the
// terminal.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/blame/blame_result.h"
#include "analysis/checks/check_result.h"
#include "analysis/history/reports.h"
#include "analysis/incident/incident_cost.h"
#include "analysis/mapper/denylist_result.h"
#include "analysis/mapper/mapper_result.h"
#include "analysis/measure/dip.h"
#include "analysis/measure/fault_losses.h"
#include "analysis/measure/flow_spread.h"
#include "analysis/measure/job_result.h"
#include "analysis/measure/message_times.h"
#include "analysis/measure/pause_use.h"
#include "analysis/measure/queue_depth.h"
#include "analysis/orchestrator/orchestrator_result.h"
#include "fabric/base/units.h"

namespace mrclab::analysis {

/// One fault, measured. Durations count from the fault's (or impairment's) start.
struct FaultResult {
  std::string fault;
  std::string kind;
  FabricTime at;
  std::optional<FabricTime> healed_at;
  std::optional<FabricTime> detected;   ///< empty: nothing to detect, or no captures
  std::optional<FabricTime> recovered;  ///< empty: not recovered before the end
  bool recovery_known = false;          ///< false: there was nothing to hold goodput against
  std::string recovery_note = {};       ///< why, or against what it was held if not the baseline
  bool still_used = false;              ///< an affected path was in use until it healed or the end
  bool healed = false;
  bool measured =
      true;  ///< false: evidence is missing, which `note` names; nothing above holds then
  std::string note;
  std::optional<Dip> dip = std::nullopt;  ///< empty: its parts cannot be separated
  FaultLosses losses = {};                ///< nothing where captures are missing
};

struct Metrics {
  double goodput_bps = 0;  ///< first deliveries over the whole run
  std::optional<double> baseline_bps;
  std::string no_baseline = {};   ///< why the baseline is not usable; empty: it is
  double baseline_variation = 0;  ///< fraction; over 0.05 the baseline is unusable
  uint64_t data_packets = 0;      ///< distinct
  uint64_t delivered = 0;
  uint64_t delivered_bytes = 0;
  uint64_t retransmitted = 0;   ///< transmissions beyond the first of a packet
  uint64_t trimmed = 0;         ///< data packets that arrived, or were lost, trimmed
  uint64_t lost = 0;            ///< data frames with a drop record
  uint64_t refused = 0;         ///< data packets that the receiving NIC had no room for
  uint64_t naks = 0, cnps = 0;  ///< RC: negative acknowledgements, congestion notifications
  uint64_t timeouts = 0;        ///< RC: how often a sender went back without a NAK
  uint32_t flows_cut = 0;       ///< RC: flows whose sender got a notification, and lowered its rate
  std::optional<DeepestQueue> deepest = std::nullopt;  ///< empty: no packet records show it
  std::optional<PauseUse> pauses = std::nullopt;       ///< empty: no port was paused
  std::optional<FlowSpread> spread = std::nullopt;     ///< empty: the uplinks are not known
  uint32_t qps_failed = 0;  ///< queue pairs in error at the end, by their hosts' reports
  std::optional<MessageTimes> messages;  ///< empty: no message began, or time is not modelled
  bool work_ends = false;  ///< the workload ends by itself; else the run's end cuts it short
  std::optional<FabricTime> completed =
      std::nullopt;       ///< its last byte arrived; empty: not all did
  uint64_t captures = 0;  ///< files read
  uint64_t capture_records = 0;
  uint64_t capture_skipped = 0;  ///< records that could not be used
  std::string history_sha256;    ///< computed by the nodes
  uint32_t history_version = 0;  ///< the rule by which it was computed (fabric/history/history.h)
};

/// What libpcap on the veths saw, and what it cost.
struct TapCost {
  uint64_t interfaces = 0, packets = 0, bytes = 0;
  uint64_t missing = 0;     ///< dropped by the kernel, or beyond the file's bound
  double cpu_seconds = 0;   ///< CPU time of the thread that read and wrote them
  double open_seconds = 0;  ///< to open them all
};

/// From which sources a program was built.
struct BuildMark {
  std::string commit;  ///< "1a2b3c4d5e6f", "... and changes", "unknown"
  std::string type;    ///< CMake's build type
  bool operator==(const BuildMark&) const = default;
};

struct Verdict {
  std::string scenario;
  std::string world;  ///< "live" or "sim"
  uint64_t seed = 0;
  bool payload_elided = false;       ///< frames were headers only; no byte was verified
  std::vector<std::string> without;  ///< mechanisms that were switched off on purpose
  std::string version;
  BuildMark build = {};
  Result result = Result::kInconclusive;
  TimingReport timing;
  std::vector<CheckResult> checks;
  std::vector<FaultResult> faults;
  std::vector<Blame> blame;  ///< what was broken, by the packets alone
  std::string no_blame;      ///< why no component could be blamed; empty: one could
  std::string
      losses_not_told;  ///< losses without a known place (analysis/blame/blame.h); empty: there are none
  std::optional<MapperResult> mapper = std::nullopt;              ///< empty: the fabric has none
  std::optional<OrchestratorResult> orchestrator = std::nullopt;  ///< likewise
  std::optional<DenylistResult> denylist = std::nullopt;          ///< likewise
  std::vector<JobResult> jobs = {};                               ///< in the workload's order
  Metrics metrics;
  std::string
      loss_timers;  ///< by what endpoints found losses; empty: nothing was lost, or not known
  std::optional<IncidentCost> cost = std::nullopt;  ///< of the faults; empty: none, or not known
  std::optional<TapCost> taps;
  /// What the figures depend on that hardware has otherwise, or that takes longer than the run.
  std::vector<std::string> depends_on = {};
  std::vector<std::string> notes;  ///< anomalies in the captures
};

/// Has any check a published figure?
bool published_any(const Verdict& verdict);

/// ", payload elided, without spray, trim": what else names a run.
std::string circumstances(const Verdict& verdict);

/// Adds a check to the verdict, and lowers the result by the check's.
void add_check(Verdict& verdict, CheckResult check);

std::string to_json(const Verdict& verdict);
/// One test suite for the run, one test case per check; inconclusive is "skipped".
std::string to_junit(const Verdict& verdict);

struct TableOptions {
  size_t width = 80;
  bool colour = false;
};
/// A plain-text table (ASCII apart from names), lines of at most `width` (60 or more) columns.
std::string to_table(const Verdict& verdict, TableOptions options = {});

}  // namespace mrclab::analysis
