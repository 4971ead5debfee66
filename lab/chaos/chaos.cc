#include "lab/chaos/chaos.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <thread>

#include "console/interrupt.h"
#include "console/progress.h"
#include "console/stopwatch.h"
#include "console/terminal.h"
#include "console/version.h"
#include "fabric/text/counted_noun.h"
#include "fabric/topology/fabric_file.h"
#include "lab/chaos/chaos_text.h"
#include "lab/run/watched_run.h"
#include "netio/system/output_folder.h"
#include "scenario/spec/program_consent.h"

namespace mrclab::lab {
namespace {

using SteadyClock = std::chrono::steady_clock;

/// So many seeds that did not pass are printed; the report has all. Logs of campaigns have this bound.
constexpr size_t kLinesMost = 500;

/// Hash of everything that a seed's run depends on beside the seed and the version.
std::string fingerprint(const ChaosBase& base) {
  const std::string drawn_on = base.jobs ? " with jobs" : "";
  return sha256_hex(base.scenario ? to_yaml(*base.scenario)
                                  : mrclab::to_yaml(base.fabric) + drawn_on);
}

uint32_t default_jobs() { return std::max(1u, std::thread::hardware_concurrency()); }

/// The seed once more, with everything that a run leaves.
RunResult run_with_folder(const ChaosScenario& drawn, World world, const std::filesystem::path& out,
                          InterruptGuard& guard) {
  RunOptions run;
  run.world = world;
  run.runs_root = out;
  end_on_interrupt(guard, run);
  return run_scenario(drawn.scenario, run);
}

/// A few seeds on packets: each must be as in the simulator, packet for packet.
SeedResult run_live_seed(const ChaosBase& base, uint64_t seed, const std::filesystem::path& out,
                         InterruptGuard& guard) {
  const ChaosScenario drawn = chaos_scenario(base, seed);
  const RunResult live = run_with_folder(drawn, World::kLive, out, guard);
  SeedResult result = seed_result(drawn, live.verdict);
  if (!live.verdict.timing.faithful) return result;  // which is inconclusive
  const SeedResult simulated = run_chaos_seed(base, seed);
  if (result.history_sha256 == simulated.history_sha256) return result;
  result.result = analysis::Result::kFail;
  result.check = "worlds_agree";
  result.note = "the simulator's history is " + simulated.history_sha256.substr(0, 16) +
                "..., see " + live.folder.path.string();
  return result;
}

class ChaosRun {
 public:
  ChaosRun(const ChaosOptions& options, ChaosBase base, InterruptGuard& guard)
      : options_(options),
        base_(std::move(base)),
        guard_(guard),
        text_(options.json ? stderr : stdout) {
    report_.base = base_.word;
    report_.base_sha256 = fingerprint(base_);
    report_.world = std::string(name_of(options.world));
    report_.version = release_version();
    report_.seeds = options.seeds;
    report_.shard = options.shard;
    seeds_ = seeds_of(parse_seeds(options.seeds), parse_shard(options.shard));
    jobs_ = options.jobs != 0 ? options.jobs : default_jobs();
  }

  int run() {
    if (!options_.save.empty() && is_saved()) return 0;
    begin();
    std::string interrupted;
    try {
      run_seeds();
    } catch (const Interrupted& why) {
      interrupted = why.what();
    }
    finish(!interrupted.empty());
    if (interrupted.empty() && !options_.save.empty()) {
      const netio::OutputFolder folder = netio::OutputFolder::make(folder_of(options_.save));
      folder.write_file(options_.save.filename(), to_json_text(report_));
      return 0;
    }
    if (interrupted.empty()) return chaos_exit_code(report_);
    std::fflush(text_);
    fmt::print(stderr, "mrclab: {}; {} of {} done\n", interrupted, report_.results.size(),
               counted_noun(seeds_.size(), "seed"));
    return chaos_exit_code(report_) == 1 ? 1 : 3;
  }

 private:
  static std::filesystem::path folder_of(const std::filesystem::path& file) {
    return file.has_parent_path() ? file.parent_path() : ".";
  }

