// chaos on other machines and by time.

#include "lab/verbs/sweep/cli_campaign.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "console/shell_word.h"
#include "fabric/text/yaml.h"
#include "lab/campaign/budget.h"
#include "lab/campaign/campaign_consent.h"
#include "lab/campaign/engines.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

fs::path absolute_path(const fs::path& path) { return fs::absolute(path).lexically_normal(); }

/// A file by a path that holds in any folder; a shipped one by its name, which other machines have, too.
std::string base_anywhere(const std::string& word) {
  if (word.find('/') == std::string::npos && !word.ends_with(".yaml")) return word;
  return absolute_path(word).string();
}

std::vector<std::string> split_list(const std::string& text) {
  std::string blanks = text;
  std::replace(blanks.begin(), blanks.end(), ',', ' ');
  return split_words(blanks);
}

fs::path campaign_folder(const CampaignWords& words, const ChaosOptions& options) {
  if (!words.folder.empty()) return absolute_path(words.folder);
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return absolute_path(options.out) / fmt::format("campaign-{:%Y%m%d-%H%M%S}", fmt::gmtime(now));
}

Campaign new_campaign(const CampaignWords& words, const ChaosOptions& options) {
  Campaign campaign;
  campaign.engine = words.engine == "slurm"      ? Engine::kSlurm
                    : words.engine == "parallel" ? Engine::kParallel
                                                 : Engine::kKubernetes;
  campaign.folder = campaign_folder(words, options);
  campaign.program = words.program;
  campaign.machines = split_list(words.machines);
  if (campaign.program.empty()) campaign.program = usual_program(campaign);
  campaign.base = base_anywhere(options.base);
  campaign.seeds = options.seeds;
  campaign.shards = words.shards != 0 ? words.shards : default_shards(options.seeds);
  campaign.engine_options = split_words(words.engine_options);
  // What was consented to here is not asked about in each shard, where nobody could answer.
  campaign.programs =
      options.programs || runs_programs(load_consented_base(options.base, options.programs));
  campaign.jobs = options.jobs;
  campaign.image = words.image;
  campaign.claim = words.claim;
  return campaign;
}

/// The base of a campaign.json was chosen by whoever wrote that file, so its programs are asked about, whose ever it is.
Campaign resumed_campaign(const CampaignWords& words, const ChaosOptions& options) {
  Campaign campaign =
      consented(read_campaign(words.resume), {words.program, split_list(words.machines),
                                              split_words(words.engine_options), options.programs});
  campaign.programs = runs_programs(load_foreign_base(campaign.base, options.programs));
  return campaign;
}

int run_campaign(const Campaign& campaign, const CampaignWords& words) {
  switch (campaign.engine) {
    case Engine::kSlurm: return run_on_slurm(campaign, words.wait);
    case Engine::kParallel: return run_on_parallel(campaign);
    case Engine::kKubernetes: break;
  }
  return write_kubernetes_manifest(campaign);
}

}  // namespace

void add_campaign_options(CLI::App& chaos, CampaignWords& words) {
  words.image = Campaign{}.image;
  words.claim = Campaign{}.claim;
  const std::string group = "Other machines";
  chaos.add_option("--on", words.engine, "shards by Slurm, GNU parallel, or Kubernetes")
      ->check(CLI::IsMember({"slurm", "parallel", "k8s"}))
      ->group(group);
  chaos.add_option("--shards", words.shards, "so many; default: one for each 50 seeds")
      ->check(CLI::Range(1u, kShardsMost))
      ->group(group);
  chaos.add_option("--campaign", words.folder, "its folder; default: in --out, by date")
      ->group(group);
  chaos.add_flag("--wait", words.wait, "slurm: until all is joined")->group(group);
  chaos.add_option("--ssh", words.machines, "parallel: machines, as user@host,host")->group(group);
  chaos.add_option("--program", words.program, "mrclab where the shards run")->group(group);
  chaos
      .add_option("--engine-options", words.engine_options,
                  "words for sbatch or parallel, as \"--partition=night\"")
      ->group(group);
  chaos.add_option("--image", words.image, "k8s: the container")
      ->capture_default_str()
      ->group(group);
  chaos.add_option("--claim", words.claim, "k8s: of a volume that all pods write")
      ->capture_default_str()
      ->group(group);
  chaos.add_option("--resume", words.resume, "a campaign's folder: runs what is missing")
      ->group(group);
  chaos.add_option("--summarize", words.summary, "a campaign's folder: joins what is there")
      ->group(group);
  chaos
      .add_option("--budget", words.budget,
                  "such as 8h: new seeds for so long, more of what finds something")
      ->group(group);
}

std::optional<int> campaign_command(const CampaignWords& words, const ChaosOptions& options) {
  if (!words.summary.empty()) return summarize(read_campaign(words.summary));
  if (!words.resume.empty()) return run_campaign(resumed_campaign(words, options), words);
  if (!words.budget.empty()) {
    // Without another wish the same command goes on with the same folder.
    const fs::path folder = words.folder.empty() ? options.out / "nightly" : fs::path(words.folder);
    return budget_command({split_list(options.base), parse_budget(words.budget), folder,
                           options.jobs, options.programs});
  }
  if (words.engine.empty()) return std::nullopt;
  if (options.world == World::kLive) {
    throw InputError("chaos --on: found --world live: expected sim, which runs anywhere");
  }
  parse_seeds(options.seeds);
  const Campaign campaign = new_campaign(words, options);
  make_campaign(campaign);
  return run_campaign(campaign, words);
}

}  // namespace mrclab::lab
