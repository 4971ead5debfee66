#pragma once
// Single steps of a whole lab, as decisions: from an instant at which every process stands, how far
// may all of them go without missing the awaited record, and did it occur? Pure: looks at a view,
// returns a limit.
//
// All stand at L, no frame is under way. Then nothing happens in the lab before its earliest event
// N, and a node X that is waited for does nothing before min(W, N + lookahead), W being its own
// earliest event in hand: a frame that no node has started yet starts at N at the earliest. So the
// next limit is min(W, N + lookahead - 1 ps): X acts exactly there, or not at all up to there.

#include <cstdint>
#include <optional>

#include "fabric/base/units.h"
#include "netio/runtime/gate.h"

namespace mrclab::lab {

/// The most instants that one `clock step` may go through.
inline constexpr uint64_t kMaxSteps = 10'000;

/// The record that a step waits for.
struct StepGoal {
  FabricTime from;        ///< where every process stands
  FabricTime lookahead;   ///< the shortest of the fabric's wires
  uint64_t instants = 1;  ///< how many instants with matching records
  FabricTime at_most;     ///< gives up there, having come exactly to it
};

class Stepper {
 public:
  /// Gives up after so many limits: minutes of waiting for something that does not come.
  static constexpr uint64_t kMaxStrides = 100'000;

  /// What the lab looks like.
  struct View {
    FabricTime slowest;  ///< GatePage::slowest_done()
    std::optional<netio::GatePage::Quiet> quiet;
    uint64_t records = 0;  ///< GatePage::watched_records()
  };
  enum class Result : uint8_t {
    kUnderWay,
    kFound,
    kNothingPending,  ///< no event in the whole lab: only time would pass
    kTooManyStrides,
    kAtMost,  ///< came to StepGoal::at_most without it
  };

  explicit Stepper(const StepGoal& goal) : goal_(goal), limit_(goal.from) {}

  /// Looks at the view; afterwards limit() is the instant that no process may commit past, and
  /// result() returns whether the step is over.
  void advance_view(const View& view);
  FabricTime limit() const { return limit_; }
  Result result() const { return result_; }
  uint64_t instants() const { return instants_; }

 private:
  void stride(const netio::GatePage::Quiet& quiet);

  StepGoal goal_;
  FabricTime limit_;
  uint64_t records_ = 0;
  uint64_t instants_ = 0;
  uint64_t strides_ = 0;
  Result result_ = Result::kUnderWay;
};

}  // namespace mrclab::lab
