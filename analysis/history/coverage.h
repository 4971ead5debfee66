#pragma once
// The instants until which a run's evidence is complete. Missing evidence does not mean that
// nothing happened. So the code that reads a source, or finds it missing, reports it here,
// and judge_coverage() is the one place that holds every check against it. A check that needs more
// evidence than there is becomes inconclusive, and its note names the source.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/base/units.h"
#include "fabric/text/enum_words.h"

namespace mrclab::analysis {

/// The kinds of evidence, each of which records other things.
enum class Witness : uint8_t {
  kPackets,  ///< packets at hosts, drops and trims anywhere: captures, or nodes that are watched
  kRecords,  ///< every packet at every port: packet records, or nodes that are watched
  kEvents,   ///< events that nodes wrote
  kReports,  ///< what every host reports at the end
};
inline constexpr auto kWitnessNames =
    words_by_value<Witness>({{Witness::kPackets, "packets"},
                             {Witness::kRecords, "packet records"},
                             {Witness::kEvents, "events"},
                             {Witness::kReports, "reports"}});

class Coverage {
 public:
  static constexpr size_t kMaxGaps = 32;  ///< gaps() lists no more than these; all of them count

  /// What `witness` recorded is complete before `until`; from there on something is missing. `why`
  /// names the source: "history/planes.bin ran full".
  void ends(Witness witness, FabricTime until, const std::string& why);
  /// The user chose to have no such source, so gaps() does not warn of it.
  void absent(Witness witness, const std::string& why);

  /// The instant of the earliest gap; never() if nothing is missing.
  FabricTime until(Witness witness) const { return at(witness).until; }
  bool whole(Witness witness) const { return until(witness) == FabricTime::never(); }
  /// The source of the earliest gap; empty if nothing is missing.
  const std::string& why(Witness witness) const { return at(witness).why; }
  /// One line for each gap; sources that are absent by choice have none.
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

}  // namespace mrclab::analysis
