#pragma once
// What a window records of itself for people: delays, quadrants, and the causes of reductions. It
// decides nothing.

#include <algorithm>
#include <utility>

#include "fabric/node/window_record.h"

namespace mrclab::endpoint {

class WindowLedger {
 public:
  /// A round trip waited in queues for so long.
  void measured(FabricTime delay) {
    news_.delay = delay;
    news_.most_delay = std::max(news_.most_delay.value_or(delay), delay);
  }
  /// An answer was judged.
  void answered(bool marked, bool late) {
    const auto quadrant = static_cast<WindowQuadrant>((marked ? 2 : 0) + (late ? 1 : 0));
    news_.quadrant = quadrant;
    ++news_.answers[static_cast<size_t>(quadrant)];
  }
  /// Counts a reduction. Not to be called for one within another, whose cause counts.
  void cut(WindowCut cause, Bytes taken) {
    news_.cut = cause;
    WindowRecord::Cuts& cuts = news_.cuts[static_cast<size_t>(cause)];
    ++cuts.times;
    cuts.taken += taken;
  }
  /// Has anything been counted since take_record()?
  bool has_news() const { return news_.quadrant || news_.cut || news_.delay; }
  /// What was counted since the last call.
  WindowRecord take_record() { return std::exchange(news_, {}); }

 private:
  WindowRecord news_;
};

}  // namespace mrclab::endpoint