  /// Is there a whole report of this very job? Anything else in its place is written anew.
  bool is_saved() const {
    try {
      const ChaosReport there = read_chaos_report(options_.save);
      return there.base_sha256 == report_.base_sha256 && there.world == report_.world &&
             there.version == report_.version && there.seeds == report_.seeds &&
             there.shard == report_.shard && there.results.size() == seeds_.size();
    } catch (const InputError&) {
      return false;
    }
  }

  void begin() const {
    fmt::print(text_, "{}\n",
               chaos_title(report_, seeds_.size(), options_.world == World::kSim ? jobs_ : 1));
    std::fflush(text_);
  }

  void run_seeds() {
    if (options_.world == World::kSim) {
      simulate();
    } else {
      for (const uint64_t seed : seeds_) take(run_live_seed(base_, seed, options_.out, guard_));
    }
  }

  /// Reports the seeds that are done, even if the user did not wait for the rest.
  void finish(bool interrupted) {
    progress_.clear();
    std::sort(report_.results.begin(), report_.results.end(),
              [](const SeedResult& a, const SeedResult& b) { return a.seed < b.seed; });
    fmt::print(text_, "{}", chaos_summary(report_, seconds_since(start_)));
    if (options_.json) fmt::print("{}", to_json_text(report_));
    std::fflush(nullptr);  // a signal may end the process at once while a run is kept
    if (options_.world == World::kSim && !interrupted) keep_failures();
  }

  void simulate() {
    TaskPool pool(jobs_, [this](uint64_t seed) { return chaos_seed_text(base_, seed); });
    size_t next = 0;
    while (next < seeds_.size() || pool.busy() > 0) {
      if (guard_.interrupted()) throw Interrupted("interrupted");
      while (next < seeds_.size() && pool.idle()) pool.start(seeds_[next++]);
      if (const auto answer = pool.wait(std::chrono::milliseconds(100))) {
        take(result_of_answer(base_, answer->task, *answer));
      }
    }
  }

  void take(SeedResult result) {
    if (result.result == analysis::Result::kFail) ++failed_;
    if (result.result != analysis::Result::kPass && ++told_ <= kLinesMost) {
      progress_.clear();
      fmt::print(text_, "{}", chaos_line(report_, result, text_));
      std::fflush(text_);
    }
    report_.results.push_back(std::move(result));
    const size_t done = report_.results.size();
    progress_.show(
        static_cast<double>(done) / static_cast<double>(seeds_.size()),
        fmt::format("{} of {}, {} failed", done, counted_noun(seeds_.size(), "seed"), failed_));
  }

  /// Files only for those that failed, the first few.
  void keep_failures() {
    uint32_t kept = 0;
    for (const SeedResult& result : report_.results) {
      if (result.result != analysis::Result::kFail || kept == options_.keep) continue;
      ++kept;
      const ChaosScenario drawn = chaos_scenario(base_, result.seed);
      if (result.check == "crash") {  // it would take this process with it
        netio::OutputFolder::make(options_.out);
        const auto file = options_.out / (drawn.scenario.name + ".yaml");
        write_resolved_scenario(drawn.scenario, file);
        fmt::print(text_, "scenario    {}\n", file.string());
        continue;
      }
      const RunResult run = run_with_folder(drawn, World::kSim, options_.out, guard_);
      fmt::print(text_, "run folder  {}\n", run.folder.path.string());
    }
  }

