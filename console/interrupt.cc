#include "console/interrupt.h"

#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <initializer_list>

namespace mrclab::lab {
namespace {

constexpr int kExitCode = 3;  // code of a run without a verdict
/// A second signal within this time is the same request: timeout(1) signals
/// the process and its group.
constexpr long kRepeatedAfterMs = 500;

// These are global because a signal handler can reach nothing else. A signal_set of Boost.Asio cannot take
// its place: a simulation and a judgement compute for seconds without a look at an io_context, EndsAtOnce ends
// the process in the middle of them, and a thread that waited for signals would forbid setns().
volatile std::sig_atomic_t g_interrupted = 0;
volatile std::sig_atomic_t g_guarded = 0;
volatile std::sig_atomic_t g_last_words_size = 0;  // above 0: the process ends at once
std::array<char, 512> g_last_words;
timespec g_first;  // written by the handler alone, before g_interrupted

long milliseconds_since(const timespec& then) {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return (now.tv_sec - then.tv_sec) * 1000 + (now.tv_nsec - then.tv_nsec) / 1'000'000;
}

void end_at_once() {
  [[maybe_unused]] const ssize_t told =
      ::write(STDERR_FILENO, g_last_words.data(), static_cast<size_t>(g_last_words_size));
  ::_exit(kExitCode);
}

void give_time(std::chrono::milliseconds time) {
  const auto ms = time.count();
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(ms / 1000);
  timer.it_value.tv_usec = static_cast<suseconds_t>(ms % 1000 * 1000);
  ::setitimer(ITIMER_REAL, &timer, nullptr);
}

void time_is_over(int) {
  if (g_last_words_size > 0) end_at_once();
}

void note_interrupt(int number) {
  if (g_last_words_size > 0) end_at_once();
  if (g_interrupted == 0) {
    ::clock_gettime(CLOCK_MONOTONIC, &g_first);
    g_interrupted = 1;
  } else if (milliseconds_since(g_first) >= kRepeatedAfterMs) {
    std::signal(number, SIG_DFL);
    std::raise(number);  // takes effect when this handler returns
  }
}

}  // namespace

InterruptGuard::InterruptGuard() {
  g_interrupted = 0;
  g_guarded = 1;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, note_interrupt);
}

InterruptGuard::~InterruptGuard() {
  g_guarded = 0;
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) std::signal(number, SIG_DFL);
}

// The signal handler is one for the process, and so is what it notes: hence the guard has no member.
bool InterruptGuard::interrupted()
    const {  // NOLINT(readability-convert-member-functions-to-static)
  return g_interrupted != 0;
}

std::chrono::milliseconds InterruptGuard::take() {
  if (g_interrupted == 0) return {};
  const std::chrono::milliseconds ago(milliseconds_since(g_first));
  g_interrupted = 0;
  return ago;
}

EndsAtOnce::EndsAtOnce(const std::string& last_words,
                       std::optional<std::chrono::milliseconds> at_latest) {
  if (g_guarded == 0) return;
  const std::string text = (::isatty(STDERR_FILENO) == 1 ? "\n" : "") + last_words;
  const size_t size = text.copy(g_last_words.data(), g_last_words.size() - 1);
  g_last_words[size] = '\n';
  std::atomic_signal_fence(std::memory_order_release);  // the handler must not see the size first
  g_last_words_size = static_cast<int>(size) + 1;
  if (g_interrupted != 0) end_at_once();
  if (!at_latest) return;
  std::signal(SIGALRM, time_is_over);
  give_time(std::max(*at_latest, std::chrono::milliseconds(1)));
}

EndsAtOnce::~EndsAtOnce() {
  g_last_words_size = 0;
  give_time({});
}

}  // namespace mrclab::lab
