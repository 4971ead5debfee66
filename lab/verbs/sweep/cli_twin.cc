#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>

#include "console/json_print.h"
#include "console/progress.h"
#include "console/terminal.h"
#include "lab/twin/real_cost.h"
#include "lab/twin/twin.h"
#include "lab/twin/twin_data.h"
#include "lab/twin/twin_text.h"
#include "lab/verbs/cli.h"
#include "netio/system/output_folder.h"

namespace mrclab::lab {
namespace {

struct TwinVerbOptions {
  std::string scenario;
  std::vector<std::string> also;
  std::optional<uint64_t> seed;
  TwinOptions twins;
  std::string larger;
  std::vector<double> factors;
  uint32_t gpus = 0;
  double price = 0;
  bool json = false;
};

/// The sizes of both scenarios, as shares of the job.
RealJob job_of(const TwinVerbOptions& options) {
  if (options.factors.size() != 2) throw InputError("--larger: expected --factors K,L beside it");
  const auto share = [](double factor) {
    return Probability{static_cast<uint32_t>(std::lround(factor * Probability::kOne))};
  };
  return {share(options.factors[0]), share(options.factors[1]), options.gpus, options.price};
}

/// The scenario as it is, then under the other transports; all names are known before the first run.
std::vector<std::pair<std::string, Scenario>> scenarios_of(const TwinVerbOptions& options) {
  ScenarioOverrides overrides;
  overrides.seed = options.seed;
  const Scenario scenario = load_scenario(options.scenario, overrides);
  std::vector<std::pair<std::string, Scenario>> all{{"", scenario}};
  for (const std::string& name : options.also) {
    all.emplace_back(name, under_transport(scenario, find_contrast(scenario, name)));
  }
  if (!options.larger.empty()) all.emplace_back("", load_scenario(options.larger, overrides));
  return all;
}

int twin_command(TwinVerbOptions options) {
  std::optional<RealJob> job;
  if (!options.larger.empty()) job = job_of(options);
  const auto scenarios = scenarios_of(options);
  const InterruptGuard guard;
  options.twins.interrupted = guard.question();
  std::vector<TwinReport> reports;
  int code = 0;
  for (const auto& [transport, scenario] : scenarios) {
    reports.push_back(run_twins(scenario, options.twins));
    reports.back().transport = transport;
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
  fmt::print("{}", options.json ? json : twin_text(reports, table));
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
  twin->add_option("--seed", options->seed, "in place of the scenario's")
      ->check(CLI::Range(uint64_t{0}, kMaxSeed));
  twin->add_option("--jobs", options->twins.jobs, "processes (default: one for each processor)")
      ->check(CLI::Range(1, 1024));
  twin->add_option("--out", options->twins.out,
                   "a folder for twin.json and the run of each twin, simulated once more");
  CLI::Option* larger =
      twin->add_option("--larger", options->larger,
                       "the same scenario with more of the job's work: the costs at\n"
                       "the job's own size follow from both");
  twin->add_option("--factors", options->factors,
                   "which shares of the job's bytes and computing SCENARIO and\n"
                   "--larger have: 0.001,0.002")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->needs(larger)
      ->check(CLI::Range(0.0, 1.0));
  twin->add_option("--gpus", options->gpus, "that wait for the job, for GPU-hours")
      ->needs(larger)
      ->check(CLI::Range(1, 10'000'000));
  twin->add_option("--price", options->price, "of a GPU-hour")
      ->needs(larger)
      ->check(CLI::Range(0.0, 1e6));
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
