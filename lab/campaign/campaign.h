#pragma once
// A job of chaos in shards, as a folder that machines share:
//
//   campaign.json        what is run, in how many shards, by which engine
//   shards/<i>.json      what shard i came to; there when it is done, whole or not at all
//   shards/shard.sh      Slurm, GNU parallel: runs the shard whose number it is given
//   logs/                output of engines and shards; each at most some 100 KB (lab/chaos/chaos.cc)
//   summary.json, .txt   all of it together
//
// A shard that was lost with its machine has no file, and is run again by `--resume FOLDER`.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "lab/chaos/chaos_result.h"

namespace mrclab::lab {

enum class Engine : uint8_t { kSlurm, kParallel, kKubernetes };
std::string_view name_of(Engine engine);  ///< "slurm", "parallel", "k8s"

struct Campaign {
  Engine engine = Engine::kParallel;
  std::filesystem::path folder;  ///< absolute
  std::string program;  ///< what runs a shard: this program, or one in the PATH of other machines
  std::string base;     ///< a fabric or a scenario; a file by its absolute path
  std::string seeds;
  uint32_t shards = 1;
  std::vector<std::string> engine_options;  ///< words for sbatch or parallel
  std::vector<std::string> machines;        ///< parallel: by ssh; none: this one
  bool programs = false;                    ///< as ChaosOptions::programs
  uint32_t jobs = 0;  ///< processes of a shard, of parallel: shards at once; 0: all cores
  std::string image = "mrclab";  ///< k8s: the name of the container image
  std::string claim =
      "mrclab-chaos";  ///< k8s: names a volume that all pods may write (ReadWriteMany)
};

/// Engines number the tasks of a job up to about this (Slurm: MaxArraySize is 1001).
inline constexpr uint32_t kShardsMost = 1'000;
/// Without another wish a shard has at most so many seeds: about half a minute of a core.
inline constexpr size_t kSeedsOfShard = 50;
uint32_t default_shards(const std::string& seeds);

/// Makes the folder and campaign.json. Throws InputError where it is another campaign's.
void make_campaign(const Campaign& campaign);
/// Throws InputError, also for any hostile file.
Campaign read_campaign(const std::filesystem::path& folder);

std::filesystem::path shard_file(const Campaign& campaign, uint32_t shard);
/// Ascending, from 1. A shard whose file cannot be read is one.
std::vector<uint32_t> missing_shards(const Campaign& campaign);
/// The command of one shard and its file, in words of a shell; `shard` may be one of its variables.
std::string shard_command(const Campaign& campaign, const std::string& shard,
                          const std::string& file);
/// Writes shards/shard.sh, which runs shard $1 into $1.json of the folder that it runs in. Engines rewrite the
/// commands that they are given (GNU parallel its {}, {.} and {= Perl =}, Slurm its %j), so that names which people
/// choose, of files above all, stand in this file alone.
void write_shard_script(const Campaign& campaign);
inline constexpr const char* kShardScript = "shard.sh";
/// The command that joins what is there, into summary.json and summary.txt.
std::string merge_command_line(const Campaign& campaign, const std::string& folder);

/// Joins what is there: writes summary.json and summary.txt, and prints the latter. As chaos_command().
int summarize(const Campaign& campaign);

}  // namespace mrclab::lab
