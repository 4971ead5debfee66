#pragma once
// How well blame does: what was blamed against what was broken (analysis/README.md: what counts
// as what).

#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "analysis/blame/blame_result.h"
#include "analysis/history/evidence.h"
#include "lab/chaos/blame_target.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// A blame of more than this many places, its own and its equals (Blame::or_else), is
/// too vague to be right.
inline constexpr size_t kBlameClassMax = 4;
struct ScoreMarks {
  double precision, recall;
};
/// What blame must reach; and a mapper.
inline constexpr ScoreMarks kBlameMarks{0.95, 0.9}, kMapperMarks{0.97, 0.95};

/// Targets of one kind of fault.
struct BlameCases {
  uint64_t targets = 0;     ///< injected
  uint64_t faint = 0;       ///< touched packets, too few to be observable
  uint64_t observable = 0;  ///< touched at least kObservableHits
  uint64_t component = 0;   ///< observable ones that were named themselves
  uint64_t in_class = 0;    ///< named as one of a class of equals
  uint64_t part = 0;        ///< only a part of it was named: counts as missed
  uint64_t faint_named = 0;
  uint64_t alone = 0;        ///< observable by what no other broken part could have taken
  uint64_t alone_named = 0;  ///< of these, named themselves or in a class
  uint64_t missed() const { return observable - component - in_class; }
  bool operator==(const BlameCases&) const = default;
};

/// What was named, of all runs and of those under one transport.
struct BlameShares {
  uint64_t runs = 0, blames = 0, named = 0, observable = 0, found = 0, alone = 0, alone_found = 0;
  bool operator==(const BlameShares&) const = default;
};

struct BlameScore {
  std::map<std::string, BlameCases> kinds;
  uint64_t runs = 0;
  uint64_t blames = 0;
  uint64_t right = 0;                  ///< name what was broken, itself or in a class
  uint64_t parts = 0;                  ///< name a part of it
  std::vector<std::string> wrong;      ///< in words, with the run
  std::vector<std::string> not_found;  ///< likewise: observable and missed
  /// From the start of each fault to the instant at which it was named, in ns; of those that are named at an instant.
  std::vector<int64_t> delays_ns;
  std::map<std::string, BlameShares> transports;  ///< by name_of(ChaosTransport); empty: not known
  bool operator==(const BlameScore&) const = default;

  void add_score(const BlameScore& other);
  BlameCases all_kinds() const;
  double precision() const;     ///< right or a part, of all blames; 1 if there are none
  double recall() const;        ///< component or class, of the observable; 1 if there are none
  double recall_faint() const;  ///< named ones, of all that touched a packet
  double recall_alone() const;  ///< component or class, of the observable that can be distinguished
  bool reaches_marks(const ScoreMarks& marks = kBlameMarks) const;
  /// Counts all of it for this transport.
  void count_for(const std::string& transport);
};

/// How many packets, or probes, a fault took at a target, and how many of them no rival could have taken.
using HitsOf = std::function<TargetHits(const BlameCase&, std::span<const BlameCase> rivals)>;
/// `run` stands before what was wrong or missed. `named`: when each was named; empty: not at an instant.
BlameScore score_parts(const std::string& run, const Scenario& scenario,
                       const std::vector<analysis::Blame>& blames,
                       const std::vector<FabricTime>& named, const HitsOf& hits_of_target);
BlameScore score_blame(const std::string& run, const Scenario& scenario,
                       const analysis::Evidence& evidence,
                       const std::vector<analysis::Blame>& blames);
/// By fault of the scenario: is it, one of few with the same evidence, or a part of it among what is blamed?
std::vector<bool> named_faults(const Scenario& scenario, const analysis::Evidence& evidence,
                               const std::vector<analysis::Blame>& blames);
/// Runs it in the simulator, in memory, and blames.
BlameScore score_scenario(const std::string& run, const Scenario& scenario);
/// 1 of nothing.
double share_of(uint64_t of, uint64_t all);

/// The table, what was wrong and missed, and the two figures; 80 columns.
std::string blame_table(const BlameScore& score, const ScoreMarks& marks = kBlameMarks);
nlohmann::ordered_json to_json(const BlameScore& score);
/// Throws InputError.
BlameScore blame_score_from_json(const std::string& text);

}  // namespace mrclab::lab
