#pragma once
// One expectation, judged: the result of a check, and where in the run to look.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "analysis/checks/looked.h"
#include "analysis/expect/published.h"
#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab::analysis {

/// Only a whole run can be kNoChecks: its scenario has no expectations, so it has passed none.
enum class Result : uint8_t { kPass, kFail, kInconclusive, kNoChecks };
std::string_view name_of(Result result);
/// Why a verdict is kNoChecks.
inline constexpr std::string_view kNothingChecked =
    "nothing was checked, so nothing passed: no expectations";
/// 0 pass, 1 fail, 3 inconclusive or nothing checked (2 is bad usage, which has no verdict).
int exit_code(Result result);
/// What two results together exit with: 1 if either does, else what is not 0.
int worse_exit_code(int a, int b);

/// A data packet, and the capture frame that shows it leave its host.
struct PacketToLookAt {
  std::string source, destination;  ///< hosts
  Qpn qp;                           ///< of the destination
  Psn psn;
  std::string file = {};  ///< name of the capture; empty: no capture shows it leave
  uint64_t frame = 0;     ///< from 1, as Wireshark counts
};

/// Where in a run to look for what a check has measured. A check that fails always has one.
struct WhereToLook {
  FabricTime from = FabricTime::zero();    ///< the stretch of time that was looked at
  FabricTime until = FabricTime::never();  ///< never: to the end
  std::string who;                         ///< "h0 to h4 QP 18", "p0/u1"; empty: the whole fabric
  std::optional<PacketToLookAt> packet = std::nullopt;  ///< one that shows it
};
/// "300us to 460us, h0 to h4 QP 18 PSN 7 on p0/u1, frame 12 of sim.pcapng"
std::string to_string(const WhereToLook& where);

struct CheckResult;

/// What a check came to. It reads as a Result, and only the four functions below set it, so that no code can
/// let a check pass without counting what was looked at.
class Outcome {
 public:
  constexpr Outcome() = default;                         ///< inconclusive
  constexpr operator Result() const { return result_; }  // NOLINT: it is one, to be read

 private:
  constexpr explicit Outcome(Result result) : result_(result) {}
  friend CheckResult passed(CheckResult check, Looked looked);
  friend CheckResult failed(CheckResult check, std::string why);

  Result result_ = Result::kInconclusive;
};

/// One expectation, judged. `measured` and `bound` are in `unit`; empty where nothing was measured.
struct CheckResult {
  std::string name;   ///< "goodput"
  std::string about;  ///< what exactly: "from 600us, at least 95 % of baseline"
  Outcome result;
  std::optional<double> measured;
  std::optional<double> bound;
  std::string unit;
  std::string note;                    ///< why it failed or could not be judged
  std::optional<Published> published;  ///< the figure to hold `measured` against
  std::optional<WhereToLook> where = std::nullopt;
  /// It failed by what was seen, so that no further evidence could change that.
  bool proven = false;
  /// What it looked at; a check that passes always has it. Empty: it did not get so far.
  std::optional<Looked> looked = std::nullopt;
};

/// The check is inconclusive, as there was nothing to look at.
CheckResult without_evidence(CheckResult check, Looked looked);
/// The check passes by what was looked at. If that is nothing, it is without_evidence().
CheckResult passed(CheckResult check, Looked looked);
/// The check fails, unless judge_coverage() finds that missing evidence might have changed that.
CheckResult failed(CheckResult check, std::string why);
/// The check fails by what was seen, whatever evidence is missing.
CheckResult proven(CheckResult check, std::string why);
/// The check cannot be judged.
CheckResult unjudged(CheckResult check, std::string why);

}  // namespace mrclab::analysis
