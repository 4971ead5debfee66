#include "lab/chaos/shrink.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <system_error>

#include "console/interrupt.h"
#include "console/progress.h"
#include "fabric/text/counted_noun.h"
#include "faults/shrink.h"
#include "lab/chaos/chaos_scenario.h"
#include "lab/chaos/chaos_workload.h"
#include "lab/chaos/reductions.h"
#include "lab/chaos/task_pool.h"
#include "lab/run/scenario_run.h"
#include "lab/run/watched_run.h"
#include "netio/system/output_folder.h"
#include "recorded/diff/recorded_run.h"
#include "recorded/folder/run_folder.h"
#include "recorded/folder/run_manifest.h"

namespace mrclab::lab {
namespace {

constexpr std::string_view kCrash = "crash";

/// The checks that fail, one a line, first to last; "crash" if the run does not end well.
std::string failing_checks(
    const Scenario& scenario, const IsInterrupted& interrupted = {},
    const std::function<void()>& waiting = [] {}) {
  TaskPool pool(1, [&](uint64_t) {
    std::string names;
    for (const analysis::CheckResult& check : run_checked(scenario).checks) {
      if (check.result == analysis::Result::kFail) names += check.name + "\n";
    }
    return names;
  });
  pool.start(0);
  while (true) {
    if (interrupted && interrupted()) throw Interrupted("interrupted");
    const auto answer = pool.wait(std::chrono::milliseconds(100));
    waiting();
    if (answer) return answer->death.empty() ? answer->text : std::string(kCrash) + "\n";
  }
}

bool has_line(const std::string& lines, const std::string& line) {
  return ("\n" + lines).find("\n" + line + "\n") != std::string::npos;
}

class Shrinker {
 public:
  Shrinker(const Scenario& scenario, uint32_t budget, const ShrinkProgress& progress,
           const IsInterrupted& interrupted)
      : original_(scenario),
        smallest_(scenario),
        budget_(budget),
        progress_(progress),
        interrupted_by_(interrupted) {}

  /// Shrinks until nothing helps, the budget is spent, or the user interrupts.
  ShrunkScenario run() {
    const std::string checks =
        failing_checks(original_, interrupted_by_, [this] { report_progress(); });
    ++runs_;
    check_ = checks.substr(0, checks.find('\n'));
    if (check_.empty()) {
      throw InputError(original_.name + ": it does not fail: expected a run or scenario that does");
    }
    try {
      reduce();
    } catch (const Interrupted&) {
      interrupted_ = true;
    }
    return {smallest_, check_, runs_, comment(), interrupted_};
  }

 private:
  void report_progress() const {
    if (progress_) progress_(runs_, smallest_);
  }

  void reduce() {
    expect_only_what_fails();
    while (runs_ < budget_) {
      const uint32_t before = accepted_;
      fewer_faults();
      fewer_targets();
      for (const Reduction& reduction : reductions()) apply(reduction);
      if (accepted_ == before) break;
    }
  }

  bool still_fails(const Scenario& scenario) {
    if (runs_ >= budget_) return false;
    ++runs_;
    if (!has_line(failing_checks(scenario, interrupted_by_, [this] { report_progress(); }), check_))
      return false;
    ++accepted_;
    smallest_ = scenario;
    report_progress();
    return true;
  }

  /// Other expectations only stand in the way of a shorter run.
  void expect_only_what_fails() {
    Scenario only = original_;
    only.expect = analysis::without_bundles(only.expect);
    std::erase_if(only.expect, [&](const analysis::Expectation& expectation) {
      return analysis::name_of(expectation) != check_;
    });
    if (const auto valid = read_back(only)) still_fails(*valid);
  }

  void fewer_faults() {
    const Scenario base = smallest_;
    faults::minimize<faults::Fault>(base.faults, [&](const std::vector<faults::Fault>& faults) {
      const auto with = with_faults(base, faults);
      return with && still_fails(*with);
    });
  }

  /// Comes before all that takes many runs, because a fault of fewer targets
  /// makes later tries cheaper.
  void fewer_targets() {
    for (size_t i = 0; i < smallest_.faults.size(); ++i) {
      const Scenario base = smallest_;
      faults::fewest_targets(base.faults[i], base.topology, [&](const faults::Fault& fewer) {
        std::vector<faults::Fault> list = base.faults;
        list[i] = fewer;
        const auto with = with_faults(base, std::move(list));
        return with && still_fails(*with);
      });
    }
  }

  void apply(const Reduction& reduction) {
    for (bool smaller = true; smaller && runs_ < budget_;) {
      const std::vector<Scenario> offers = reduction.offers(smallest_);
      smaller = std::any_of(offers.begin(), offers.end(),
                            [&](const Scenario& offer) { return still_fails(offer); });
    }
  }

