// replay.

#include <CLI/CLI.hpp>
#include <memory>

#include "lab/run/replay.h"
#include "lab/verbs/cli.h"

namespace mrclab::lab {

void add_replay_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<ReplayOptions>();
  auto world = std::make_shared<std::string>();
  CLI::App* replay = add_verb(app, "replay");
  replay->add_option("RUN", options->run, "a run folder, or latest")->required();
  replay->add_option("--world", *world, "live or sim; default: where it ran")
      ->check(CLI::IsMember({"live", "sim"}));
  replay->add_option("--out", options->out, "where the new run folder goes")->default_str("runs");
  replay->add_flag("--programs", options->programs,
                   "run the programs of its scenario (exec, program) without asking");
  replay->add_flag("--json", options->json, "as JSON");
  replay->footer(
      "Exit code 0: the same history; 1: another one, and where it parts is printed; 3: another\n"
      "one, but one of the runs was not faithful.\n"
      "Example: mrclab replay latest --world sim");
  replay->callback([options, world, &result] {
    if (!world->empty()) options->world = *world == "sim" ? World::kSim : World::kLive;
    result.code = replay_command(*options);
  });
}

}  // namespace mrclab::lab
