#pragma once
// What a seed of chaos came to, as a value: a line of JSON between processes, in a file, and from
// one machine to another.

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/verdict/verdict.h"
#include "lab/run/seed_list.h"

namespace mrclab::lab {

struct SeedResult {
  uint64_t seed = 0;
  analysis::Result result = analysis::Result::kInconclusive;
  bool survivable = true;
  std::string transport = "mrc";   ///< name_of(ChaosTransport)
  std::vector<std::string> kinds;  ///< switched on
  std::vector<std::string> drawn;  ///< kinds of the faults, in order of time
  uint64_t packets = 0;            ///< data packets delivered
  std::string check;               ///< the first that failed, or was inconclusive; "crash"
  std::string note;                ///< why
  std::string history_sha256;
  bool operator==(const SeedResult&) const = default;
};
nlohmann::ordered_json to_json(const SeedResult& result);
/// Throws InputError.
SeedResult seed_result_from_json(const std::string& text);

/// Some seeds of a range, perhaps of one shard. Results are in the order of their seeds and depend
/// on nothing but the fields below.
struct ChaosReport {
  std::string base;         ///< as on the command line
  std::string base_sha256;  ///< hash of the file that `base` stands for
  std::string world;        ///< "sim" or "live"
  std::string version;
  std::string seeds;  ///< "1-1000": all of the job, also what other shards have
  std::string shard;  ///< "2/4", or "1/1"
  std::vector<SeedResult> results;
};

/// SHA-256 of `text` in hexadecimal.
std::string sha256_hex(std::string_view text);

/// One hash of all seeds and what they came to, packet by packet, in hexadecimal: the same for the same seeds,
/// wherever and in however many parts they were run.
std::string digest_of_results(const ChaosReport& report);

/// One seed to a line.
std::string to_json_text(const ChaosReport& report);
/// Throws InputError, also for any hostile text.
ChaosReport read_chaos_report(const std::filesystem::path& file);

struct Shard {
  uint32_t index = 1, count = 1;
};
/// "2/4". Throws InputError.
Shard parse_shard(const std::string& text);
/// Every count-th, so that all shards get as much work.
std::vector<uint64_t> seeds_of(const std::vector<uint64_t>& seeds, Shard shard);

/// Several reports of one job as one.
struct MergedReport {
  ChaosReport report;
  std::vector<uint64_t> missing;        ///< seeds of the job that no report has
  std::vector<uint64_t> twice;          ///< seeds that several have, with the same result
  std::vector<uint64_t> contradicting;  ///< seeds that several have, with different results
};
/// Throws InputError if they are not of one job.
MergedReport merge(const std::vector<ChaosReport>& reports);

}  // namespace mrclab::lab
