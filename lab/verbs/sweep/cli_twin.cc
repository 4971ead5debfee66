#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>
#include <memory>

#include "console/json_print.h"
#include "console/progress.h"
#include "console/terminal.h"
#include "lab/twin/real_cost.h"
#include "lab/twin/twin.h"
#include "lab/twin/twin_axis.h"
#include "lab/twin/twin_data.h"
#include "lab/twin/twin_set.h"
#include "lab/twin/twin_table.h"
#include "lab/twin/twin_text.h"
#include "lab/verbs/cli.h"
#include "netio/system/output_folder.h"
#include "scenario/simulation/work_end.h"
#include "scenario/spec/scenario_document.h"

namespace mrclab::lab {
namespace {

struct TwinVerbOptions {
  std::string scenario;
  std::string transport;
  std::vector<std::string> also, over;
  std::optional<uint64_t> seed;
  std::string end;
  TwinOptions twins;
  std::string larger;
  std::vector<double> factors;
  std::vector<std::string> scales;
  uint32_t gpus = 0;
  double price = 0;
  bool json = false;
};

/// "1/8000" or 8000.
uint32_t scale_of(const std::string& word) {
  const std::string digits = word.starts_with("1/") ? word.substr(2) : word;
  uint32_t scale = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), scale);
  if (error != std::errc() || end != digits.data() + digits.size() || scale == 0) {
    throw InputError("--scale: found " + in_quotes(word) + ": expected such as 1/8000");
  }
  return scale;
}

/// The sizes of both scenarios, as shares of the job.
RealJob job_of(const TwinVerbOptions& options) {
  if (!options.scales.empty()) {
    if (options.scales.size() != 2) throw InputError("--scale: expected two: 1/8000,1/4000");
    const auto share = [](const std::string& word) {
      return Probability{Probability::kOne / scale_of(word)};
    };
    return {share(options.scales[0]), share(options.scales[1]), options.gpus, options.price};
  }
  if (options.factors.size() != 2) throw InputError("--larger: expected --factors K,L beside it");
  const auto share = [](double factor) {
    return Probability{static_cast<uint32_t>(std::lround(factor * Probability::kOne))};
  };
  return {share(options.factors[0]), share(options.factors[1]), options.gpus, options.price};
}

/// A scenario with what counts as a fault of it.
struct TwinInput {
  TwinVariant variant;
  FaultGroups groups;
};

TwinInput read_input(const std::string& word, const TwinVerbOptions& options) {
  ScenarioOverrides overrides;
  overrides.seed = options.seed;
  if (!options.end.empty()) overrides.end = read_yaml_text(options.end, "--end").as_time();
  const std::filesystem::path file = find_scenario(word);
  TwinInput input{{"", "", with_open_end(read_scenario_file(file, overrides))}, {}};
  Scenario& scenario = input.variant.scenario;
  const auto list = read_scenario_document(file, {}).get("faults");
  input.groups = list ? groups_of_entries(scenario, *list) : TwinCase(scenario).groups;
  if (!options.transport.empty()) {
    scenario = under_transport(scenario, find_contrast(scenario, options.transport));
  }
  return input;
}

/// All that is run, and known before the first run: the scenario as it is and as it is varied, then as large as the two
/// sizes that are held against each other.
std::vector<TwinInput> inputs_of(const TwinVerbOptions& options) {
  const TwinInput as_it_is = read_input(options.scenario, options);
  const Scenario& scenario = as_it_is.variant.scenario;
  if (!options.scales.empty()) {
    std::vector<TwinInput> sizes;
    for (const std::string& word : options.scales) {
      sizes.push_back({{"", "", at_scale(scenario, scale_of(word))}, as_it_is.groups});
    }
    return sizes;
  }
  std::vector<std::string> over = options.over;
  for (const std::string& name : options.also) over.push_back("transport=" + name);
  std::vector<TwinInput> inputs;
  for (TwinVariant& variant : variants_of(scenario, over)) {
    inputs.push_back({std::move(variant), as_it_is.groups});
  }
  if (!options.larger.empty()) inputs.push_back(read_input(options.larger, options));
  return inputs;
}