  std::string comment() const {
    std::string text = fmt::format("# Shrunk from {}, seed {}, in {}{}. It still fails {}.\n",
                                   original_.name, original_.seed, counted_noun(runs_, "run"),
                                   interrupted_       ? " until it was interrupted"
                                   : runs_ >= budget_ ? " (all that were allowed)"
                                                      : "",
                                   check_);
    const auto line = [&](const char* what, const auto& before, const auto& after) {
      if (before != after) text += fmt::format("#   {:<10} {} -> {}\n", what, before, after);
    };
    const auto hosts = [](const Scenario& scenario) { return hosts_of(scenario.workload).size(); };
    line("faults", original_.faults.size(), smallest_.faults.size());
    line("workloads", original_.workload.size(), smallest_.workload.size());
    line("hosts", hosts(original_), hosts(smallest_));
    line("planes", original_.fabric.planes, smallest_.fabric.planes);
    line("nodes", original_.topology.nodes.size(), smallest_.topology.nodes.size());
    line("transport", endpoint::to_yaml(original_.transport),
         endpoint::to_yaml(smallest_.transport));
    line("end", exact(original_.end), exact(smallest_.end));
    if (original_.faults != smallest_.faults) {
      text += "# The faults it had:\n";
      for (const faults::Fault& fault : original_.faults) {
        text += "#   " + faults::describe(fault, original_.topology) + "\n";
      }
    }
    return text;
  }

  const Scenario& original_;
  Scenario smallest_;
  uint32_t budget_;
  const ShrinkProgress& progress_;
  const IsInterrupted& interrupted_by_;
  std::string check_;
  uint32_t runs_ = 0;
  uint32_t accepted_ = 0;
  bool interrupted_ = false;
};

/// A run folder, a scenario, or with a seed a fabric: what chaos made of it.
Scenario scenario_to_shrink(const ShrinkOptions& options) {
  ScenarioOverrides overrides;
  overrides.seed = options.seed;
  if (options.target == "latest" || std::filesystem::is_directory(options.target)) {
    const std::filesystem::path folder = named_run(options.target);
    RunManifest(folder).require({"scenario.yaml"});
    return read_scenario_file(folder / "scenario.yaml", overrides);
  }
  if (options.seed) {
    const ChaosBase base = load_chaos_base(options.target);
    if (!base.scenario) return chaos_scenario(base, *options.seed).scenario;
  }
  return load_scenario(options.target, overrides);
}

/// Where the result goes; in a folder, under its usual name. Throws InputError if it cannot be
/// written: before the work, not after it.
std::filesystem::path result_file(const ShrinkOptions& options, const Scenario& scenario) {
  std::filesystem::path out = options.out.value_or(default_runs());
  if (!options.out || std::filesystem::is_directory(out)) out /= scenario.name + "-shrunk.yaml";
  try {
    const auto parent = out.has_parent_path() ? out.parent_path() : std::filesystem::path(".");
    const netio::OutputFolder folder = netio::OutputFolder::make(parent);
    const std::string tried = out.filename().string() + ".tried";
    folder.write_file(tried, "");
    std::filesystem::remove(folder.held() / tried);
  } catch (const netio::SystemError& error) {
    throw InputError("--out: found " + in_quotes(out.string()) + ", " + error.what() +
                     ": expected a folder or file that can be written");
  }
  return out;
}

}  // namespace

std::string failing_check(const Scenario& scenario) {
  const std::string checks = failing_checks(scenario);
  return checks.substr(0, checks.find('\n'));
}

ShrunkScenario shrink(const Scenario& scenario, uint32_t budget, const ShrinkProgress& progress,
                      const IsInterrupted& interrupted) {
  return Shrinker(scenario, budget, progress, interrupted).run();
}

int shrink_command(const ShrinkOptions& options) {
  const InterruptGuard guard;
  const Scenario scenario = scenario_to_shrink(options);
  const std::filesystem::path out = result_file(options, scenario);
  ShrunkScenario shrunk;
  {
    Progress progress("shrink");
    shrunk = shrink(
        scenario, options.budget,
        [&](uint32_t runs, const Scenario& smallest) {
          progress.show(
              static_cast<double>(runs) / options.budget,
              fmt::format("{} of at most {}: {}, {}, {}, end {}", runs,
                          counted_noun(options.budget, "run"),
                          counted_noun(smallest.faults.size(), "fault"),
                          counted_noun(hosts_of(smallest.workload).size(), "host"),
                          counted_noun(smallest.fabric.planes, "plane"), to_string(smallest.end)));
        },
        guard.question());
  }
  netio::write_file(out, shrunk.comment + to_yaml(shrunk.scenario));
  fmt::print("{}", shrunk.comment);
  for (const faults::Fault& fault : shrunk.scenario.faults) {
    fmt::print("fault       {}\n", faults::describe(fault, shrunk.scenario.topology));
  }
  fmt::print("scenario    {}\n", out.string());
  if (!shrunk.interrupted) return 0;
  std::fflush(stdout);
  fmt::print(stderr, "mrclab: interrupted; a longer shrink may find a smaller one\n");
  return 3;
}

}  // namespace mrclab::lab
