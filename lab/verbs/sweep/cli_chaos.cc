// chaos, shrink.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <memory>

#include "console/root_rights.h"
#include "fabric/text/yaml.h"
#include "lab/chaos/chaos.h"
#include "lab/chaos/chaos_blame.h"
#include "lab/chaos/shrink.h"
#include "lab/twin/explained_share.h"
#include "lab/verbs/cli.h"
#include "lab/verbs/sweep/cli_campaign.h"

namespace mrclab::lab {

namespace {

/// --json once took the name of a file, as in "--json 2.json" and "--json -".
void refuse_file_of_json(const ChaosOptions& options, const std::string& surplus) {
  const auto is_file = [](const std::string& word) {
    return word == "-" || word.ends_with(".json");
  };
  const std::string& word = is_file(options.base) ? options.base : surplus;
  if (options.json && is_file(word)) {
    throw InputError("chaos --json prints the results: found " + in_quotes(word) +
                     ": expected a redirection such as --json > results.json");
  }
  if (!surplus.empty()) {
    throw InputError("chaos: found " + in_quotes(options.base) + " and " + in_quotes(surplus) +
                     ": expected one fabric or scenario");
  }
}

void add_chaos(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<ChaosOptions>();  // shared with the callback
  auto world = std::make_shared<std::string>("sim");
  auto blame = std::make_shared<bool>(false);
  auto mapper = std::make_shared<bool>(false);
  auto witness = std::make_shared<std::string>("both");
  auto surplus = std::make_shared<std::string>();
  auto campaign = std::make_shared<CampaignWords>();
  CLI::App* chaos = add_verb(app, "chaos");
  chaos->add_option("FABRIC|SCENARIO", options->base,
                    "name or file; of a scenario the workload;\n"
                    "FABRIC+job: each seed has a small job as well");
  chaos->add_option("--seeds", options->seeds, "such as 7, 1-1000 or 1-10,50-60")
      ->capture_default_str();
  chaos->add_option("--world", *world, "sim (in memory) or live (packets; a run folder each)")
      ->check(CLI::IsMember({"live", "sim"}))
      ->capture_default_str();
  chaos->add_option("--jobs,--threads", options->jobs, "seeds at once (sim); default: all cores")
      ->check(CLI::Range(1u, 1024u));
  chaos->add_option("--shard", options->shard, "the i-th of n parts of the seeds: i/n")
      ->capture_default_str();
  chaos->add_flag("--json", options->json, "print the results as JSON");
  chaos->add_option("--merge", options->merge, "join results that --json printed, and run nothing");
  chaos->add_option("--save", options->save, "write the results there; done already: run nothing");
  chaos->add_option("--out", options->out, "where the runs of failing seeds go")
      ->default_str("runs");
  chaos->add_option("--keep", options->keep, "so many failing seeds are kept as runs")
      ->capture_default_str();
  chaos->add_flag("--programs", options->programs,
                  "run the programs of a scenario or a campaign from elsewhere without asking");
  CLI::Option* by_packets = chaos->add_flag(
      "--blame", *blame, "compare what blame finds by packets alone with the faults");
  CLI::Option* by_mapper =
      chaos
          ->add_flag("--mapper", *mapper,
                     "switch a mapper on, and compare what it finds with the faults")
          ->excludes(by_packets);
  chaos
      ->add_option("--witness", *witness,
                   "of a mapper: its probes, the hosts' reports of paths (events), or both")
      ->check(CLI::IsMember(
          std::vector<std::string>(kMapperWitnessWords.begin(), kMapperWitnessWords.end())))
      ->capture_default_str()
      ->needs(by_mapper);
  auto explained = std::make_shared<bool>(false);
  chaos
      ->add_flag(
          "--explained", *explained,
          "of FABRIC+job: how much of what faults cost its steps\nsigns in frames explain, and what blame names")
      ->excludes(by_packets)
      ->excludes(by_mapper);
  add_campaign_options(*chaos, *campaign);
  chaos->footer(
      "The same seed is the same run on any machine. Shards may run anywhere:\n"
      "  mrclab chaos octet --seeds 1-9000 --shard 4/9 --json > 4.json\n"
      "  mrclab chaos --merge *.json\n"
      "--blame prints per kind of fault: targets injected; faint: touched 1 to 4 packets;\n"
      "observable: 5 or more; named as the component, or in a class of at most 4 with\n"
      "the same evidence; missed. Then wrong blames, misses, precision and recall.\n"
      "Exit code 0: all passed; 1: one failed; 3: inconclusive, or missing from a merge.\n"
      "With --blame 0: precision >= 0.95 and recall >= 0.9; 1: less.\n"
      "With --mapper 0: precision >= 0.97 and recall >= 0.95; 1: less.\n"
      "With --explained 0: signs explain at least 95 % of the delay; 1: less.\n"
      "Example: mrclab chaos octet --seeds 1-1000\n"
      "         mrclab chaos octet --seeds 1-200 --blame\n"
      "         mrclab chaos octet+job --seeds 1-200 --explained\n"
      "         mrclab chaos octet --seeds 1-9000 --on parallel\n"
      "         mrclab chaos octet,pair --budget 8h --campaign night");
  chaos->add_option("SURPLUS", *surplus)->group("");  // to print what to do instead
  chaos->callback([options, world, blame, mapper, witness, explained, surplus, campaign, &result] {
    refuse_file_of_json(*options, *surplus);
    const bool joins =
        !options->merge.empty() || !campaign->resume.empty() || !campaign->summary.empty();
    if (options->base.empty() != joins) {
      throw InputError("chaos: expected a fabric or a scenario, or --merge and files");
    }
    options->world = *world == "sim" ? World::kSim : World::kLive;
    if (options->world == World::kLive) require_root("chaos --world live");
    if (const auto code = campaign_command(*campaign, *options)) {
      result.code = *code;
      return;
    }
    if (*explained) {
      result.code = explained_command(*options);
    } else if (*blame || *mapper) {
      std::optional<MapperWitness> by;
      if (*mapper) {
        const auto& words = kMapperWitnessWords;
        by = static_cast<MapperWitness>(std::find(words.begin(), words.end(), *witness) -
                                        words.begin());
      }
      result.code = chaos_blame_command(by, *options);
    } else {
      result.code = chaos_command(*options);
    }
  });
}

void add_shrink(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<ShrinkOptions>();
  CLI::App* shrink = add_verb(app, "shrink");
  shrink->add_option("RUN|SCENARIO", options->target, "of what failed; or a fabric and --seed")
      ->required();
  shrink->add_option("--seed", options->seed, "in place of the scenario's; of a fabric: of chaos")
      ->check(CLI::Range(uint64_t{0}, kMaxSeed));
  shrink->add_option("--out", options->out, "a file or a folder; default: runs/<name>-shrunk.yaml");
  shrink->add_option("--budget", options->budget, "at most so many runs of the simulator")
      ->check(CLI::Range(1u, 1'000'000u))
      ->capture_default_str();
  shrink->footer(
      "Fewer faults first, then a simpler workload, a smaller fabric, milder faults, an earlier\n"
      "end. What was removed stands in the file as a comment.\n"
      "Example: mrclab shrink octet --seed 417");
  shrink->callback([options, &result] { result.code = shrink_command(*options); });
}

}  // namespace

void add_chaos_verbs(CLI::App& app, CliResult& result) {
  add_chaos(app, result);
  add_shrink(app, result);
}

}  // namespace mrclab::lab
