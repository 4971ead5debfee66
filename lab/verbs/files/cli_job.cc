// job: what a file of somebody's job computes and exchanges; what the jobs of a run were like.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "console/json_print.h"
#include "fabric/text/input_error.h"
#include "fabric/text/yaml.h"
#include "job/import/trace_file.h"
#include "job/run/job_summary.h"
#include "lab/verbs/cli.h"
#include "lab/verbs/files/job_run.h"

namespace mrclab::lab {
namespace {

struct JobOptions {
  std::string file, format, time_unit, rate = "800Gb/s", latency = "5us";
  uint32_t ranks = 0, steps = 1;
  bool json = false;
  JobRunOptions run;
};

job::TraceOptions trace_options(const JobOptions& options) {
  job::TraceOptions trace;
  if (!options.format.empty()) trace.format = job::format_named(options.format);
  if (options.time_unit == "ps") trace.time_unit = job::TimeUnit::kPicoseconds;
  if (options.time_unit == "ns") trace.time_unit = job::TimeUnit::kNanoseconds;
  if (options.time_unit == "us") trace.time_unit = job::TimeUnit::kMicroseconds;
  if (options.ranks > 0) trace.ranks = options.ranks;
  trace.steps = options.steps;
  return trace;
}

nlohmann::ordered_json to_json(const job::JobSummary& summary, const job::Trace& trace) {
  nlohmann::ordered_json exchanges = nlohmann::ordered_json::array();
  for (const job::ExchangeCount& entry : summary.exchanges) {
    exchanges.push_back({{"what", entry.what}, {"count", entry.count}, {"bytes", entry.bytes}});
  }
  return {{"format", name_of(trace.format)},
          {"ranks", summary.ranks},
          {"operations", summary.operations},
          {"messages", summary.messages},
          {"computing_ps",
           {{"least", summary.least_computing.ps()}, {"most", summary.most_computing.ps()}}},
          {"most_sent_bytes", summary.most_sent},
          {"exchanges", exchanges},
          {"ideal",
           {{"rate_bps", summary.network.rate.bps},
            {"latency_ps", summary.network.latency.ps()},
            {"time_ps", summary.ideal.ps()},
            {"computing_ps", summary.computing.ps()},
            {"messages_ps", summary.exchanging.ps()},
            {"waiting_ps", summary.waiting.ps()}}},
          {"notes", trace.notes}};
}

void print_job(const JobOptions& options) {
  if (is_run_folder(options.file)) return print_run_jobs(options.file, options.json, options.run);
  if (options.run.asked()) {
    throw InputError("--csv, --chrome and --inspector: expected a run folder, not a job's file");
  }
  const job::Trace trace = job::read_trace(options.file, trace_options(options));
  const job::IdealNetwork network{read_yaml_text(options.rate, "--rate").as_rate(),
                                  read_yaml_text(options.latency, "--latency").as_time()};
  const job::JobSummary summary = summary_of(trace.graph, network);
  if (options.json) {
    fmt::print("{}\n", printed(to_json(summary, trace), "job"));
    return;
  }
  fmt::print("format     {}\n{}", name_of(trace.format), to_text(summary));
  for (const std::string& note : trace.notes) fmt::print("note       {}\n", note);
}

}  // namespace

void add_job_verb(CLI::App& app, CliResult&) {
  auto options = std::make_shared<JobOptions>();  // shared with the callback
  CLI::App* verb = add_verb(app, "job");
  verb->add_option(
          "FILE", options->file,
          "htsim's .cm, a SimAI or GOAL file, the prefix of Chakra's PREFIX.0.et, or what "
          "PyTorch or NCCL's Inspector measured: a file, or a folder with one a rank; or a "
          "run folder, or latest, whose jobs are shown step by step")
      ->required();
  verb->add_option("--format", options->format,
                   "cm, simai, chakra, goal, et, kineto or inspector (default: found out)")
      ->check(CLI::IsMember({"cm", "simai", "chakra", "goal", "et", "kineto", "inspector"}));
  verb->add_option("--time-unit", options->time_unit,
                   "of numbers whose unit the file does not name: ps, ns or us")
      ->check(CLI::IsMember({"ps", "ns", "us"}));
  verb->add_option("--ranks", options->ranks, "how many, where the file does not say")
      ->check(CLI::Range(1u, job::kMaxRanks));
  verb->add_option("--steps", options->steps, "so often what describes one step")
      ->check(CLI::Range(1u, 10'000u))
      ->capture_default_str();
  verb->add_option("--rate", options->rate, "of a rank, for the ideal time")->capture_default_str();
  verb->add_option("--latency", options->latency, "one way, for the ideal time")
      ->capture_default_str();
  CLI::Option* json = verb->add_flag("--json", options->json, "as JSON");
  verb->add_flag("--csv", options->run.csv, "of a run: a row a step, as CSV")->excludes(json);
  verb->add_option("--chrome", options->run.chrome,
                   "of a run: also writes a lane a rank into this file, as a Chrome trace");
  verb->add_option(
      "--inspector", options->run.inspector,
      "of a run: also writes its collectives into this file, as NCCL's Inspector does");
  verb->footer(
      "The ideal time has no losses and no queues but a rank's own: nothing is run.\n"
      "Example: mrclab job tests/job/samples/htsim-alltoall_serial_16n.cm\n"
      "         mrclab job llama.txt --ranks 16 --steps 2\n"
      "         mrclab job latest --chrome job.json");
  verb->callback([options] { print_job(*options); });
}

}  // namespace mrclab::lab
