#include "lab/serve/serve_command.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "console/root_rights.h"
#include "fabric/topology/fabric_file.h"
#include "lab/serve/class_room.h"
#include "lab/serve/live_branch.h"
#include "lab/serve/opened_link.h"
#include "lab/serve/recorded_branch.h"
#include "lab/serve/served_metrics.h"
#include "recorded/diff/recorded_run.h"
#include "recorded/folder/run_folder.h"
#include "scenario/spec/queue_pairs.h"
#include "scenario/spec/scenario_document.h"
#include "scenario/spec/shipped_files.h"
#include "session/lesson.h"
#include "session/serve_loop.h"
#include "session/simulated_branch.h"

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
  if (options.world == World::kSim) overrides.max_nodes = kMaxSimulatedNodes;
  for (const std::string& set : options.sets) {
    const std::vector<SetValue> values = read_set(set);
    if (values.size() != 1) {
      throw InputError("--set " + set + ": found " + std::to_string(values.size()) +
                       " values: a page shows one world, expected one");
    }
    overrides.sets.push_back(values.front());
  }
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

std::unique_ptr<FabricSession> session_of(Scenario scenario, const ServeCommandOptions& options,
                                          const IsInterrupted& interrupted) {
  if (options.world == World::kSim) {
    auto simulated =
        std::make_unique<SimulatedBranch>(played_to_its_end(scenario), options.max_packets);
    return std::make_unique<FabricSession>(std::move(scenario), std::move(simulated));
  }
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
  if (const Lesson* lesson = lesson_named(options.what)) {
    PlayedSession played(session_of(scenario_of(*lesson), options, interrupted));
    played.lesson = lesson->name;
    return played;
  }
  const fs::path file = find_fabric_or_scenario(options.what);
  const YamlValue document = read_yaml_file(file);
  const bool scenario = document.get("fabric") || document.get("include");
  return PlayedSession(session_of(scenario ? read_scenario_file(file, overrides_of(options))
                                           : fabric_at_work(file.string(), options),
                                  options, interrupted));
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
  const std::optional<std::string> at =
      options.at || played.lesson.empty() ? options.at : find_lesson(played.lesson).at;
  if (at) {
    const Scenario& scenario = played.session().scenario();
    played.session().seek(parse_instant(*at, scenario.topology, FabricTime::zero(), &scenario),
                          [&](FabricTime) { return !interrupted || !interrupted(); });
  }
  return played;
}

namespace {

constexpr size_t kSpareSeats = 4;  ///< for students whose seat has ended
/// Of a seat's memory a quarter is for each of its two branches' packets; the rest is for the judge and the world.
constexpr size_t kMemoryForPackets = 4;

/// Half of this machine's memory, shared by all.
size_t bytes_of_seat(size_t students) {
  const auto pages = static_cast<size_t>(std::max(1L, ::sysconf(_SC_PHYS_PAGES)));
  const auto page = static_cast<size_t>(std::max(1L, ::sysconf(_SC_PAGESIZE)));
  return std::clamp(pages * page / 2 / students, size_t{256} << 20, size_t{4} << 30);
}

int serve_class(ServeCommandOptions options) {
  if (options.world == World::kLive || is_run_folder(options.what)) {
    throw InputError("--class: found a world that is not simulated: expected a session for each");
  }
  InterruptGuard guard;
  std::string title, teacher_token = random_token();
  {
    const PlayedSession tried =
        served_session(options, guard.question());  // refused here, not in seats
    title = tried.session().scenario().name;
  }
  ClassBook book(title, teacher_token, options.hand_in);
  const size_t bytes = bytes_of_seat(options.students);
  options.max_packets =
      std::min(Recording::kMaxPackets, bytes / kMemoryForPackets / sizeof(SeenPacket));
  const std::vector<ClassSeat> seats = ClassSeat::start(
      options.students + kSpareSeats, bytes, [&options] { return served_session(options); });
  options.server.max_clients = 3 * options.students + PageLimits::kMaxClients;
  options.server.teacher_token = teacher_token;
  options.server.document = [&book](std::string_view path) { return book.document(path); };
  PageServer server(options.server);
  fmt::print("{} for a class of {}: a session each, {} MiB of memory at most. Students open\n",
             title, options.students, bytes >> 20);
  for (const std::string& link : server.links()) fmt::print("  {}&class=1\n", link);
  fmt::print("and the teacher's table is at\n");
  for (const std::string& link : server.links()) {
    fmt::print("  {}class?token={}\n", link.substr(0, link.find('?')), teacher_token);
  }
  if (options.server.address == ServeOptions{}.address) {
    fmt::print("Only this machine is let in: --listen 0.0.0.0 lets others in.\n");
  }
  fmt::print("Ctrl-C ends it.\n");
  std::fflush(stdout);
  ClassRoom(server, book, seats, options.students).run(guard.question());
  fmt::print("{}", book.text());
  return 0;
}

}  // namespace

int serve_command(const ServeCommandOptions& options) {
  if (options.students > 0) return serve_class(options);
  InterruptGuard guard;
  if (options.world == World::kLive) require_root("serve --world live");
  PlayedSession played = served_session(options, guard.question());
  const Scenario& scenario = played.session().scenario();
  ServedMetrics metrics;
  ServeOptions served = options.server;
  served.metrics = [&metrics](const std::string& only) { return metrics.ask(only); };
  PageServer server(served);
  fmt::print("{} on {}, {}. Open\n", scenario.name, scenario.topology.name, manner_of(played));
  for (const std::string& link : server.links()) fmt::print("  {}\n", link);
  if (played.session().branch().world() != BranchWorld::kRecorded) {
    std::string link = server.links().front();
    fmt::print("Counters for Prometheus are at\n  {}\n",
               link.insert(link.find("/?") + 1, "metrics"));
  }
  fmt::print("Ctrl-C ends it.\n");
  std::fflush(stdout);
  std::optional<OpenedLink> opened;
  if (options.open) opened.emplace(server.links().front());
  const auto print = [](const std::string& text) {
    fmt::print("{}\n", text);
    std::fflush(stdout);
  };
  ServeLoop(server, played, print).run([&] {
    metrics.answer(played.session());
    return guard.interrupted();
  });
  return 0;
}

}  // namespace mrclab::lab
