#include "lab/serve/serve_command.h"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "lab/console/interrupt.h"
#include "lab/recorded/recorded_run.h"
#include "lab/scenario/queue_pairs.h"
#include "lab/scenario/shipped_files.h"
#include "lab/serve/serve_loop.h"
#include "netio/kernel/file_descriptor.h"

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

/// Opens the link in the desktop's browser, where there is one. The link's token must not stand in the
/// arguments of a process, which every user can read, so a file of ours alone leads there.
class OpenedLink {
 public:
  explicit OpenedLink(const std::string& link) {
    const char* folder = std::getenv("XDG_RUNTIME_DIR");  // of this user alone
    if (folder == nullptr || (!std::getenv("DISPLAY") && !std::getenv("WAYLAND_DISPLAY"))) return;
    path_ = fmt::format("{}/mrclab-{}.html", folder, ::getpid());
    netio::write_file(path_, "<meta http-equiv=refresh content=\"0;url=" + link + "\">\n");
    std::array<char*, 3> words{const_cast<char*>("xdg-open"), path_.data(), nullptr};
    ::posix_spawnp(&pid_, words[0], nullptr, nullptr, words.data(), environ);
  }
  ~OpenedLink() {
    if (path_.empty()) return;
    std::error_code ignored;
    fs::remove(path_, ignored);
    if (pid_ > 0) ::waitpid(pid_, nullptr, WNOHANG);
  }
  OpenedLink(const OpenedLink&) = delete;
  OpenedLink& operator=(const OpenedLink&) = delete;

 private:
  std::string path_;
  pid_t pid_ = -1;
};

PlayedSession session_of(const ServeCommandOptions& options) {
  if (is_run_folder(options.what)) {
    const fs::path folder =
        options.what == "latest" ? fs::path("runs/latest") : fs::path(options.what);
    RecordedRun run = read_run(folder);
    PlayedSession played(std::move(run.scenario));
    played.run = {fs::canonical(run.folder).filename().string(), run.world, run.version,
                  run.history_sha256, run.faithful && !run.wall};
    return played;
  }
  const fs::path file = find_fabric_or_scenario(options.what);
  const YamlValue document = read_yaml_file(file);
  if (!document.get("fabric")) return PlayedSession(fabric_at_work(file.string(), options));
  return PlayedSession(read_scenario_file(file, overrides_of(options)));
}

}  // namespace

PlayedSession served_session(const ServeCommandOptions& options,
                             const SimulatedSession::GoOn& go_on) {
  PlayedSession played = session_of(options);
  if (options.at) {
    const Scenario& scenario = played.session().scenario();
    played.session().seek(
        parse_instant(*options.at, scenario.topology, FabricTime::zero(), &scenario), go_on);
  }
  return played;
}

int serve_command(const ServeCommandOptions& options) {
  InterruptGuard guard;
  PlayedSession played = served_session(options, [&](FabricTime) { return !guard.interrupted(); });
  const Scenario& scenario = played.session().scenario();
  PageServer server(options.server);
  fmt::print("{} on {}, simulated{}. Open\n  {}\nCtrl-C ends it.\n", scenario.name,
             scenario.topology.name, played.run ? " again" : "", server.link());
  std::fflush(stdout);
  std::optional<OpenedLink> opened;
  if (options.open) opened.emplace(server.link());
  ServeLoop(server, played).run(guard.question());
  return 0;
}

}  // namespace mrclab::lab
