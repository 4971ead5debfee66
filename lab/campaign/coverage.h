#pragma once
// What a campaign by time has covered: for each kind of fault, transport and base how many seeds had it, how many of
// them failed, and by which checks. From that it draws what to run next.

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "lab/chaos/chaos_result.h"

namespace mrclab::lab {

class Coverage {
 public:
  void add(const std::string& base, const SeedResult& result);

  /// How much a seed with these kinds is worth running: what has found something is, and what was seldom run.
  /// Above 0. Per kind (1 + 4 x different checks that failed) / sqrt(1 + seeds), and of those the mean (our choice:
  /// a kind that found one thing is run as often as one that was run a 25th as often and found nothing).
  double worth(const std::string& base, const std::string& transport,
               const std::vector<std::string>& kinds) const;

  nlohmann::ordered_json to_json() const;
  /// Throws InputError, and nlohmann::json::exception, for what to_json() does not write.
  static Coverage from_json(const nlohmann::json& rows);

  uint64_t seeds() const { return seeds_; }
  uint64_t failed() const { return failed_; }
  /// For 80 columns: a row for each kind, a column for each transport: seeds, and of them failed.
  std::string table() const;

 private:
  struct Cell {
    uint64_t seeds = 0, failed = 0;
    std::set<std::string> checks;  ///< that failed; at most kChecksMost
  };
  struct Key {
    std::string base, transport, kind;
    auto operator<=>(const Key&) const = default;
  };
  std::map<Key, Cell> cells_;
  uint64_t seeds_ = 0, failed_ = 0;
};

}  // namespace mrclab::lab
