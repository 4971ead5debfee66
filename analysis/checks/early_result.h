#pragma once
// A run that the user ended before its scenario's end (run --until): which results of its checks
// still stand. What would have happened later must neither pass nor fail unseen.

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analysis/checks/check_result.h"
#include "analysis/history/fault_span.h"

namespace mrclab::analysis {

struct EarlyEnd {
  FabricTime planned;                  ///< the scenario's end; the run ended before it
  std::vector<FaultSpan> not_reached;  ///< faults that would have begun later
};

/// The result of a check over the run until `ended`, and what of it still holds.
class EarlyResult {
 public:
  /// All but `check` borrowed; `faults` are those that happened.
  EarlyResult(CheckResult check, std::span<const FaultSpan> faults, FabricTime ended,
              const EarlyEnd& early)
      : check_(std::move(check)), faults_(faults), ended_(ended), early_(early) {}

  const CheckResult& check() const { return check_; }
  /// "600us, where the run was ended"
  std::string at() const { return to_string(ended_) + ", where the run was ended"; }
  FabricTime ended() const { return ended_; }

  CheckResult inconclusive(const std::string& why) const;
  /// A pass holds "until" that instant; a failure stays one.
  CheckResult so_far() const;
  /// For expectations that are measured over an interval, which may go on behind the end.
  CheckResult in_interval_until(FabricTime until) const;
  /// Liveness is judged behind the last heal; later faults may follow.
  CheckResult alive() const;
  /// For expectations that give each fault the time `bound`.
  CheckResult within(FabricTime bound) const;
  /// Is there a fault that would have begun later and heals?
  bool more_to_heal() const;

 private:
  CheckResult check_;
  std::span<const FaultSpan> faults_;
  FabricTime ended_;
  const EarlyEnd& early_;
};

}  // namespace mrclab::analysis
