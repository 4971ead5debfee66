#pragma once
// The judge's entry point: from a run's files, or from nodes that were watched as it ran, to the verdict.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/checks/early_end.h"
#include "analysis/checks/twin.h"
#include "analysis/expect/expectation.h"
#include "analysis/history/evidence.h"
#include "analysis/history/fault_span.h"
#include "analysis/history/followed_senders.h"
#include "analysis/history/reports.h"
#include "analysis/incident/wait_history.h"
#include "analysis/judge/dependence.h"
#include "analysis/measure/job_result.h"
#include "analysis/measure/measurements.h"
#include "analysis/report/report.h"
#include "analysis/verdict/verdict.h"

namespace mrclab::analysis {

struct RunInputs {
  const Topology& topology;
  std::vector<std::filesystem::path> captures;  ///< in any order
  std::vector<FaultSpan> faults = {};
  std::vector<Expectation> expectations = {};
  HostReports hosts = {};
  TimingReport timing = {};
  std::string scenario = {};
  std::string world = "live";
  std::string version = {};
  BuildMark build = {};  ///< from which sources the judging program was built
  uint64_t seed = 0;
  bool payload_elided = false;
  std::vector<std::string> without = {};  ///< mechanisms that were switched off on purpose
  FabricTime end = {};                    ///< end of the run
  FabricTime base_rtt = {};               ///< zero: the topology's
  std::string history_sha256 = {};        ///< from the nodes
  uint32_t history_version = 0;           ///< mrclab::history_version() of the nodes' streams
  std::string loss_timers = {};           ///< by what endpoints find losses (Verdict)
  bool work_ends = false;                 ///< the workload ends by itself, not at the run's end
  /// Set when the run was ended, at `end`, before its scenario was.
  std::optional<EarlyEnd> early_end = std::nullopt;
  std::string end_note =
      {};  ///< why the run ended when it did, where the scenario states no instant for that
  std::vector<ScheduledEffect> schedule = {};  ///< as the nodes executed it
  /// Files of packet records (fabric/history/history_record.h), which the check `accounted` reads.
  std::vector<std::filesystem::path> records = {};
  FollowedSenders followed = {};      ///< whose packets captures and records have
  std::filesystem::path events = {};  ///< events.jsonl; empty: none
  /// How long a requester goes on without any answer before it gives up; zero: unknown.
  FabricTime retry_span = FabricTime::zero();
  /// The same for RC; zero: no queue pair is one of RC.
  FabricTime rc_retry_span = FabricTime::zero();
  std::vector<MemoryRegion> regions = {};       ///< all that peers may write to; empty: unknown
  std::vector<QueuePairName> queue_pairs = {};  ///< all ends; empty: unknown
  std::filesystem::path taps =
      {};  ///< what libpcap wrote (analysis/judge/tap_evidence.h); empty: none
  TapCost tap_cost = {};
  uint64_t capture_records = 0;  ///< records in the capture files of a watched run
  Twin twin = {};
  /// Is the twin simulated for what the faults cost? Else only where a check needs it.
  bool state_cost = false;
  std::vector<Dependence> dependences = {};
  /// What jobs came to, but for faults and losses of their steps, which the judge adds.
  std::vector<JobResult> jobs = {};
  AloneRun alone = {};
  /// Is the verdict wanted for its result, its checks and the history alone? Then faults, blame, notes and most metrics
  /// stay empty.
  bool checks_alone = false;
  SideBySide side_by_side = {};  ///< to use several cores; empty: one. What is found is the same
};

struct Analysis {
  Verdict verdict;
  Measurements measurements;
  /// The data of report.html beside the verdict (analysis/report/picture.h), as JSON. Empty after a
  /// judge() of watched records, which makes no page.
  std::string picture;
  std::vector<WaitSpan> waits = {};  ///< as in the picture
  std::string sections = {};         ///< ReportedRun::sections, by whoever has them
};

/// Reads the files and judges. A file that cannot be read, or is not complete, is named in the
/// notes and makes the checks that depend on it inconclusive (analysis/history/coverage.h); the content of
/// a file never makes it throw.
Analysis analyze(const RunInputs& inputs);
/// Reads the files of `inputs` into `evidence` and finishes it.
void read_files(const RunInputs& inputs, Evidence& evidence);
/// As analyze(inputs), but judges `evidence`, which was collected while the run wrote its files and
/// is finished. From the files come only the depths of queues, taps, and the numbers of frames.
Analysis analyze(const RunInputs& inputs, const Evidence& evidence);
/// Judges what was watched (finished evidence); touches no file. The same verdict as analyze() of
/// the files that the same run would have left, but for metrics about those files.
Analysis judge(const RunInputs& inputs, const Evidence& evidence);

/// Who waited for whom; nothing where packets are missing, or time is not modelled.
std::vector<WaitSpan> waits_of(const Topology& topology, const Evidence& evidence, FabricTime end);

/// All *.pcapng and *.pcap of a folder, sorted by name.
std::vector<std::filesystem::path> captures_in(const std::filesystem::path& folder);

/// All record files (*.bin) of a folder, sorted by name.
std::vector<std::filesystem::path> records_in(const std::filesystem::path& folder);

struct ResultFile {
  std::string name;
  std::string text;
};
/// verdict.json, junit.xml and report.html, to be written into the run folder.
std::vector<ResultFile> result_files(const std::filesystem::path& run_folder,
                                     const Analysis& analysis, const RunOrigin& origin = {});

}  // namespace mrclab::analysis
