#include "lab/run/sim_run.h"

#include <fmt/format.h>

#include "console/progress.h"
#include "console/stopwatch.h"
#include "lab/run/held_simulation.h"
#include "lab/run/rank_run.h"
#include "lab/run/simulated_run.h"
#include "scenario/judging/run_inputs.h"

namespace mrclab::lab {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// How far it is, and what it takes on the disk until its end.
void show_simulated(const Scenario& scenario, const RunFolder& folder, FabricTime now,
                    Progress& progress) {
  if (!progress.due()) return;
  const double done = static_cast<double>(now.ps()) / static_cast<double>(scenario.stop().ps());
  const uint64_t bytes = folder_bytes(folder);
  std::string text = fmt::format("{} of {}, {} on disk", to_string(now), to_string(scenario.stop()),
                                 byte_text(bytes));
  std::error_code unknown;
  const auto space = std::filesystem::space(folder.path, unknown);
  const double to_come = done > 0 ? static_cast<double>(bytes) * (1 - done) / done : 0;
  if (!unknown && to_come > static_cast<double>(space.available)) {
    text += fmt::format(" and only {} free", byte_text(space.available));
  }
  progress.show(done, text);
}

}  // namespace

WorldOutcome run_sim(const Scenario& scenario, const RunOptions& options, const RunFolder& folder,
                     RunResult& result, std::optional<analysis::Evidence>& evidence) {
  WorldOutcome outcome;
  const uint32_t by_size =
      options.ranks != nullptr ? 1 : default_threads(scenario, options.history_bytes);
  const uint32_t chosen = options.threads != 0 ? options.threads : by_size;
  const uint32_t threads = has_held_programs(scenario) ? 1 : chosen;
  const bool looked_at = options.watch != nullptr || is_looked_at(scenario, options.history_bytes);
  // Who watches beside the judge is called by one thread.
  const bool side_by_side = options.watch == nullptr && is_watched_by_threads(scenario);
  if (looked_at && options.ranks == nullptr && (threads == 1 || side_by_side)) {
    evidence.emplace(scenario.topology, scenario.schedule, scenario.stop(),
                     watched_at_switches(scenario));
    evidence->follow(followed_senders(scenario));
  }
  const auto start = SteadyClock::now();
  {
    Progress progress("simulating");
    SimOptions sim{.capture_bytes = options.capture_bytes,
                   .history_bytes = options.history_bytes,
                   .threads = threads,
                   .ranks = options.ranks,
                   .evidence = evidence ? &*evidence : nullptr};
    if (options.watch != nullptr && evidence) {
      sim.observer = options.watch->observer;
      sim.at_end = [&](const Simulation& simulation, const WorldOutcome&) {
        options.watch->at_end(simulation);
      };
    }
    const auto go_on = [&](FabricTime now) {
      if (options.interrupted && options.interrupted()) return false;
      if (options.progress) show_simulated(scenario, folder, now, progress);
      return true;
    };
    outcome = options.ranks != nullptr ? run_over_ranks(scenario, folder, sim, go_on)
                                       : run_simulated(scenario, folder, sim, go_on);
  }
  result.run_seconds = seconds_since(start);
  if (evidence) evidence->finish();
  if (evidence && options.watch != nullptr) options.watch->look(*evidence);
  return outcome;
}

}  // namespace mrclab::lab
