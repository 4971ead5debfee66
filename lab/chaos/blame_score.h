#pragma once
// How well blame does: what was blamed against what was broken (analysis/README.md: what counts
// as what).

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "analysis/blame/blame_result.h"
#include "analysis/history/evidence.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// A blame of more than this many places, its own and its equals (Blame::or_else), is
/// too vague to be right.
inline constexpr size_t kBlameClassMax = 4;
/// What blame must reach.
inline constexpr double kBlamePrecision = 0.95, kBlameRecall = 0.9;

/// Targets of one kind of fault.
struct BlameCases {
  uint64_t targets = 0;     ///< injected
  uint64_t faint = 0;       ///< touched packets, too few to be observable
  uint64_t observable = 0;  ///< touched at least kObservableHits
  uint64_t component = 0;   ///< observable ones that were named themselves
  uint64_t in_class = 0;    ///< named as one of a class of equals
  uint64_t part = 0;        ///< only a part of it was named: counts as missed
  uint64_t faint_named = 0;
  uint64_t missed() const { return observable - component - in_class; }
  bool operator==(const BlameCases&) const = default;
};

struct BlameScore {
  std::map<std::string, BlameCases> kinds;
  uint64_t runs = 0;
  uint64_t blames = 0;
  uint64_t right = 0;                  ///< name what was broken, itself or in a class
  uint64_t parts = 0;                  ///< name a part of it
  std::vector<std::string> wrong;      ///< in words, with the run
  std::vector<std::string> not_found;  ///< likewise: observable and missed
  bool operator==(const BlameScore&) const = default;

  void add_score(const BlameScore& other);
  BlameCases all_kinds() const;
  double precision() const;     ///< right or a part, of all blames; 1 if there are none
  double recall() const;        ///< component or class, of the observable; 1 if there are none
  double recall_faint() const;  ///< named ones, of all that touched a packet
  bool reaches_marks() const;
};

/// `run` stands before what was wrong or missed.
BlameScore score_blame(const std::string& run, const Scenario& scenario,
                       const analysis::Evidence& evidence,
                       const std::vector<analysis::Blame>& blames);
/// Runs it in the simulator, in memory, and blames.
BlameScore score_scenario(const std::string& run, const Scenario& scenario);

/// The table, what was wrong and missed, and the two figures; 80 columns.
std::string blame_table(const BlameScore& score);
nlohmann::ordered_json to_json(const BlameScore& score);
/// Throws InputError.
BlameScore blame_score_from_json(const std::string& text);

}  // namespace mrclab::lab
