#include <fmt/format.h>

#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "lab/campaign/engines.h"
#include "netio/system/child_process.h"

namespace mrclab::lab {
namespace {

constexpr std::chrono::hours kPatience{24 * 7};

/// The words of one round of GNU parallel, which runs in shards/. By ssh each machine works in a folder of its own, to
/// which the script goes, and from which its file comes back. What parallel rewrites has no name in it that people chose
/// (write_shard_script).
std::vector<std::string> round_words(const Campaign& campaign, const std::vector<uint32_t>& shards,
                                     int round) {
  std::vector<std::string> words{"parallel", "--will-cite",
                                 "--halt",   "never",
                                 "--joblog", fmt::format("../logs/round-{}.log", round)};
  if (campaign.jobs > 0) {
    words.emplace_back("--jobs");
    words.push_back(std::to_string(campaign.jobs));
  }
  for (const std::string& machine : campaign.machines) {
    words.emplace_back("--sshlogin");
    words.push_back(machine);
  }
  const bool here = campaign.machines.empty();
  if (!here) {
    for (const char* word :
         {"--workdir", "...", "--cleanup", "--transferfile", kShardScript, "--return", "{}.json"}) {
      words.emplace_back(word);
    }
  }
  words.insert(words.end(), campaign.engine_options.begin(), campaign.engine_options.end());
  words.push_back(fmt::format("sh {} {{}}", kShardScript) + (here ? " > ../logs/{}.log 2>&1" : ""));
  words.emplace_back(":::");
  for (const uint32_t shard : shards) words.push_back(std::to_string(shard));
  return words;
}

}  // namespace

int run_on_parallel(const Campaign& campaign) {
  if (!netio::find_program("parallel")) {
    throw InputError(
        "chaos --on parallel: found no parallel: expected GNU parallel; "
        "apt-get install parallel");
  }
  fmt::print("folder      {}\n", campaign.folder.string());
  std::fflush(stdout);
  write_shard_script(campaign);
  for (int round = 1; round <= kRounds; ++round) {
    const std::vector<uint32_t> missing = missing_shards(campaign);
    if (missing.empty()) break;
    if (round > 1)
      fmt::print("round {}     {} lost\n", round, counted_noun(missing.size(), "shard"));
    netio::ChildOptions options;
    options.argv = round_words(campaign, missing, round);
    options.working_directory = campaign.folder / "shards";
    options.stdout_file = campaign.folder / "logs/parallel.log";
    options.own_process_group = false;  // Ctrl-C ends it as well
    netio::ChildProcess child = netio::ChildProcess::spawn(options);
    child.wait(kPatience);
  }
  return summarize(campaign);
}

}  // namespace mrclab::lab
