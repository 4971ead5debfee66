#include "lab/verbs/files/job_run.h"

#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "analysis/serve/serve_text.h"
#include "console/json_print.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/input_error.h"
#include "job/measure/inspector_lines.h"
#include "job/measure/job_export.h"
#include "job/measure/job_lanes.h"
#include "job/measure/job_table.h"
#include "netio/system/file_descriptor.h"
#include "recorded/diff/recorded_run.h"
#include "scenario/judging/job_results.h"
#include "scenario/judging/measured_jobs.h"

namespace mrclab::lab {
namespace {

/// "job.json", "job-2.json"
std::filesystem::path numbered(const std::string& file, size_t number) {
  std::filesystem::path path = file;
  if (number == 0) return path;
  const std::string name =
      fmt::format("{}-{}{}", path.stem().string(), number + 1, path.extension().string());
  return path.replace_filename(name);
}

/// Attempts of a job follow each other.
std::vector<JobOutcome> each_attempt(const std::vector<JobOutcome>& jobs) {
  std::vector<JobOutcome> attempts;
  for (const JobOutcome& job : jobs) {
    attempts.push_back(job);
    attempts.insert(attempts.end(), job.later.begin(), job.later.end());
  }
  return attempts;
}

/// "attempt 2, from step 4 on, at 2.5ms"; empty of the first.
std::string attempt_line(const JobOutcome& outcome) {
  if (outcome.attempt == 0) return "";
  return fmt::format("attempt {}, from step {} on, at {}\n", outcome.attempt + 1, outcome.from_step,
                     to_string(outcome.start));
}

void write_files(const JobOutcome& outcome, size_t number, const JobRunOptions& options) {
  const job::PlannedJob& plan = outcome.plan->planned;
  const job::OpSpans spans = op_spans(plan, outcome.plan->program, outcome.times);
  const auto write = [](const std::filesystem::path& file, const std::string& text,
                        uint64_t left_out) {
    netio::write_file(file, text);
    fmt::print(stderr, "wrote {}\n", file.string());
    if (left_out > 0) fmt::print(stderr, "note: {} too many\n", counted_noun(left_out, "line"));
  };
  if (!options.chrome.empty()) {
    const job::JobLanes lanes = lanes_of(plan, spans);
    std::ostringstream out;
    write_chrome_trace(plan, lanes, out);
    write(numbered(options.chrome, number), out.str(), lanes.left_out);
  }
  if (!options.inspector.empty()) {
    std::ostringstream out;
    const uint64_t left_out = write_inspector_lines(plan, spans, out);
    write(numbered(options.inspector, number), out.str(), left_out);
  }
}

/// The head stands before the first rows that it belongs to.
void add_csv(const std::string& csv, std::string& text, std::string& head) {
  const size_t end = csv.find('\n') + 1;
  if (head != csv.substr(0, end)) {
    if (!text.empty()) text += "\n";
    head = csv.substr(0, end);
    text += head;
  }
  text += csv.substr(end);
}

std::string service_text(const analysis::JobResult& job) {
  std::string text = "service    " + serve_headline(job) + "\n";
  for (const std::string& line : serve_lines(*job.serve)) text += line + "\n";
  return text;
}

}  // namespace

bool is_run_folder(const std::string& path) {
  std::error_code none;
  return path == "latest" ||
         std::filesystem::exists(std::filesystem::path(path) / "scenario.yaml", none);
}

void print_run_jobs(const std::string& folder, bool json, const JobRunOptions& options) {
  const RecordedRun run = read_run(folder);
  const std::vector<JobOutcome> outcomes =
      each_attempt(job_outcomes(run.scenario, read_job_times(run.scenario, run.folder)));
  if (outcomes.empty()) {
    throw InputError(run.folder.string() +
                     ": the run has no job: expected \"job:\" in its workload");
  }
  const std::vector<analysis::JobResult> results =
      job_results(run.scenario, read_job_times(run.scenario, run.folder));
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  std::string text, head;
  for (size_t i = 0; i < outcomes.size(); ++i) {
    if (results[i].serve) {
      const analysis::ServeResult& serve = *results[i].serve;
      if (json) list.push_back({{"name", results[i].name}, {"serve", to_json(serve)}});
      if (options.csv) add_csv(analysis::serve_csv(serve), text, head);
      if (!json && !options.csv) text += (i == 0 ? "" : "\n") + service_text(results[i]);
      write_files(outcomes[i], i, options);
      continue;
    }
    const job::JobMeasures measures = measured(outcomes[i], run.scenario.topology);
    if (json) {
      list.push_back(to_json(measures));
    } else if (options.csv) {
      add_csv(to_csv(measures), text, head);
    } else {
      text += (i == 0 ? "" : "\n") + attempt_line(outcomes[i]) +
              to_table(measures, outcomes[i].plan->planned);
    }
    write_files(outcomes[i], i, options);
  }
  fmt::print("{}", json ? printed(list, "job_run") + "\n" : text);
}

}  // namespace mrclab::lab
