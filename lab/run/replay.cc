#include "lab/run/replay.h"

#include <fmt/format.h>

#include "console/interrupt.h"
#include "console/json_print.h"
#include "console/root_rights.h"
#include "recorded/diff/recorded_run.h"
#include "recorded/diff/run_diff.h"
#include "scenario/spec/program_consent.h"

namespace mrclab::lab {
namespace {

constexpr size_t kContext = 4;  // records before the first difference

void print_json(const RecordedRun& first, const RunResult& again, bool same) {
  const nlohmann::ordered_json answer{
      {"run", first.folder.string()},
      {"again", again.folder.path.string()},
      {"same", same},
      {"history_sha256", first.history_sha256},
      {"history_sha256_again", again.verdict.metrics.history_sha256}};
  fmt::print("{}\n", printed(answer, "replay"));
}

void print_text(const RecordedRun& first, const RunResult& again, bool same) {
  fmt::print("run         {} ({})\nagain       {} ({})\n", first.folder.string(), first.world,
             again.folder.path.string(), again.verdict.world);
  if (same) {
    fmt::print("history     {}\nThe same history, packet for packet.\n", first.history_sha256);
    return;
  }
  fmt::print("{}", to_text(diff_runs(first.folder, again.folder.path, kContext)));
  if (!first.faithful) fmt::print("The run was not faithful: it cannot be repeated exactly.\n");
}

/// What `latest` points to now: the replay becomes the latest run itself.
std::filesystem::path lasting_name(const std::filesystem::path& run) {
  std::error_code none;  // read_run reports what is wrong with it
  const auto folder = std::filesystem::canonical(named_run(run), none);
  return none ? run : std::filesystem::proximate(folder);
}

}  // namespace

int replay_command(const ReplayOptions& options) {
  InterruptGuard guard;
  const RecordedRun first = read_run(lasting_name(options.run));
  require_digest_version(first, kHistoryVersion);
  const Scenario scenario = recorded_scenario(first.folder);
  require_consent(scenario, first.folder, options.programs);
  RunOptions run;
  run.world = options.world.value_or(first.world == "live" ? World::kLive : World::kSim);
  if (run.world == World::kLive) require_root("replay --world live");
  run.runs_root = options.out;
  run.progress = true;
  end_on_interrupt(guard, run);
  const RunResult again = run_scenario(scenario, run);
  if (!again.interrupted.empty()) throw Interrupted(again.interrupted);
  const bool same = again.verdict.metrics.history_sha256 == first.history_sha256;
  options.json ? print_json(first, again, same) : print_text(first, again, same);
  if (same) return 0;
  return first.faithful && again.verdict.timing.faithful ? 1 : 3;
}

}  // namespace mrclab::lab
