#include "recorded/run/run_export.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>

#include "analysis/history/packet_joiner.h"
#include "analysis/judge/analyze.h"
#include "analysis/trace/perfetto_trace.h"
#include "analysis/trace/qlog.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "netio/system/output_folder.h"
#include "netio/system/system_error.h"
#include "recorded/diff/recorded_run.h"
#include "recorded/folder/run_manifest.h"
#include "scenario/judging/measured_jobs.h"
#include "scenario/judging/run_inputs.h"

namespace mrclab::lab {

std::string_view suffix_of(RunFormat format) {
  return format == RunFormat::kQlog ? ".sqlog" : ".pftrace";
}

namespace {

/// Files that cannot be read were named when their packets were read.
analysis::RunAnswers answers_in(const Topology& topology,
                                const std::vector<std::filesystem::path>& captures,
                                std::vector<std::string>& notes) {
  analysis::RunAnswers answers;
  for (const auto& capture : captures) {
    try {
      analysis::add_answers(topology, capture, answers);
    } catch (const analysis::CaptureError&) {
    }
  }
  if (answers.left_out > 0) {
    notes.push_back(fmt::format("{} SACKs and NACKs are too many", answers.left_out));
  }
  return answers;
}

analysis::QueueDepths queues_of(const RecordedRun& run, std::vector<std::string>& notes) {
  const FabricTime end = run.scenario.stop();
  const auto step = end / static_cast<int64_t>(analysis::kCounterSteps);
  analysis::QueueDepths queues =
      analysis::queue_depths(run.scenario.topology, analysis::records_in(run.folder / "history"),
                             std::max(step, FabricTime::from_ps(1)), end);
  if (!queues.unknown.empty()) notes.push_back("no queue depths: " + queues.unknown);
  return queues;
}

}  // namespace

RunExport export_run(RunFormat format, const std::filesystem::path& folder,
                     std::filesystem::path out, uint64_t limit_bytes) {
  const RecordedRun run = read_run(folder);
  RunManifest(run.folder).require({"captures", "history", "events.jsonl"});
  RunExport result;
  analysis::SightingReader frames(run.scenario.topology);
  const auto captures = analysis::captures_in(run.folder / "captures");
  for (const auto& capture : captures) {
    try {
      frames.add_file(capture);
    } catch (const analysis::CaptureError& error) {
      result.notes.emplace_back(error.what());
    }
  }
  const analysis::PacketHistory packets =
      analysis::join_sightings(run.scenario.topology, frames.take());
  for (const std::string& note : packets.notes()) result.notes.push_back(note);
  if (captures.empty()) result.notes.emplace_back("the run has no captures: no packets");
  if (const uint64_t over = packets.counters().over_limit; over > 0) {
    result.notes.push_back(
        fmt::format("{} of the captures too many", counted_noun(over, "record")));
  }
  const analysis::RunEvents events = analysis::read_run_events(run.folder / "events.jsonl");
  if (events.malformed + events.left_out > 0) {
    result.notes.push_back(fmt::format("events.jsonl: {} cannot be read, {} too many",
                                       counted_noun(events.malformed, "line"), events.left_out));
  }
  const bool qlog = format == RunFormat::kQlog;
  analysis::RunAnswers answers;
  if (qlog) answers = answers_in(run.scenario.topology, captures, result.notes);
  analysis::QueueDepths queues;
  if (!qlog) queues = queues_of(run, result.notes);
  const std::vector<analysis::FaultSpan> faults = fault_spans_of(run.scenario);
  std::vector<analysis::TraceBar> bars;
  if (!qlog) {
    bars = job_bars(job_outcomes(run.scenario, read_job_times(run.scenario, run.folder)));
  }
  const analysis::RunTrace trace{
      run.scenario.topology, packets,           events, answers, queues, faults,
      run.scenario.stop(),   run.scenario.name, bars};

  result.file = out.empty() ? run.folder / ("run" + std::string(suffix_of(format))) : out;
  std::ofstream file(netio::name_of_open(netio::create_file(result.file)),
                     std::ios::binary | std::ios::app);
  analysis::BoundedOutput bounded(file, limit_bytes);
  qlog ? analysis::write_qlog(trace, bounded) : analysis::write_perfetto(trace, bounded);
  file.close();
  if (!file) {
    const int why = errno;
    std::error_code ignored;  // half a file is of no use
    if (std::filesystem::is_regular_file(result.file, ignored))
      std::filesystem::remove(result.file, ignored);
    throw netio::SystemError("write " + result.file.string(), why);
  }
  renew_in_manifest(run.folder, result.file);
  result.events = bounded.pieces();
  result.bytes = bounded.bytes();
  if (bounded.left_out() > 0) {
    result.notes.push_back(fmt::format("{} from {:.3f} us on did not fit into --limit: left out",
                                       counted_noun(bounded.left_out(), "event"),
                                       static_cast<double>(bounded.complete_until().ps()) * 1e-6));
  }
  return result;
}

}  // namespace mrclab::lab
