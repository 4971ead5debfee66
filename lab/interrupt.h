#pragma once
// Ctrl-C, SIGTERM and SIGHUP end a run in order: the lab is torn down first. A second signal, half
// a second later or more, ends the process at once.

#include <stdexcept>
#include <string>

namespace mrclab::lab {

/// Thrown when the user interrupts a run; everything has been torn down.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

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

/// While it lives, a signal that a guard would note prints `last_words` and ends the process with
/// code 3. It is meant for work that cannot be asked to stop and leaves nothing behind. Without an
/// InterruptGuard it does nothing.
class EndsAtOnce {
 public:
  explicit EndsAtOnce(const std::string& last_words);
  ~EndsAtOnce();
  EndsAtOnce(const EndsAtOnce&) = delete;
  EndsAtOnce& operator=(const EndsAtOnce&) = delete;
};

}  // namespace mrclab::lab
