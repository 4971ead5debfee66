#pragma once
// Until when the evidence of a run is complete. Missing evidence does not mean that nothing happened: who
// reads a source, or knows that one is missing, says so here, and judge_coverage() is the one place
// that holds every check against it. A check that needs more than there is becomes inconclusive, and
// its note names the source.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/expectation.h"
#include "analysis/verdict.h"
#include "fabric/units.h"

namespace mrclab::analysis {

/// What can bear witness, each to its own things.
enum class Witness : uint8_t {
  kPackets,  ///< at hosts, drops and trims anywhere: captures, or nodes that are watched
  kRecords,  ///< every packet at every port: packet records, or nodes that are watched
  kEvents,   ///< what nodes said
  kReports,  ///< what every host reports at the end
};
inline constexpr std::array<std::string_view, 4> kWitnessNames{"packets", "packet records",
                                                               "events", "reports"};

class Coverage {
 public:
  static constexpr size_t kMaxGaps = 32;  ///< that are told; all count

  /// Of what `witness` would tell, something from `until` on is missing, and all before is there.
  /// `why` names the source: "history/planes.bin ran full".
  void ends(Witness witness, FabricTime until, const std::string& why);
  /// There never was such a source, by choice: nothing that a reader must be warned of.
  void absent(Witness witness, const std::string& why);

  /// never(): nothing is missing.
  FabricTime until(Witness witness) const { return at(witness).until; }
  bool whole(Witness witness) const { return until(witness) == FabricTime::never(); }
  /// Where the first of the gaps comes from; empty if it is whole.
  const std::string& why(Witness witness) const { return at(witness).why; }
  /// One line for each gap, but for what is absent.
  const std::vector<std::string>& gaps() const { return gaps_; }

 private:
  struct End {
    FabricTime until = FabricTime::never();
    std::string why;
  };
  const End& at(Witness witness) const { return ends_[static_cast<size_t>(witness)]; }
  void shorten(Witness witness, FabricTime until, const std::string& why);

  std::array<End, kWitnessNames.size()> ends_;
  std::vector<std::string> gaps_;
};

/// What of a run says how far a check looks.
struct CheckedSpan {
  FabricTime end;          ///< of the run
  FabricTime first_fault;  ///< never() if there is none
  /// What happened to a packet that left at t is known at t + settling, as far as checks of an
  /// interval ask: it has left wholly, and if it arrived, its NIC has taken it.
  FabricTime settling;
};

/// `check` as it may stand on this evidence: what needs more than is there is inconclusive, but for a
/// failure that more evidence cannot take back (CheckResult::proven).
CheckResult judge_coverage(const Expectation& expectation, CheckResult check,
                           const Coverage& coverage, const CheckedSpan& span);

}  // namespace mrclab::analysis
