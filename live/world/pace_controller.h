#pragma once
// How fast fabric time should pass: pure, decided from what the processes have committed.
//
// The gate keeps the order at any pace, and no process lets its clock be further ahead of the slowest one than a
// leash (GatePage::time_at). So a pace that is too fast does no harm: the clock then follows the slowest process,
// which is never without work, and the lab is as fast as its machine. A pace that is too slow costs time. So the pace
// is kept somewhat faster than what the processes achieve: in each window in which the leash did not hold the clock back,
// the pace goes up; in each other it follows what was achieved, in small steps, since a busy machine may take a
// processor away for a moment. A pace far too fast would let the processes tick more often than their work is worth.
//
// The clock stands at 0 until every process has done the instant 0 (first buffers are filled, first packets
// made), which is no measure of the pace.

#include <cstdint>
#include <optional>

#include "fabric/base/units.h"
#include "netio/runtime/clock_page.h"

namespace mrclab::lab {

/// Input of the controller, every few milliseconds of lab time.
struct PaceInput {
  netio::LabTime now;
  FabricTime clock;    ///< what the clock shows by its pace alone
  FabricTime slowest;  ///< committed by every process; below 0: not begun
  /// The earliest event in the lab, if no frame is under way, but not past a limit or the end.
  std::optional<FabricTime> quiet_until;
};

struct PaceDecision {
  enum class Kind : uint8_t {
    kKeep,
    kRate,      ///< from now on `dilation`
    kStepBack,  ///< the clock shows `to`, which is earlier, and goes on with `dilation`
    kJump,      ///< the clock shows `to` at once, and goes on with `dilation`
  };
  Kind kind = Kind::kKeep;
  double dilation = 0;
  FabricTime to;
};

class PaceController {
 public:
  static constexpr double kStart = 5'000;
  static constexpr double kFastest = 100;
  static constexpr double kSlowest = 1'000'000;
  static constexpr int64_t kWindowNs = 20'000'000;
  /// A jump must gain at least this much lab time over waiting; it costs ClockPage::kLeadNs.
  static constexpr int64_t kJumpGainNs = 2 * netio::ClockPage::kLeadNs;

  /// `leash`: as in GatePage::leash_ps.
  explicit PaceController(FabricTime leash) : leash_(leash) {}

  PaceDecision next_pace(const PaceInput& input);
  double dilation() const { return dilation_; }
  bool begun() const { return begun_; }
  uint64_t jumps() const { return jumps_; }
  /// How often the leash began to hold the clock back.
  uint64_t holds() const { return holds_; }

 private:
  std::optional<PaceDecision> jump(const PaceInput& input);
  double next_dilation(const PaceInput& input, FabricTime reached);
  void begin_window(netio::LabTime now, FabricTime reached);

  FabricTime leash_;
  bool begun_ = false;
  double dilation_ = kStart;
  bool held_ = false;  ///< at the last step
  netio::LabTime window_start_{};
  FabricTime window_reached_;  ///< what the slowest process had committed when the window began
  bool window_held_ = false;
  FabricTime jumped_to_;
  uint64_t jumps_ = 0, holds_ = 0;
};

/// The dilation at which a stretch of fabric time took so much lab time. A stretch of nothing counts as 1 ps.
double achieved_dilation(int64_t lab_ns, FabricTime stretch);

/// Lab time between ticks: an eighth of the lookahead, so that what waits
/// for a tick costs little of the slack, but no more wake-ups (6-12 us of CPU
/// each) than all processes can afford together. In a lab that `stays` programs post at their own speed, so that a longer
/// tick moves more frames at once; and while nobody sends, each tick is nothing but its cost. So there it is never
/// shorter than kStandingTickNs.
int64_t tick_for(double dilation, FabricTime lookahead, uint32_t processes, bool stays = false);
inline constexpr int64_t kStandingTickNs = 250'000;

}  // namespace mrclab::lab
