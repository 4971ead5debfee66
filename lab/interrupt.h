#pragma once
// Ctrl-C, SIGTERM and SIGHUP end a run in order: the lab is torn down first.

namespace mrclab::lab {

/// While it lives, the signals are noted instead of ending the process. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Has one come since the guard was made?
  static bool interrupted();
};

}  // namespace mrclab::lab
