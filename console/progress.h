#pragma once
// The progress of a task, for a user who waits: one line on stderr that is written over on a
// terminal; in a pipe plain lines, ever rarer.

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

namespace mrclab::lab {

class Progress {
 public:
  using Time = std::chrono::steady_clock::time_point;
  /// A task that is over sooner shows nothing.
  static constexpr std::chrono::milliseconds kSilent{1000};
  static constexpr std::chrono::milliseconds kRedraw{100};      ///< on a terminal
  static constexpr std::chrono::milliseconds kFirstLine{2000};  ///< in a pipe; then twice as long
  static constexpr std::chrono::milliseconds kLongest{60'000};  ///< between two lines, at last

  struct Options {
    std::FILE* out = stderr;
    bool terminal = false;
    std::function<Time()> now;
  };

  /// `what` is being done: "judging". On stderr, as it is.
  explicit Progress(std::string what);
  Progress(std::string what, Options options);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  /// Is it time to show anything? For callers whose details are expensive.
  bool due() const;
  /// `done` from 0 to 1; what is left is estimated at the pace of the time from a quarter or a half of what has passed
  /// on, because a simulation's first round trip costs less than those that follow. Empty: the end is not known.
  void show(std::optional<double> done, std::string_view details = {});
  /// Makes room for other output.
  void clear();

  /// "judging: 40 %, about 12 s left; 312us of 1.2ms"
  std::string text(std::optional<double> done, std::string_view details) const;

 private:
  struct Mark {
    Time at;
    double done = 0;
  };
  void set_mark(double done);

  std::string what_;
  Options options_;
  Time start_;
  Time next_;
  Mark earlier_,
      later_;  ///< how much was done at two instants, the later one in the last half of what has passed
  std::chrono::milliseconds wait_ = kFirstLine;
  bool shown_ = false;
};

/// Shows that a task of unknown length goes on: "judging: 14 s; 1.2 GB of evidence". A thread of
/// its own, until it is destroyed.
class Ticking {
 public:
  Ticking(std::string what, std::string details);
  ~Ticking();
  Ticking(const Ticking&) = delete;
  Ticking& operator=(const Ticking&) = delete;

 private:
  void tick(const std::string& what, const std::string& details);

  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;  // under mutex_
  std::thread thread_;
};

/// What `work` returns, ticking meanwhile.
auto while_ticking(std::string what, std::string details, const auto& work) {
  const Ticking ticking(std::move(what), std::move(details));
  return work();
}

/// Columns of the terminal behind `stream`; kTerminalColumns where there is none or it reports no width.
size_t terminal_columns(std::FILE* stream);
/// Lines of it; kTerminalRows likewise.
size_t terminal_rows(std::FILE* stream);
/// Columns to lay a table out for: those of the terminal, as far as lines stay readable.
size_t table_columns(std::FILE* stream);

/// "about 12 s", "about 3 min": no more exact than it is known.
std::string about_seconds(double seconds);
/// "512 kB", "1.2 GB"
std::string byte_text(uint64_t bytes);

}  // namespace mrclab::lab