int twin_command(TwinVerbOptions options) {
  std::optional<RealJob> job;
  if (!options.larger.empty() || !options.scales.empty()) job = job_of(options);
  const std::vector<TwinInput> inputs = inputs_of(options);
  const InterruptGuard guard;
  options.twins.interrupted = guard.question();
  std::vector<TwinReport> reports;
  int code = 0;
  for (const auto& [variant, groups] : inputs) {
    reports.push_back(run_twins({variant.scenario, groups}, options.twins));
    reports.back().axis = variant.axis;
    reports.back().value = variant.value;
    if (!reports.back().inconclusive.empty()) code = 3;
  }
  nlohmann::ordered_json document = to_json(reports);
  std::optional<RealCosts> real;
  if (job && code == 0) {
    real = real_costs(reports.front(), reports.back(), *job);
    document[0]["real"] = to_json(*real);
  }
  const std::string json = printed(document, "twin") + "\n";
  if (!options.twins.out.empty()) {
    netio::OutputFolder::make(options.twins.out).write_file("twin.json", json);
  }
  const analysis::TableOptions table{.width = table_columns(stdout),
                                     .colour = wants_colour(stdout)};
  const bool one_table = !options.over.empty();
  fmt::print("{}", options.json ? json
                   : one_table  ? twin_table(reports, table)
                                : twin_text(reports, table));
  if (real && !options.json) fmt::print("\n{}", real_text(*real, table));
  return code;
}

}  // namespace

void add_twin_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<TwinVerbOptions>();  // shared with the callback
  CLI::App* twin = add_verb(app, "twin");
  twin->add_option("SCENARIO", options->scenario, "a shipped incident, its id (L5) or a file")
      ->required();
  twin->add_option("--also", options->also,
                   "the same under other transports, as in 'compare': roce,one-path")
      ->delimiter(',')
      ->allow_extra_args(false);
  twin->add_option("--transport", options->transport, "in place of the scenario's, as in 'run'");
  twin->add_option("--over", options->over,
                   "one table over planes, transport, optics, routing, ranks; with\n"
                   "values: planes=1:4,optics=1:2")
      ->delimiter(',')
      ->allow_extra_args(false);
  twin->add_option("--seed", options->seed, "in place of the scenario's")
      ->check(CLI::Range(uint64_t{0}, kMaxSeed));
  twin->add_option("--end", options->end,
                   "in place of the scenario's: 10ms, where a variant needs longer");
  twin->add_option("--jobs", options->twins.jobs, "processes (default: one for each processor)")
      ->check(CLI::Range(1, 1024));
  twin->add_option("--out", options->twins.out, "a folder for twin.json and the run of each twin");
  CLI::Option* larger =
      twin->add_option("--larger", options->larger,
                       "the same scenario with more of the job's work: the costs at\n"
                       "the job's own size follow from both");
  CLI::Option* scale =
      twin->add_option("--scale", options->scales,
                       "the job of SCENARIO at these two scales, with its faults as\n"
                       "much longer: 1/8000,1/4000; in place of --larger")
          ->delimiter(',')
          ->allow_extra_args(false)
          ->excludes(larger);
  twin->add_option("--factors", options->factors,
                   "which shares of the job's bytes and computing SCENARIO and\n"
                   "--larger have: 0.001,0.002")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(larger)
      ->check(CLI::Range(0.0, 1.0));
  twin->add_option("--gpus", options->gpus, "that wait for the job, for GPU-hours")
      ->check(CLI::Range(1, 10'000'000));
  twin->add_option("--price", options->price, "of a GPU-hour")->check(CLI::Range(0.0, 1e6));
  for (const char* of_real : {"--gpus", "--price"}) {
    twin->get_option(of_real)->check(
        [larger, scale](const std::string&) {
          return larger->count() + scale->count() > 0 ? ""
                                                      : "expected --scale or --larger beside it";
        },
        "");
  }
  twin->add_flag("--json", options->json, "as JSON");
  twin->footer(
      "Simulates the scenario with all its faults, without each, with each alone, with\n"
      "none; of up to four faults every set. A fault is an entry of the schedule.\n"
      "marginal: what taking it out saves; alone: what it costs where nothing else is\n"
      "broken; share: what it adds, in the mean over all orders of adding faults.\n"
      "Exit code 0: it can be said; 3: inconclusive, with the reason.\n"
      "Example: mrclab twin random-loss-ring");
  twin->callback([options, &result] { result.code = twin_command(*options); });
}

}  // namespace mrclab::lab
