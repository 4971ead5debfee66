#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/counted_noun.h"
#include "fabric/text/yaml.h"
#include "lab/campaign/engines.h"
#include "netio/system/child_process.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/output_folder.h"

namespace mrclab::lab {
namespace {

constexpr size_t kSbatchAnswerMax = 64 << 10;
/// sbatch asks a controller that may be on another machine.
constexpr std::chrono::seconds kSubmitPatience{120};
constexpr std::chrono::hours kWaitPatience{24 * 7};

/// "1-3,7": the words of --array.
std::string array_of(const std::vector<uint32_t>& shards) {
  std::string text;
  for (size_t i = 0; i < shards.size();) {
    size_t last = i;
    while (last + 1 < shards.size() && shards[last + 1] == shards[last] + 1) ++last;
    if (!text.empty()) text += ',';
    text += last == i ? std::to_string(shards[i]) : fmt::format("{}-{}", shards[i], shards[last]);
    i = last + 1;
  }
  return text;
}

/// Where a job writes. sbatch puts numbers of jobs in place of %j and the like, and % in place of %%: the folder's name
/// is to stay as it is.
std::string log_pattern(const Campaign& campaign, const std::string& name) {
  std::string pattern;
  for (const char c : campaign.folder.string()) pattern += c == '%' ? "%%" : std::string(1, c);
  return pattern + "/logs/" + name + ".log";
}

/// The number of the job.
std::string submit(const Campaign& campaign, std::vector<std::string> words,
                   std::chrono::milliseconds patience) {
  const std::filesystem::path answer = campaign.folder / "logs/sbatch.out";
  const std::filesystem::path errors = campaign.folder / "logs/sbatch.err";
  std::filesystem::remove(answer);
  std::filesystem::remove(errors);
  netio::ChildOptions options;
  options.argv = {"sbatch", "--parsable"};
  options.argv.insert(options.argv.end(), campaign.engine_options.begin(),
                      campaign.engine_options.end());
  options.argv.insert(options.argv.end(), words.begin(), words.end());
  options.stdout_file = answer;
  options.stderr_file = errors;
  options.own_process_group = false;  // Ctrl-C ends the waiting
  netio::ChildProcess child = netio::ChildProcess::spawn(options);
  const auto ended = child.wait(patience);
  const std::string text = netio::read_file(answer, kSbatchAnswerMax);
  const size_t digits = text.find_first_not_of("0123456789");
  std::string job = text.substr(0, std::min(digits, text.size()));
  // With --wait the exit code is the job's, so that a seed which failed is no failure of sbatch.
  if (job.empty()) {
    throw InputError("sbatch: " + (ended ? to_string(*ended) : std::string("no answer")) + ": " +
                     netio::read_file(errors, kSbatchAnswerMax));
  }
  return job;
}

/// An array job of the shards that are missing, and the job after it. The number of the latter.
std::string submit_round(const Campaign& campaign, const std::vector<uint32_t>& missing,
                         bool wait) {
  const std::string there = campaign.folder.string();
  const std::string array = submit(
      campaign,
      {"--job-name=mrclab-chaos", "--array=" + array_of(missing), "--requeue", "--chdir=" + there,
       "--output=" + log_pattern(campaign, "%a"), "--open-mode=truncate", there + "/task.sh"},
      kSubmitPatience);
  fmt::print("array job   {}: {} of {}\n", array, missing.size(),
             counted_noun(campaign.shards, "shard"));
  std::fflush(stdout);
  // A shard whose node is lost for good ends as well: what it leaves out is named as missing.
  std::vector<std::string> join{
      "--job-name=mrclab-join", "--dependency=afterany:" + array,
      "--chdir=" + there,       "--output=" + log_pattern(campaign, "join"),
      "--open-mode=truncate",   there + "/join.sh"};
  if (wait) join.insert(join.begin(), "--wait");
  return submit(campaign, join, wait ? kWaitPatience : kSubmitPatience);
}

}  // namespace

int run_on_slurm(const Campaign& campaign, bool wait) {
  if (!netio::find_program("sbatch")) {
    throw InputError("chaos --on slurm: found no sbatch: expected a machine of a Slurm cluster");
  }
  std::vector<uint32_t> missing = missing_shards(campaign);
  if (missing.empty()) return summarize(campaign);
  const netio::OutputFolder folder = netio::OutputFolder::make(campaign.folder);
  write_shard_script(campaign);
  folder.write_file("task.sh", fmt::format("#!/bin/sh\ncd shards && exec sh {} "
                                           "\"$SLURM_ARRAY_TASK_ID\"\n",
                                           kShardScript));
  folder.write_file("join.sh", "#!/bin/sh\nexec " + merge_command_line(campaign, ".") + "\n");
  fmt::print("folder      {}\n", campaign.folder.string());
  if (!wait) {
    const std::string join = submit_round(campaign, missing, false);
    fmt::print("join job    {}: writes summary.txt there\n", join);
    return 0;
  }
  // Slurm requeues what a node took with it; not what only its process lost, as for lack of memory.
  for (int round = 1; round <= kRounds && !missing.empty(); ++round) {
    submit_round(campaign, missing, true);
    missing = missing_shards(campaign);
  }
  return summarize(campaign);
}

}  // namespace mrclab::lab
