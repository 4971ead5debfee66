#pragma once
// How fast fabric time should pass: pure, decided from measurements of the processes.
//
// Margin is the part of the shortest lookahead L that is left when a frame comes or a process
// commits: 1 nothing used, 0 all used, below 0 a process waits at the gate. It is the smaller of
//   slack / (L x k)      least slack of any frame since the last decision,
//   1 - behind / L       how far the slowest process is behind the clock.
//
// Three stages. The clock stands at 0 until every process has done the instant 0 (first
// buffers are filled, first packets made), which says nothing about the pace. Then
// calibration: from kStart the pace doubles every few windows for as long as the margin
// stays comfortable. From there on it follows the smoothed margin, slower below kLow, faster
// above kHigh, in small steps; between the two nothing changes, which keeps it from
// swinging. A pace that is too fast shows only when the slack is gone, so the last such pace is
// remembered and avoided, the less the longer ago it was; the more often the same pace was too fast, the
// longer. So what came of another program once is forgotten within half a second. One bad window is no reason to
// slow down: the clock just waits (a hold) until the process that was late has caught up, and goes on as before.
// How fast it catches up says whether the pace was too fast or the process had no processor, which a busy machine
// takes away at any pace, even the slowest.

#include <cstdint>
#include <optional>

#include "fabric/base/units.h"
#include "netio/runtime/clock_page.h"

namespace mrclab::lab {

/// What the controller is told, every few milliseconds of lab time.
struct PaceInput {
  netio::LabTime now;
  FabricTime clock;    ///< what the clock shows
  FabricTime slowest;  ///< committed by every process; below 0: not begun
  std::optional<int64_t>
      window_slack_ns;  ///< least slack since the last call; empty: no frame came
  /// The earliest event in the lab, if no frame is under way, but not past a limit or the end.
  std::optional<FabricTime> quiet_until;
};

struct PaceDecision {
  enum class Kind : uint8_t {
    kKeep,
    kRate,  ///< from now on `dilation`
    kHold,  ///< the clock stands until the next kRate
    kJump,  ///< the clock shows `to` at once, and goes on with `dilation`
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
  static constexpr double kLow = 0.25;    ///< smoothed margin below this: slower
  static constexpr double kHigh = 0.5;    ///< above this: faster
  static constexpr double kHoldAt = 1.0;  ///< behind by so many L: the clock waits
  static constexpr int64_t kWindowNs = 20'000'000;
  /// A jump must gain at least this much lab time over waiting; it costs ClockPage::kLeadNs.
  static constexpr int64_t kJumpGainNs = 2 * netio::ClockPage::kLeadNs;

  /// `lookahead`: the shortest lookahead of the fabric's wires.
  explicit PaceController(FabricTime lookahead) : lookahead_(lookahead) {}

  PaceDecision step(const PaceInput& input);
  double dilation() const { return dilation_; }
  bool holding() const { return stage_ == Stage::kWaiting || holding_; }
  uint64_t jumps() const { return jumps_; }
  uint64_t holds() const { return holds_; }

 private:
  enum class Stage : uint8_t { kWaiting, kCalibrating, kFollowing };

  double margin() const;
  std::optional<PaceDecision> jump(const PaceInput& input);
  PaceDecision hold(const PaceInput& input, FabricTime reached);
  PaceDecision go_on(const PaceInput& input, FabricTime reached, FabricTime behind);
  /// Ends the window.
  double next_dilation();
  void note_trouble();
  PaceDecision set(double dilation);

  FabricTime lookahead_;
  Stage stage_ = Stage::kWaiting;
  double dilation_ = kStart;
  double smoothed_ = 1;
  bool holding_ = false;
  double trouble_at_ = 0;    ///< no faster than this until it is forgotten
  double last_trouble_ = 0;  ///< trouble_at_ as the last trouble alone would have set it
  double patience_ = 1;  ///< for about so many windows without trouble trouble_at_ is remembered
  uint64_t windows_since_trouble_ = 0;
  netio::LabTime window_start_{}, looked_at_{};
  FabricTime hold_reached_;     ///< what the slowest process had committed at the last look
  FabricTime caught_up_;        ///< what it has committed in this hold
  int64_t catching_up_ns_ = 0;  ///< the time of this hold in which it moved
  std::optional<int64_t> window_slack_ns_;
  FabricTime window_behind_;  ///< most in this window
  FabricTime jumped_to_;
  uint64_t jumps_ = 0, holds_ = 0;
};

/// Lab time between ticks: a sixteenth of the lookahead, so that what waits
/// for a tick costs little of the slack, but no more wake-ups (6-12 us of CPU
/// each) than all processes can afford together.
int64_t tick_for(double dilation, FabricTime lookahead, uint32_t processes);

}  // namespace mrclab::lab
