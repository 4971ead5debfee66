#pragma once
// Ctrl-C, SIGTERM and SIGHUP end a run in order: the lab is torn down first. A second signal, half
// a second later or more, ends the process at once.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace mrclab::lab {

/// Thrown when the user interrupts a run. Everything has been torn down, except memory that takes
/// long to free piece by piece: the end of the process leaves that to the kernel.
class Interrupted : public std::runtime_error {
 public:
  explicit Interrupted(const std::string& what, std::shared_ptr<const void> memory = {})
      : std::runtime_error(what), memory_(std::move(memory)) {}
  const std::shared_ptr<const void>& memory() const { return memory_; }

 private:
  std::shared_ptr<const void> memory_;  // shared, because exceptions are copied
};

/// Has the user asked for an end? Called every few milliseconds; an empty one means: never.
using IsInterrupted = std::function<bool()>;

/// While it lives, the signals are noted instead of ending the process. One at a time.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Has a signal come since the guard was made?
  bool interrupted() const;
  /// The same as a question to hand on; the guard outlives it.
  IsInterrupted question() const {
    return [this] { return interrupted(); };
  }
  /// How long ago the signal of interrupted() came; interrupted() is false again. This is for what is
  /// still done with what there is: the next signal ends the process all the same.
  std::chrono::milliseconds take();
};

/// While it lives, a signal that a guard would note prints `last_words` and ends the process with
/// code 3. It is meant for work that cannot be asked to stop and leaves nothing behind. The end of
/// `at_latest` does the same. Without an InterruptGuard it does nothing.
class EndsAtOnce {
 public:
  explicit EndsAtOnce(const std::string& last_words,
                      std::optional<std::chrono::milliseconds> at_latest = {});
  ~EndsAtOnce();
  EndsAtOnce(const EndsAtOnce&) = delete;
  EndsAtOnce& operator=(const EndsAtOnce&) = delete;
};

}  // namespace mrclab::lab
