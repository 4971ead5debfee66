// demo, run.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "console/root_rights.h"
#include "fabric/text/input_error.h"
#include "lab/front/command_path.h"
#include "lab/verbs/cli.h"
#include "lab/verbs/run/run_command.h"
#include "lab/verbs/run/run_sweep.h"
#include "recorded/folder/run_folder.h"
#include "scenario/spec/mechanism.h"
#include "scenario/spec/scenario_value.h"
#include "sim/sim_world.h"

namespace mrclab::lab {

void add_run_verbs(CLI::App& app, CliResult& result) {
  auto out = std::make_shared<std::filesystem::path>(default_runs());  // shared with the callback
  CLI::App* demo = add_verb(app, "demo");
  demo->add_option("--out", *out, "where the run folder goes")->default_str("runs");
  auto compare = std::make_shared<bool>(false);
  demo->add_flag("--compare", *compare,
                 "the same under several transports, simulated; not as root");
  auto page = std::make_shared<bool>(false);
  demo->add_flag("--page", *page, "simulated, on a page in the browser; not as root")
      ->excludes("--compare");
  demo->footer("Example: sudo mrclab demo, mrclab demo --page");
  demo->callback([out, compare, page, &result] {
    if (*page) become_verb({"serve", "optic-glitch", "--at", "295us"});
    if (*compare) {
      become_verb({"compare", "optic-glitch", "--transport", "mrc,roce,roce16,oblivious,reps",
                   "--out=" + out->string()});
    }
    require_root("demo");
    result.code = demo_command(*out);
  });

  auto options = std::make_shared<RunCommandOptions>();
  auto world = std::make_shared<std::string>("live");
  CLI::App* run = add_verb(app, "run");
  run->add_option("SCENARIO", options->scenarios, "shipped incidents, their ids (L5) or files")
      ->required();
  run->add_option("--world", *world, "live (packets in namespaces) or sim (one process)")
      ->check(CLI::IsMember({"live", "sim"}))
      ->capture_default_str();
  run->add_option("--seed", options->seed, "in place of the scenario's")
      ->check(CLI::Range(uint64_t{0}, kMaxSeed));
  run->add_option("--seeds", options->seeds,
                  "such as 1-20: a run with each, as one table with the spread");
  run->add_option("--set", options->sets,
                  "KEY=VALUE: a key (end, workload[0].write.size) or variable of the scenario; "
                  "KEY=V1,V2: a run with each, several --set with each combination")
      ->allow_extra_args(false);
  run->add_option("--fabric", options->fabric, "in place of the scenario's");
  run->add_option(
         "--forwarding", options->forwarding,
         "who forwards in all switches: switchd, or kernel, ovs or bpf (by the wall clock)")
      ->check(CLI::IsMember({"switchd", "kernel", "ovs", "bpf"}));
  run->add_option("--transport", options->transport,
                  "as in 'compare', or a contrast of the scenario, with its own expectations");
  run->add_option("--until", options->until, "end the run here: 300us, 40rtt; judges what it can");
  run->add_option("--dilation", options->dilation, "a fixed pace: lab seconds per fabric second")
      ->check(CLI::Range(1u, kMaxDilation));
  run->add_option("--captures", options->captures, "hosts, all or none")
      ->check(CLI::IsMember({"hosts", "all", "none"}));
  run->add_option("--capture-size", options->capture_size,
                  "what each capture may take, 1GiB by default; a live run is judged that far");
  run->add_option("--taps", options->taps,
                  "libpcap on the veths beside the daemons' captures (live): hosts, all or none")
      ->check(CLI::IsMember({"hosts", "all", "none"}));
  run->add_option("--history", options->history,
                  "for diff: records, a size of them such as 1GiB, or the digest alone")
      ->capture_default_str();
  run->add_option("--payload", options->payload, "elided: headers only, nothing to verify")
      ->check(CLI::IsMember({"real", "elided"}));
  run->add_option(
         "--without", options->without,
         "a mechanism to do without: " + fmt::format("{}", fmt::join(mechanism_names(), ", ")))
      ->check(CLI::IsMember(mechanism_names()).description(""))
      ->delimiter(',')
      ->allow_extra_args(false);
  run->add_option("--threads", options->threads, "of sim; default by size")
      ->check(CLI::Range(1u, SimWorld::kMaxThreads));
  run->add_option("--out", options->out, "where run folders go")->default_str("runs");
  run->add_option(
      "--series", options->series,
      "a time such as 10us: what ports counted at steps of it, as series.csv, series.om "
      "and series.ipfix in the run folder");
  run->add_flag("--no-cost", options->no_cost,
                "do not simulate it without its faults as well, for what they cost");
  run->add_flag("--isolate", options->isolate, "one process per node");
  run->add_flag("--realtime", options->realtime, "SCHED_FIFO for the daemons");
  run->add_flag("-v,--verbose", options->verbose,
                "live: each step on stderr, more in the daemons' logs");
  run->add_flag("--programs", options->programs,
                "run the programs of a scenario from elsewhere without asking");
  run->add_option("--against", options->against,
                  "a stored verdict.json: fail if a metric is worse than there");
  run->add_option("--tolerance", options->tolerances,
                  "how much worse it may be: goodput=2%, recover=20us, lost=3, all=5%, exact")
      ->delimiter(',')
      ->allow_extra_args(false);
  run->add_flag("--json", options->json, "print the verdict as JSON; of several runs the table");
  run->add_flag("--csv", options->csv, "print the table of several runs as CSV")
      ->excludes("--json");
  run->footer(
      "Example: sudo mrclab run optic-glitch link-flap --seed 7\n"
      "         mrclab run docs/first.yaml --world sim --set end=400us,800us --seeds 1-20");
  run->callback([options, world, &result] {
    options->world = *world == "sim" ? World::kSim : World::kLive;
    options->ranks = result.ranks;
    if (options->world == World::kLive && options->ranks == nullptr) require_root("run");
    if (options->series && is_sweep(*options)) {
      throw InputError("--series: found several runs: expected one");
    }
    result.code = is_sweep(*options) ? sweep_command(*options) : run_command(*options);
  });
}

}  // namespace mrclab::lab
