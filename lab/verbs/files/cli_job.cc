// job: what a file of somebody's job, or a scenario's job, computes and exchanges; what the jobs of a run were like.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "console/json_print.h"
#include "endpoint/workload/workload_spec.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/input_error.h"
#include "fabric/text/yaml.h"
#include "job/import/trace_bytes.h"
#include "job/import/trace_file.h"
#include "job/measure/job_measures.h"
#include "job/run/job_summary.h"
#include "job/serve/request_trace.h"
#include "job/serve/serve_measures.h"
#include "lab/verbs/cli.h"
#include "lab/verbs/files/job_run.h"
#include "scenario/judging/measured_jobs.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {
namespace {

struct JobOptions {
  std::string file, format, time_unit, rate, latency;
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

/// What is not given is that of a large fabric's rank, or of the scenario's fabric.
job::IdealNetwork network_of(const JobOptions& options, const Topology* fabric) {
  job::IdealNetwork network{BitRate::from_gbps(800), FabricTime::from_us(5)};
  if (fabric != nullptr) {
    network = ideal_network(*fabric);
  }
  if (!options.rate.empty()) network.rate = read_yaml_text(options.rate, "--rate").as_rate();
  if (!options.latency.empty()) {
    network.latency = read_yaml_text(options.latency, "--latency").as_time();
  }
  if (network.rate.bps == 0) throw InputError("--rate: expected a rate above 0");
  return network;
}

nlohmann::ordered_json to_json(const job::JobSummary& summary) {
  nlohmann::ordered_json exchanges = nlohmann::ordered_json::array();
  for (const job::ExchangeCount& entry : summary.exchanges) {
    exchanges.push_back({{"what", entry.what}, {"count", entry.count}, {"bytes", entry.bytes}});
  }
  nlohmann::ordered_json bound = nlohmann::ordered_json::array();
  for (const job::LatencyBound& entry : summary.latency_bound) {
    bound.push_back({{"what", entry.what},
                     {"count", entry.count},
                     {"rounds", entry.rounds},
                     {"share", entry.share}});
  }
  return {{"ranks", summary.ranks},
          {"operations", summary.operations},
          {"messages", summary.messages},
          {"computing_ps",
           {{"least", summary.least_computing.ps()}, {"most", summary.most_computing.ps()}}},
          {"most_sent_bytes", summary.most_sent},
          {"exchanges", exchanges},
          {"latency_bound", bound},
          {"ideal",
           {{"rate_bps", summary.network.rate.bps},
            {"latency_ps", summary.network.latency.ps()},
            {"time_ps", summary.ideal.ps()},
            {"computing_ps", summary.computing.ps()},
            {"messages_ps", summary.exchanging.ps()},
            {"waiting_ps", summary.waiting.ps()}}}};
}

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) fmt::print("note       {}\n", note);
}

void print_trace(const JobOptions& options) {
  const job::Trace trace = job::read_trace(options.file, trace_options(options));
  const job::JobSummary summary = summary_of(trace.graph, network_of(options, nullptr));
  if (options.json) {
    nlohmann::ordered_json line{{"format", name_of(trace.format)}};
    line.update(to_json(summary));
    line["notes"] = trace.notes;
    fmt::print("{}\n", printed(line, "job"));
    return;
  }
  fmt::print("format     {}\n{}", name_of(trace.format), to_text(summary));
  print_notes(trace.notes);
}

/// "mean 2048, median 1469, at most 7436" of tokens.
std::string token_text(std::vector<uint32_t> tokens) {
  std::sort(tokens.begin(), tokens.end());
  uint64_t sum = 0;
  for (const uint32_t one : tokens) sum += one;
  return fmt::format("mean {}, median {}, at most {} tokens", sum / tokens.size(),
                     tokens[(tokens.size() - 1) / 2], tokens.back());
}

void print_requests(const JobOptions& options, job::RequestFormat format) {
  const job::RequestTrace trace = job::read_requests(job::read_trace_bytes(options.file),
                                                     options.file, format, job::kMaxRequests);
  const double seconds = trace.requests.back().arrival.us() / 1e6;
  if (options.json) {
    fmt::print("{}\n", printed(nlohmann::ordered_json{{"format", name_of(trace.format)},
                                                      {"requests", trace.requests.size()},
                                                      {"failed", trace.failed},
                                                      {"seconds", seconds}},
                               "job"));
    return;
  }
  std::vector<uint32_t> input, output;
  for (const job::TracedRequest& one : trace.requests) {
    input.push_back(one.input);
    output.push_back(one.output);
  }
  fmt::print("format     {}\n", name_of(trace.format));
  fmt::print(
      "requests   {} in {:.1f} s{}\n", trace.requests.size(), seconds,
      trace.failed == 0 ? "" : fmt::format("; {} without a prompt or an answer", trace.failed));
  fmt::print("prompts    {}\nanswers    {}\n", token_text(std::move(input)),
             token_text(std::move(output)));
}

/// From arrival to the first token, on an ideal network.
std::vector<FabricTime> ideal_first_tokens(const endpoint::JobPlan& plan,
                                           const job::IdealNetwork& network) {
  const job::ServeMeasures measures =
      measure_serve(plan.planned, *plan.serve, plan.program, ideal_times(plan.program, network));
  std::vector<FabricTime> times;
  for (size_t i = 0; i < measures.requests.size(); ++i) {
    const FabricTime first = measures.requests[i].first_token;
    if (first == FabricTime::never()) continue;
    times.push_back(first - plan.serve->requests[i].request.arrival);
  }
  return times;
}

