#pragma once
// The verdict of a run and its written forms: verdict.json, junit.xml, a table for the
// terminal.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/blame_result.h"
#include "analysis/dip.h"
#include "analysis/published.h"
#include "analysis/reports.h"
#include "fabric/units.h"

namespace mrclab::analysis {

/// Only a whole run can be kNoChecks: its scenario expects nothing, so it has passed nothing.
enum class Result : uint8_t { kPass, kFail, kInconclusive, kNoChecks };
std::string_view name_of(Result result);
/// Why a verdict is kNoChecks.
inline constexpr std::string_view kNothingChecked =
    "nothing was checked, so nothing passed: the scenario expects nothing";
/// 0 pass, 1 fail, 3 inconclusive or nothing checked (2 is bad usage, which has no verdict).
int exit_code(Result result);

/// A data packet, and the capture frame that shows it leave its host.
struct PacketToLookAt {
  std::string source, destination;  ///< hosts
  Qpn qp;                           ///< queue pair of the destination
  Psn psn;
  std::string file = {};  ///< name of the capture; empty: no capture shows it leave
  uint64_t frame = 0;     ///< from 1, as Wireshark counts
};

/// Where in a run to look for what a check has measured. A check that fails always has one.
struct WhereToLook {
  FabricTime from = FabricTime::zero();    ///< the stretch of time that was looked at
  FabricTime until = FabricTime::never();  ///< never: to the end
  std::string who;                         ///< "h0 to h4 QP 18", "p0/u1"; empty: the whole fabric
  std::optional<PacketToLookAt> packet = std::nullopt;  ///< one that shows it
};
/// "300us to 460us, h0 to h4 QP 18 PSN 7 on p0/u1, frame 12 of sim.pcapng"
std::string to_string(const WhereToLook& where);

/// One expectation, judged. `measured` and `bound` are in `unit`; empty where nothing was measured.
struct CheckResult {
  std::string name;   ///< "goodput"
  std::string about;  ///< what exactly: "from 600us, at least 95 % of baseline"
  Result result = Result::kInconclusive;
  std::optional<double> measured;
  std::optional<double> bound;
  std::string unit;
  std::string note;                    ///< why it failed or could not be judged
  std::optional<Published> published;  ///< the figure to hold `measured` against
  std::optional<WhereToLook> where = std::nullopt;
  /// It failed by what was seen, so that no further evidence could change that.
  bool proven = false;
};

/// One fault, measured. Durations count from the fault's (or impairment's) start.
struct FaultResult {
  std::string fault;
  std::string kind;
  FabricTime at;
  std::optional<FabricTime> healed_at;
  std::optional<FabricTime> detected;   ///< empty: nothing to detect, or no captures
  std::optional<FabricTime> recovered;  ///< empty: not recovered before the end
  bool still_used = false;              ///< an affected path was in use until it healed or the end
  bool healed = false;
  std::string note;
  std::optional<Dip> dip = std::nullopt;  ///< empty: its parts cannot be told apart
};

struct Metrics {
  double goodput_bps = 0;  ///< first deliveries over the whole run
  std::optional<double> baseline_bps;
  double baseline_variation = 0;  ///< fraction; over 0.05 the baseline is unusable
  uint64_t data_packets = 0;      ///< distinct
  uint64_t delivered = 0;
  uint64_t delivered_bytes = 0;
  uint64_t retransmitted = 0;  ///< transmissions beyond the first of a packet
  uint64_t trimmed = 0;        ///< data packets that arrived, or were lost, trimmed
  uint64_t lost = 0;           ///< data frames with a drop record
  uint64_t refused = 0;        ///< data packets that the receiving NIC had no room for
  uint64_t captures = 0;       ///< files read
  uint64_t capture_records = 0;
  uint64_t capture_skipped = 0;  ///< records that could not be used
  std::string history_sha256;    ///< computed by the nodes
};

/// What libpcap on the veths saw, and what it cost.
struct TapCost {
  uint64_t interfaces = 0, packets = 0, bytes = 0;
  uint64_t missing = 0;     ///< dropped by the kernel, or beyond the file's bound
  double cpu_seconds = 0;   ///< CPU time of the thread that read and wrote them
  double open_seconds = 0;  ///< to open them all
};

struct Verdict {
  std::string scenario;
  std::string world;  ///< "live" or "sim"
  uint64_t seed = 0;
  bool payload_elided = false;       ///< frames were headers only; no byte was verified
  std::vector<std::string> without;  ///< mechanisms that were switched off on purpose
  std::string version;
  Result result = Result::kInconclusive;
  TimingReport timing;
  std::vector<CheckResult> checks;
  std::vector<FaultResult> faults;
  std::vector<Blame> blame;  ///< what was broken, by the packets alone
  std::string no_blame;      ///< why no component could be blamed; empty: one could
  Metrics metrics;
  std::optional<TapCost> taps;
  std::vector<std::string> notes;  ///< what a reader must know: anomalies in the captures
};

/// Has any check a published figure?
bool published_any(const Verdict& verdict);

/// ", payload elided, without spray, trim": what else names a run.
std::string circumstances(const Verdict& verdict);

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
