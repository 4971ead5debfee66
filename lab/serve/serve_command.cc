#include "lab/serve/serve_command.h"

#include <fmt/format.h>

#include <filesystem>

#include "console/root_rights.h"
#include "lab/serve/live_branch.h"
#include "lab/serve/opened_link.h"
#include "lab/serve/recorded_branch.h"
#include "recorded/diff/recorded_run.h"
#include "recorded/folder/run_folder.h"
#include "scenario/spec/queue_pairs.h"
#include "scenario/spec/shipped_files.h"
#include "session/serve_loop.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

bool is_run_folder(const std::string& what) {
  return what == "latest" ||
         (fs::is_directory(what) && fs::exists(fs::path(what) / "scenario.yaml"));
}

ScenarioOverrides overrides_of(const ServeCommandOptions& options) {
  ScenarioOverrides overrides;
  overrides.seed = options.seed;
  return overrides;
}

/// A fabric at work: every host reduces with all others, without any fault.
Scenario fabric_at_work(const std::string& fabric, const ServeCommandOptions& options) {
  const std::string text = fmt::format(
      "name: {0}\nabout: All hosts reduce 8 MiB with each other, again and again.\nfabric: {1}\n"
      "workload:\n  - all_reduce: {{hosts: all, size: 8MiB, until: end}}\nend: {2}\n"
      "expect: [safety]\n",
      fs::path(fabric).stem().string(), fabric, options.end.value_or("2ms"));
  return parse_scenario(read_yaml_text(text, "serve"), {}, overrides_of(options));
}

std::unique_ptr<FabricSession> session_of(Scenario scenario, World world,
                                          const IsInterrupted& interrupted) {
  if (world == World::kSim) return std::make_unique<FabricSession>(std::move(scenario));
  auto live = std::make_unique<LiveBranch>(scenario, LiveBranch::Options{interrupted});
  return std::make_unique<FabricSession>(std::move(scenario), std::move(live));
}

PlayedSession session_of_run(const fs::path& folder) {
  RecordedRun run = read_run(folder);
  const bool kept = fs::exists(run.folder / "history");
  auto session =
      kept ? std::make_unique<FabricSession>(run.scenario, std::make_unique<RecordedBranch>(run))
           : std::make_unique<FabricSession>(run.scenario);
  PlayedSession played(std::move(session));
  played.run = {fs::canonical(run.folder).filename().string(), run.world, run.version,
                run.history_sha256, run.faithful && !run.wall};
  return played;
}

PlayedSession session_of(const ServeCommandOptions& options, const IsInterrupted& interrupted) {
  if (is_run_folder(options.what)) {
    if (options.world == World::kLive) {
      throw InputError("--world live: found a run folder: expected a scenario or a fabric");
    }
    return session_of_run(named_run(options.what));
  }
  const fs::path file = find_fabric_or_scenario(options.what);
  const YamlValue document = read_yaml_file(file);
  return PlayedSession(session_of(document.get("fabric")
                                      ? read_scenario_file(file, overrides_of(options))
                                      : fabric_at_work(file.string(), options),
                                  options.world, interrupted));
}

std::string manner_of(const PlayedSession& played) {
  const Branch& branch = played.session().branch();
  const BranchWorld world = branch.world();
  if (world == BranchWorld::kLive)
    return fmt::format("in the namespaces mrclab-{}-*", branch.lab());
  if (world == BranchWorld::kRecorded) return "as it was recorded";
  return played.run ? "simulated again" : "simulated";
}

}  // namespace

PlayedSession served_session(const ServeCommandOptions& options, const IsInterrupted& interrupted) {
  PlayedSession played = session_of(options, interrupted);
  if (options.at) {
    const Scenario& scenario = played.session().scenario();
    played.session().seek(
        parse_instant(*options.at, scenario.topology, FabricTime::zero(), &scenario),
        [&](FabricTime) { return !interrupted || !interrupted(); });
  }
  return played;
}

int serve_command(const ServeCommandOptions& options) {
  InterruptGuard guard;
  if (options.world == World::kLive) require_root("serve --world live");
  PlayedSession played = served_session(options, guard.question());
  const Scenario& scenario = played.session().scenario();
  PageServer server(options.server);
  fmt::print("{} on {}, {}. Open\n", scenario.name, scenario.topology.name, manner_of(played));
  for (const std::string& link : server.links()) fmt::print("  {}\n", link);
  fmt::print("Ctrl-C ends it.\n");
  std::fflush(stdout);
  std::optional<OpenedLink> opened;
  if (options.open) opened.emplace(server.links().front());
  const auto print = [](const std::string& text) {
    fmt::print("{}\n", text);
    std::fflush(stdout);
  };
  ServeLoop(server, played, print).run(guard.question());
  return 0;
}

}  // namespace mrclab::lab
