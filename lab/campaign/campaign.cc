#include "lab/campaign/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "console/shell_word.h"
#include "fabric/text/enum_words.h"
#include "fabric/text/yaml.h"
#include "lab/chaos/chaos.h"
#include "lab/chaos/chaos_text.h"
#include "lab/chaos/json_file.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/output_folder.h"

namespace mrclab::lab {
namespace {

constexpr int kCampaignVersion = 1;
constexpr size_t kCampaignFileMax = 1 << 20;
constexpr std::array kEngines{Engine::kSlurm, Engine::kParallel, Engine::kKubernetes};

nlohmann::ordered_json to_json(const Campaign& campaign) {
  return {{"campaign", kCampaignVersion},
          {"engine", name_of(campaign.engine)},
          {"program", campaign.program},
          {"base", campaign.base},
          {"seeds", campaign.seeds},
          {"shards", campaign.shards},
          {"engine_options", campaign.engine_options},
          {"machines", campaign.machines},
          {"programs", campaign.programs},
          {"jobs", campaign.jobs},
          {"image", campaign.image},
          {"claim", campaign.claim}};
}

Engine engine_called(const std::string& name) {
  for (const Engine engine : kEngines) {
    if (name_of(engine) == name) return engine;
  }
  throw InputError("found the engine " + in_quotes(name) + ": expected slurm, parallel or k8s");
}

}  // namespace

std::string_view name_of(Engine engine) {
  static constexpr auto kNames = words_by_value<Engine>(
      {{Engine::kSlurm, "slurm"}, {Engine::kParallel, "parallel"}, {Engine::kKubernetes, "k8s"}});
  return kNames[static_cast<size_t>(engine)];
}

uint32_t default_shards(const std::string& seeds) {
  const size_t shards = (parse_seeds(seeds).size() + kSeedsOfShard - 1) / kSeedsOfShard;
  return static_cast<uint32_t>(std::clamp<size_t>(shards, 1, kShardsMost));
}

void make_campaign(const Campaign& campaign) {
  const netio::OutputFolder folder = netio::OutputFolder::make(campaign.folder);
  const std::string text = to_json(campaign).dump(2) + "\n";
  const std::filesystem::path file = campaign.folder / "campaign.json";
  if (std::filesystem::exists(file) && netio::read_file(file, kCampaignFileMax) != text) {
    throw InputError(campaign.folder.string() +
                     ": found another campaign: expected an empty folder, or --resume " +
                     campaign.folder.string());
  }
  netio::OutputFolder::make(campaign.folder / "shards");
  netio::OutputFolder::make(campaign.folder / "logs");
  folder.write_file("campaign.json", text);
}

Campaign read_campaign(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "campaign.json";
  Campaign campaign;
  read_json_file(file, kCampaignFileMax, "chaos --on", [&](const nlohmann::json& json) {
    if (json.at("campaign") != kCampaignVersion) {
      throw InputError(fmt::format("found campaign {}: expected {}", json.at("campaign").dump(),
                                   kCampaignVersion));
    }
    campaign.engine = engine_called(json.at("engine").get<std::string>());
    campaign.folder = std::filesystem::absolute(folder).lexically_normal();
    json.at("program").get_to(campaign.program);
    json.at("base").get_to(campaign.base);
    json.at("seeds").get_to(campaign.seeds);
    json.at("shards").get_to(campaign.shards);
    json.at("engine_options").get_to(campaign.engine_options);
    json.at("machines").get_to(campaign.machines);
    json.at("programs").get_to(campaign.programs);
    json.at("jobs").get_to(campaign.jobs);
    json.at("image").get_to(campaign.image);
    json.at("claim").get_to(campaign.claim);
    parse_seeds(campaign.seeds);
    if (campaign.base.starts_with('-')) {
      // It stands among the options of each shard.
      throw InputError("found the base " + in_quotes(campaign.base) +
                       ": expected a fabric or a scenario");
    }
    if (campaign.shards < 1 || campaign.shards > kShardsMost) {
      throw InputError(
          fmt::format("found {} shards: expected 1 to {}", campaign.shards, kShardsMost));
    }
  });
  return campaign;
}

std::filesystem::path shard_file(const Campaign& campaign, uint32_t shard) {
  return campaign.folder / "shards" / fmt::format("{}.json", shard);
}

std::vector<uint32_t> missing_shards(const Campaign& campaign) {
  std::vector<uint32_t> missing;
  for (uint32_t shard = 1; shard <= campaign.shards; ++shard) {
    try {
      read_chaos_report(shard_file(campaign, shard));
    } catch (const InputError&) {
      missing.push_back(shard);
    }
  }
  return missing;
}

std::string shard_command(const Campaign& campaign, const std::string& shard,
                          const std::string& file) {
  std::string command = fmt::format("{} chaos {} --seeds {} --shard {}/{} --save {} --keep 0",
                                    shell_word(campaign.program), shell_word(campaign.base),
                                    shell_word(campaign.seeds), shard, campaign.shards, file);
  // GNU parallel has as many shards at once instead.
  const uint32_t jobs = campaign.engine == Engine::kParallel ? 1 : campaign.jobs;
  if (campaign.programs) command += " --programs";
  if (jobs > 0) command += fmt::format(" --jobs {}", jobs);
  return command;
}

void write_shard_script(const Campaign& campaign) {
  const std::string command = shard_command(campaign, "\"$1\"", "\"$1\".json");
  netio::OutputFolder::make(campaign.folder / "shards")
      .write_file(kShardScript, "#!/bin/sh\nexec " + command + "\n");
}

std::string merge_command_line(const Campaign& campaign, const std::string& folder) {
  return fmt::format("{} chaos --summarize {}", shell_word(campaign.program), folder);
}

int summarize(const Campaign& campaign) {
  ChaosOptions options;
  for (uint32_t shard = 1; shard <= campaign.shards; ++shard) {
    const std::filesystem::path file = shard_file(campaign, shard);
    if (std::filesystem::exists(file)) options.merge.push_back(file);
  }
  if (options.merge.empty()) {
    throw InputError(campaign.folder.string() + ": found no shard that is done: expected " +
                     shard_file(campaign, 1).string() + "; logs/ has the output");
  }
  const MergedChaos merged = merge_reports(options.merge);
  const netio::OutputFolder folder = netio::OutputFolder::make(campaign.folder);
  folder.write_file("summary.json", to_json_text(merged.merged.report));
  folder.write_file("summary.txt", merged.text);
  fmt::print("{}", merged.text);
  return merged.code;
}

}  // namespace mrclab::lab