/// Of each job its summary, and the time of its steps on an ideal network.
void print_scenario(const JobOptions& options) {
  const Scenario scenario = load_scenario(options.file);
  const job::IdealNetwork network = network_of(options, &scenario.topology);
  nlohmann::ordered_json jobs = nlohmann::ordered_json::array();
  bool any = false;
  for (const endpoint::WorkloadSpec& spec : scenario.workload) {
    const auto* const work = std::get_if<endpoint::JobWorkload>(&spec);
    if (work == nullptr) continue;
    const job::PlannedJob& planned = work->plan->planned;
    const job::JobSummary summary = summary_of(planned.graph, network, planned.sites);
    const job::JobMeasures ideal =
        measure_job(planned, work->plan->program, ideal_times(work->plan->program, network));
    const bool serves = work->plan->serve.has_value();
    const job::TimeSpread first_token =
        serves ? job::spread_of(ideal_first_tokens(*work->plan, network)) : job::TimeSpread{};
    if (options.json) {
      nlohmann::ordered_json line{{"name", planned.name}, {"steps", planned.steps}};
      line.update(to_json(summary));
      line["ideal"]["step_ps"] = ideal.step_time.mean.ps();
      if (serves) line["ideal"]["ttft_ps"] = first_token.p50.ps();
      line["notes"] = planned.notes;
      jobs.push_back(std::move(line));
      continue;
    }
    if (serves) {
      fmt::print("{}service    {}, {}\n{}", any ? "\n" : "", planned.name,
                 counted_noun(work->plan->serve->requests.size(), "request"), to_text(summary));
      fmt::print("first token {} in the median, {} at most, without loss or queues\n",
                 to_string(first_token.p50), to_string(first_token.max));
    } else {
      fmt::print("{}job        {}, {}\n{}", any ? "\n" : "", planned.name,
                 counted_noun(planned.steps, "step"), to_text(summary));
      fmt::print("a step     {} on average, {} at most, without loss or queues\n",
                 to_string(ideal.step_time.mean), to_string(ideal.step_time.max));
    }
    print_notes(planned.notes);
    any = true;
  }
  if (options.json && !jobs.empty()) {
    fmt::print("{}\n", printed(nlohmann::ordered_json{{"jobs", jobs}}, "job"));
  }
  if (!any && jobs.empty()) {
    throw InputError(options.file +
                     ": no job in its workload: expected \"- job: {...}\" or \"- serve: {...}\"");
  }
}

void print_job(const JobOptions& options) {
  if (is_run_folder(options.file)) return print_run_jobs(options.file, options.json, options.run);
  if (options.run.asked()) {
    throw InputError("--csv, --chrome and --inspector: expected a run folder, not a job's file");
  }
  if (options.file.ends_with(".yaml") || options.file.ends_with(".yml")) {
    return print_scenario(options);
  }
  if (const auto format = job::request_format_named(options.format)) {
    return print_requests(options, *format);
  }
  print_trace(options);
}

}  // namespace

void add_job_verb(CLI::App& app, CliResult&) {
  auto options = std::make_shared<JobOptions>();  // shared with the callback
  CLI::App* verb = add_verb(app, "job");
  verb->add_option(
          "FILE", options->file,
          "a scenario's .yaml, htsim's .cm, a SimAI or GOAL file, the prefix of Chakra's PREFIX.0.et, or what "
          "PyTorch, NCCL's Inspector or NCCL's log has: a file, or a folder with one a rank; or a "
          "run folder, or latest, whose jobs are shown step by step")
      ->required();
  verb->add_option(
          "--format", options->format,
          "cm, simai, chakra, goal, et, kineto, inspector or nccl (default: found out); of requests azure, "
          "mooncake, burstgpt or vidur")
      ->check(CLI::IsMember({"cm", "simai", "chakra", "goal", "et", "kineto", "inspector", "nccl",
                             "azure", "mooncake", "burstgpt", "vidur"})
                  .description(""));  // of one line, too long
  verb->add_option("--time-unit", options->time_unit,
                   "of numbers whose unit the file does not name: ps, ns or us")
      ->check(CLI::IsMember({"ps", "ns", "us"}));
  verb->add_option("--ranks", options->ranks, "how many, where the file does not say")
      ->check(CLI::Range(1u, job::kMaxRanks));
  verb->add_option("--steps", options->steps, "so often what describes one step")
      ->check(CLI::Range(1u, 10'000u))
      ->capture_default_str();
  verb->add_option("--rate", options->rate,
                   "of a rank, for the ideal time (default: its fabric's, 800Gb/s)");
  verb->add_option("--latency", options->latency,
                   "one way, for the ideal time (default: its fabric's, 5us)");
  CLI::Option* json = verb->add_flag("--json", options->json, "as JSON");
  verb->add_flag("--csv", options->run.csv, "of a run: a row a step, as CSV")->excludes(json);
  verb->add_option("--chrome", options->run.chrome,
                   "of a run: also writes a lane a rank into this file, as a Chrome trace");
  verb->add_option(
      "--inspector", options->run.inspector,
      "of a run: also writes its collectives into this file, as NCCL's Inspector does");
  verb->footer(
      "The ideal time has no losses and no queues but a rank's own: nothing is run.\n"
      "Example: mrclab job docs/job.yaml\n"
      "         mrclab job tests/job/samples/htsim-alltoall_serial_16n.cm\n"
      "         mrclab job llama.txt --ranks 16 --steps 2\n"
      "         mrclab job latest --chrome job.json");
  verb->callback([options] { print_job(*options); });
}

}  // namespace mrclab::lab