  const ChaosOptions& options_;
  ChaosBase base_;
  InterruptGuard& guard_;
  std::FILE* text_;
  ChaosReport report_;
  std::vector<uint64_t> seeds_;
  uint32_t jobs_ = 1;
  size_t failed_ = 0, told_ = 0;
  SteadyClock::time_point start_ = SteadyClock::now();
  Progress progress_{"chaos"};
};

int merge_command(const ChaosOptions& options) {
  std::FILE* text = options.json ? stderr : stdout;
  const MergedChaos merged = merge_reports(options.merge, text);
  fmt::print(text, "{}", merged.text);
  if (options.json) fmt::print("{}", to_json_text(merged.merged.report));
  return merged.code;
}

}  // namespace

MergedChaos merge_reports(const std::vector<std::filesystem::path>& files, std::FILE* stream) {
  std::vector<ChaosReport> reports;
  for (const auto& file : files) reports.push_back(read_chaos_report(file));
  MergedChaos all{merge(reports), "", 0};
  const MergedReport& merged = all.merged;
  size_t told = 0;
  for (const SeedResult& result : merged.report.results) {
    if (result.result == analysis::Result::kPass || ++told > kLinesMost) continue;
    all.text += chaos_line(merged.report, result, stream);
  }
  all.text += chaos_summary(merged.report, std::nullopt) + merge_text(merged);
  all.code = chaos_exit_code(merged.report);
  if (!merged.contradicting.empty()) all.code = 1;
  if (all.code == 0 && !merged.missing.empty()) all.code = 3;
  return all;
}

SeedResult seed_result(const ChaosScenario& drawn, const analysis::Verdict& verdict) {
  SeedResult result;
  result.seed = drawn.scenario.seed;
  result.result = verdict.result;
  result.survivable = drawn.survivable;
  result.transport = name_of(drawn.transport);
  for (const faults::FaultKind kind : drawn.kinds) {
    result.kinds.emplace_back(faults::info(kind).name);
  }
  for (const faults::Fault& fault : drawn.scenario.faults) {
    result.drawn.emplace_back(faults::name_of(fault));
  }
  result.packets = verdict.metrics.delivered;
  result.history_sha256 = verdict.metrics.history_sha256;
  for (const analysis::CheckResult& check : verdict.checks) {
    if (check.result != verdict.result || check.result == analysis::Result::kPass) continue;
    result.check = check.name;
    result.note = check.note;
    break;
  }
  return result;
}

SeedResult run_chaos_seed(const ChaosBase& base, uint64_t seed) {
  const ChaosScenario drawn = chaos_scenario(base, seed);
  return seed_result(drawn, run_checked(drawn.scenario));
}

ChaosBase with_traffic(ChaosBase base) {
  if (!base.scenario || base.scenario->programs.empty()) return base;
  Scenario calm = *base.scenario;
  calm.faults.clear();
  calm.schedule.clear();
  base.traffic = time_of_traffic(calm);
  return base;
}

ChaosBase load_consented_base(const std::string& word, bool programs) {
  ChaosBase base = load_chaos_base(word);
  if (base.scenario) {
    const std::filesystem::path file = find_scenario(word);
    if (is_somebody_elses(file)) require_consent(*base.scenario, file, programs);
  }
  return base;
}

ChaosBase load_foreign_base(const std::string& word, bool programs) {
  ChaosBase base = load_chaos_base(word);
  if (base.scenario) require_consent(*base.scenario, find_scenario(word), programs);
  return base;
}

bool runs_programs(const ChaosBase& base) {
  return base.scenario &&
         !(base.scenario->programs.empty() && base.scenario->check_programs.empty());
}

std::string chaos_seed_text(const ChaosBase& base, uint64_t seed) {
  return to_json(run_chaos_seed(base, seed))
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

SeedResult result_of_answer(const ChaosBase& base, uint64_t seed, const TaskPool::Answer& answer) {
  if (answer.death.empty()) return seed_result_from_json(answer.text);
  const ChaosScenario drawn = chaos_scenario(base, seed);
  SeedResult result = seed_result(drawn, {});
  result.result = analysis::Result::kFail;
  result.check = "crash";
  result.note = answer.death;
  return result;
}

int chaos_command(const ChaosOptions& options) {
  if (!options.merge.empty()) return merge_command(options);
  InterruptGuard guard;
  ChaosBase base = with_traffic(load_consented_base(options.base, options.programs));
  return ChaosRun(options, std::move(base), guard).run();
}

}  // namespace mrclab::lab
