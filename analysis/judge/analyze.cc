#include "analysis/judge/analyze.h"

#include <algorithm>
#include <memory>
#include <set>

#include "analysis/blame/blame.h"
#include "analysis/checks/checks.h"
#include "analysis/incident/incident_cost.h"
#include "analysis/incident/wait_history.h"
#include "analysis/judge/sender_notes.h"
#include "analysis/judge/tap_evidence.h"
#include "analysis/mapper/mapper_collector.h"
#include "analysis/measure/detection_text.h"
#include "analysis/measure/dip.h"
#include "analysis/measure/job_steps.h"
#include "analysis/measure/path_states.h"
#include "analysis/measure/rc_recovery.h"
#include "analysis/orchestrator/orchestrator_collector.h"
#include "analysis/report/frame_finder.h"
#include "analysis/report/picture.h"
#include "analysis/report/report.h"
#include "analysis/verdict/verdict.h"
#include "fabric/text/counted_noun.h"

namespace mrclab::analysis {
namespace {

void note_count(std::vector<std::string>& notes, uint64_t count, const char* what) {
  if (count > 0) notes.push_back(std::to_string(count) + " " + what);
}

/// Notes on flaws of the evidence itself.
void note_anomalies(const HistoryCounters& c, std::vector<std::string>& notes) {
  note_count(notes, c.capture_skipped, "capture records were malformed and skipped");
  note_count(notes, c.unknown_interface, "capture records of interfaces that this fabric lacks");
  note_count(notes, c.over_limit, "capture records beyond the limits of the analysis");
  note_count(notes, c.unknown_host, "MRC packets not between two hosts of this fabric");
  note_count(notes, c.unmatched_arrivals, "packets arrived without having been seen to leave");
  note_count(notes, c.unmatched_drops, "drops of packets that were not seen to leave");
  note_count(notes, c.rtx_bit_wrong, "packets whose retransmission bit contradicts the captures");
}

Metrics metrics_of(const RunInputs& in, const Evidence& evidence, const Measurements& m) {
  const PacketHistory& history = evidence.packets();
  const bool watched = evidence.watched();
  Metrics metrics;
  metrics.goodput_bps = static_cast<double>(m.total.bps);
  if (m.baseline.rate.bps > 0) metrics.baseline_bps = static_cast<double>(m.baseline.rate.bps);
  metrics.baseline_variation = m.baseline.variation;
  if (!m.baseline.usable) metrics.no_baseline = m.baseline.why_not;
  metrics.data_packets = history.packets().size();
  metrics.delivered = history.deliveries().size();
  for (const Delivery& d : history.deliveries()) metrics.delivered_bytes += d.bytes;
  const HistoryCounters& c = history.counters();
  metrics.retransmitted = c.retransmissions;
  metrics.trimmed = c.trimmed;
  metrics.lost = c.dropped;
  metrics.refused = c.refused;
  metrics.naks = c.rc_naks;
  metrics.cnps = c.cnps;
  for (const RcRecovery& recovery : rc_recoveries(history)) {
    metrics.timeouts += recovery.rounds[static_cast<size_t>(RcCause::kTimeout)];
  }
  for (const RcAnswers& answers : history.rc_answers()) metrics.flows_cut += answers.cnps > 0;
  metrics.pauses =
      pause_use(in.topology, PauseTimes(in.topology, history.pauses(), in.schedule, m.end));
  metrics.spread = flow_spread(in.topology, history);
  if (in.topology.carries_time()) metrics.messages = message_times(history, m.end);
  for (const HostReport& host : in.hosts.hosts) metrics.qps_failed += host.qps_in_error;
  metrics.work_ends = in.work_ends;
  if (in.work_ends && !in.early_end) metrics.completed = completion(in.hosts, history);
  metrics.captures = in.captures.size();
  metrics.capture_records = watched ? in.capture_records : c.records;
  metrics.capture_skipped = c.capture_skipped + c.unknown_interface + c.over_limit;
  metrics.history_sha256 = in.history_sha256;
  metrics.history_version = in.history_version;
  return metrics;
}

/// Did the run make use of it?
bool applies(Dependence::On on, const Metrics& metrics) {
  switch (on) {
    case Dependence::On::kTimeouts: return metrics.timeouts > 0 || metrics.qps_failed > 0;
    case Dependence::On::kLosses: return metrics.lost > 0;
    case Dependence::On::kCnps: return metrics.cnps > 0;
  }
  return true;
}

/// The share of the baseline that counts as recovered: the first expectation's, else its default.
Probability recovery_share(std::span<const Expectation> expectations) {
  for (const Expectation& e : expectations) {
    if (const auto* recover = std::get_if<ExpectRecover>(&e)) return recover->to;
  }
  return ExpectRecover{}.to;
}

/// Why faults cannot be measured if packets, reports or events are not complete: a host that was not
/// recorded looks like one that noticed nothing. Empty: the evidence is complete.
std::string unmeasured_because(const Coverage& coverage) {
  for (const Witness witness : {Witness::kPackets, Witness::kReports, Witness::kEvents}) {
    if (!coverage.whole(witness)) return coverage.why(witness);
  }
  return "";
}

FaultResult result_of(const FaultSpan& fault, const FaultMeasurement& measured,
                      const Measurements& m, Probability share, const Coverage& coverage,
                      const Topology& topology) {
  FaultResult result;
  result.fault = fault.description;
  result.kind = fault.kind;
  result.at = fault.start;
  result.note = unmeasured_because(coverage);
  // Which paths traffic used, and whether it came back, is in packets and events; no host reports are needed.
  result.measured = coverage.whole(Witness::kPackets) && coverage.whole(Witness::kEvents);
  if (result.measured) {
    result.still_used = measured.still_used;
    result.recovery_known = m.baseline.usable;
    if (m.baseline.usable) {
      result.recovered = recovery_time(m, fault.start, share_of(m.baseline.rate, share));
    } else {
      result.recovery_note = "not known, as there is no baseline: " + m.baseline.why_not;
    }
  }
  if (!result.note.empty()) {
    result.healed = fault.healed();
    if (fault.healed()) result.healed_at = fault.healed_at;
    return result;
  }
  const bool back = measured.unused.empty();
  result.healed = fault.healed() && back;
  if (fault.healed()) result.healed_at = fault.healed_at;
  switch (measured.detection) {
    case Detection::kDetected: result.detected = measured.detect; break;
    case Detection::kNothing: result.note = why_nothing_detected(topology); break;
    case Detection::kUnconfirmed:
      result.note = "not shown to be detected: last used " + to_string(measured.detect) +
                    " after the start, and too little was sent afterwards";
      break;
  }
  if (measured.still_used) {
    result.note = "an affected path stayed in use";
    result.detected.reset();
  }
  if (fault.healed() && !back) {
    result.note +=
        (result.note.empty() ? "" : "; ") + std::string("not all paths are usable again");
  }
  return result;
}

void add_taps(const RunInputs& in, const Evidence& evidence, Verdict& verdict) {
  TapEvidence taps(in.topology, in.end > FabricTime::zero() ? in.end : FabricTime::never());
  CheckResult check;
  try {
    taps.add_file(in.taps);
    taps.finish();
    check = judge_taps(compare(in.topology, evidence.packets(), taps.packets()), taps,
                       in.tap_cost.missing);
    if (const Coverage& known = evidence.coverage(); !known.whole(Witness::kPackets)) {
      // What only the taps saw may be what is missing.
      check = unjudged(check, known.why(Witness::kPackets));
    }
  } catch (const CaptureError& error) {
    check.name = "taps_agree";
    check.note = error.what();
  }
  add_check(verdict, std::move(check));
  verdict.taps = in.tap_cost;
}

/// Jobs, with the faults that were on in each step, and what it lost where packets are complete.
std::vector<JobResult> jobs_of(const RunInputs& in, const PacketHistory& history,
                               const Coverage& coverage, FabricTime end) {
  std::vector<JobResult> jobs = in.jobs;
  for (JobResult& job : jobs) {
    if (job.serve) job.serve->end = end;
    mark_faults(job, in.faults, end);
    mark_power_loss(job, in.topology, in.schedule, end);
    if (coverage.whole(Witness::kPackets)) count_losses(job, in.topology, history, end);
  }
  return jobs;
}

/// The twin, simulated at most once.
Twin only_once(const Twin& twin) {
  if (!twin) return {};
  return [twin, run = std::make_shared<std::optional<TwinRun>>()] {  // copies of it are one twin
    if (!*run) *run = twin();
    return **run;
  };
}

/// What the faults cost, and where the run has no baseline when its goodput was that of the twin again.
void hold_against_twin(const RunInputs& in, const Measurements& m, Probability share,
                       const PacketHistory& history, const TwinRun& twin, Verdict& verdict) {
  IncidentCost cost = incident_cost(m.goodput, twin.goodput, m.end);
  cost.work_ends = in.work_ends && !in.early_end;
  if (cost.work_ends) {
    cost.completed = completion(in.hosts, history);
    cost.twin_completed = twin.completed;
  }
  verdict.cost = cost;
  if (m.baseline.usable) return;
  for (FaultResult& fault : verdict.faults) {
    if (!fault.measured) continue;
    fault.recovered = recovery_time(m, fault.at, twin.goodput, share);
    fault.recovery_note =
        "held against the same run without faults, as there is no baseline: " + m.baseline.why_not;
    fault.recovery_known = true;
  }
}

/// A host without a report may have seen anything, so its reports cover nothing from time zero on.
Coverage with_reports(Coverage coverage, const RunInputs& in) {
  std::set<std::string> silent;
  for (const NodeSite& site : in.topology.nodes) {
    if (site.role == NodeRole::kHost) silent.insert(site.name);
  }
  for (const HostReport& report : in.hosts.hosts) silent.erase(report.host);
  for (const std::string& host : silent) {
    coverage.ends(Witness::kReports, FabricTime::zero(), host + " left no report");
  }
  return coverage;
}

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder,
                                            const std::set<std::string>& extensions) {
  std::vector<std::filesystem::path> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (extensions.contains(entry.path().extension().string())) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

}  // namespace

Analysis analyze(const RunInputs& in) {
  Evidence evidence(in.topology, in.schedule,
                    in.end > FabricTime::zero() ? in.end : FabricTime::never());
  evidence.follow(in.followed);
  read_files(in, evidence);
  return analyze(in, evidence);
}

void read_files(const RunInputs& in, Evidence& evidence) {
  if (in.side_by_side && in.captures.size() > 1) {
    evidence.add_captures(in.captures, in.side_by_side);
  } else {
    for (const std::filesystem::path& path : in.captures) {
      evidence.add_capture(path, in.side_by_side);
    }
  }
  if (in.captures.empty()) evidence.absent(Witness::kPackets, "there are no captures");
  if (in.events.empty()) {
    evidence.absent(Witness::kEvents, "there are no events");
  } else {
    evidence.add_events(in.events);
  }
  evidence.add_records(in.records);
  evidence.finish(in.side_by_side);
}

Analysis analyze(const RunInputs& in, const Evidence& evidence) {
  Analysis analysis = judge(in, evidence);
  const QueueDepths queues = queue_depths(in.topology, in.records, analysis.measurements.planes.bin,
                                          analysis.measurements.end);
  analysis.verdict.metrics.deepest = queues.deepest_of_all;
  analysis.waits = waits_of(in.topology, evidence, analysis.measurements.end);
  analysis.picture = picture_of({{in.topology, evidence, analysis.measurements, in.faults,
                                  analysis.verdict.faults, in.queue_pairs, analysis.waits},
                                 in.timing.pace,
                                 queues,
                                 analysis.verdict.jobs});
  if (!in.taps.empty()) add_taps(in, evidence, analysis.verdict);
  name_frames(in.topology, in.captures, analysis.verdict.checks);
  return analysis;
}

std::vector<WaitSpan> waits_of(const Topology& topology, const Evidence& evidence, FabricTime end) {
  if (!evidence.coverage().whole(Witness::kPackets) || !topology.carries_time()) return {};
  return wait_spans(topology, evidence.packets(), end);
}

Analysis judge(const RunInputs& in, const Evidence& evidence) {
  Analysis analysis;
  Verdict& verdict = analysis.verdict;
  const PacketHistory& history = evidence.packets();
  const Coverage coverage = with_reports(evidence.coverage(), in);
  verdict.notes = coverage.gaps();
  if (in.captures.empty() && !evidence.watched()) {
    verdict.notes.emplace_back("there are no captures, so no evidence of packets");
  }
  note_anomalies(history.counters(), verdict.notes);
  if (const FollowedSenders& followed = evidence.followed(); !followed.all()) {
    verdict.notes.push_back("packets are those that " +
                            std::to_string(followed.count(in.topology)) + " of " +
                            counted_noun(in.topology.host_count(), "host") +
                            " sent (follow); frames of all others were counted only");
  }

  const FabricTime last =
      history.deliveries().empty() ? FabricTime::zero() : history.deliveries().back().t;
  const FabricTime end = in.end > FabricTime::zero() ? in.end : last;
  const FabricTime rtt = in.base_rtt > FabricTime::zero() ? in.base_rtt : in.topology.base_rtt;
  analysis.measurements = measure(in.topology, history, in.faults, rtt, end);
  accept_usable(in.topology, evidence.events(), in.hosts, analysis.measurements.faults);
  const Measurements& m = analysis.measurements;

  verdict.scenario = in.scenario;
  verdict.world = in.world;
  verdict.seed = in.seed;
  verdict.payload_elided = in.payload_elided;
  verdict.without = in.without;
  verdict.version = in.version;
  verdict.build = in.build;
  verdict.timing = in.timing;
  const std::vector<Expectation> expectations = without_bundles(in.expectations);
  const Twin twin = only_once(in.twin);
  verdict.jobs = jobs_of(in, history, coverage, end);
  verdict.checks =
      run_checks(expectations, {in.topology, history, m, in.faults, in.hosts, evidence, in.schedule,
                                in.regions, in.retry_span, in.rc_retry_span, coverage,
                                in.timing.mode, twin, verdict.jobs, in.alone});
  if (in.early_end) {
    for (size_t i = 0; i < verdict.checks.size(); ++i) {
      verdict.checks[i] = judge_early_end(expectations[i], std::move(verdict.checks[i]), in.faults,
                                          end, *in.early_end);
    }
    verdict.notes.push_back(describe(*in.early_end, end));
  }
  if (!in.end_note.empty()) verdict.notes.push_back(in.end_note);
  for (CheckResult& check : verdict.checks) check = as_sound_as(in.timing, std::move(check));
  verdict.result = overall_result(verdict.checks, in.timing);
  if (in.checks_alone) {
    verdict.metrics.delivered = history.deliveries().size();
    verdict.metrics.history_sha256 = in.history_sha256;
    verdict.metrics.history_version = in.history_version;
    return analysis;
  }
  const Probability share = recovery_share(expectations);
  for (size_t i = 0; i < in.faults.size(); ++i) {
    verdict.faults.push_back(result_of(in.faults[i], m.faults[i], m, share, coverage, in.topology));
    if (coverage.whole(Witness::kPackets)) {
      verdict.faults.back().dip = measure_dip(m, in.faults, i).dip;
      verdict.faults.back().losses = losses_after(history, evidence.events(), in.faults, i);
    }
  }
  // A run that is not that of the modelled hardware differs from its twin for other reasons than its faults.
  const bool comparable = in.timing.faithful && coverage.whole(Witness::kPackets);
  const bool struck = first_start(in.faults) < m.end;
  if (in.state_cost && twin && struck && comparable) {
    hold_against_twin(in, m, share, history, twin(), verdict);
  }
  verdict.no_blame = no_blame_because(coverage, in.timing.gaps);
  if (verdict.no_blame.empty()) {
    verdict.blame = find_blame(in.topology, history, evidence.events());
    verdict.losses_not_told = losses_not_told(in.topology, history);
  }
  verdict.mapper = mapper_result(in.topology, evidence.events(), coverage);
  for (std::string& note : sender_notes(in.topology, evidence, in.schedule)) {
    verdict.notes.push_back(std::move(note));
  }
  verdict.orchestrator = orchestrator_result(in.topology, evidence.events(), coverage);
  verdict.denylist = denylist_result(in.topology, evidence.events(), coverage);
  verdict.metrics = metrics_of(in, evidence, m);
  for (const Dependence& dependence : in.dependences) {
    if (applies(dependence.on, verdict.metrics)) verdict.depends_on.push_back(dependence.text);
  }
  const Metrics& metrics = verdict.metrics;
  if (metrics.lost + metrics.retransmitted + metrics.qps_failed > 0) {
    verdict.loss_timers = in.loss_timers;
  }
  return analysis;
}

std::vector<std::filesystem::path> captures_in(const std::filesystem::path& folder) {
  return files_in(folder, {".pcapng", ".pcap"});
}

std::vector<std::filesystem::path> records_in(const std::filesystem::path& folder) {
  return files_in(folder, {".bin"});
}

std::vector<ResultFile> result_files(const std::filesystem::path& run_folder,
                                     const Analysis& analysis, const RunOrigin& origin) {
  const std::string verdict = to_json(analysis.verdict);
  return {{"verdict.json", verdict},
          {"junit.xml", to_junit(analysis.verdict)},
          {"report.html", to_html({std::filesystem::weakly_canonical(run_folder).string(), verdict,
                                   analysis.picture, origin, analysis.sections})}};
}

}  // namespace mrclab::analysis
