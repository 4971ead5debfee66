#include <CLI/CLI.hpp>
#include <memory>

#include "lab/serve/serve_command.h"
#include "lab/verbs/cli.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

void add_serve_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<ServeCommandOptions>();  // shared with the callback
  auto world = std::make_shared<std::string>(name_of(options->world));
  CLI::App* serve = add_verb(app, "serve");
  serve->add_option("WHAT", options->what, "a scenario, a fabric, a run folder or a lesson")
      ->capture_default_str();
  serve->add_option("--port", options->server.port, "to listen on; default: any that is free");
  serve
      ->add_option("--listen", options->server.address,
                   "address to listen on: whoever has the link can use the page")
      ->capture_default_str();
  serve->add_option("--world", *world, "sim (in memory) or live (namespaces and packets; root)")
      ->check(CLI::IsMember({"live", "sim"}))
      ->capture_default_str();
  serve->add_option("--at", options->at, "where it stands at first: 295us");
  serve->add_option("--end", options->end, "when a fabric without a scenario ends; default: 2ms");
  serve->add_option("--seed", options->seed, "in place of the scenario's")
      ->check(CLI::Range(uint64_t{0}, kMaxSeed));
  serve
      ->add_option(
          "--set", options->sets,
          "KEY=VALUE: a key (fabric.t0, workload[0].write.size) or variable of the scenario")
      ->allow_extra_args(false);
  serve
      ->add_option("--class", options->students,
                   "a session each for so many students, and a table for the teacher")
      ->check(CLI::Range(size_t{1}, kMaxStudents));
  serve->add_option("--hand-in", options->hand_in,
                    "of a class: folder for each student's sessions, as they are checked");
  serve->add_flag("!--no-open", options->open, "only print the link");
  serve->footer(
      "The world is simulated, without root; --world live brings it up in namespaces. Of a run\n"
      "folder the page shows what its nodes recorded. A change of the past begins again: from\n"
      "time 0, with the same seed, up to there. The link has a token; --listen 127.0.0.1 keeps\n"
      "it on this machine.\n"
      "Example: mrclab serve optic-glitch --at 295us\n"
      "         mrclab serve 01-one-packet --class 30 --hand-in hand-in --listen 0.0.0.0");
  serve->callback([options, world, &result] {
    if (*world == name_of(World::kLive)) options->world = World::kLive;
    result.code = serve_command(*options);
  });
}

}  // namespace mrclab::lab
