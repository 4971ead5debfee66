#include "console/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "console/stopwatch.h"
#include "console/terminal.h"

namespace mrclab::lab {
namespace {

/// A smaller part allows no estimate of the rest.
constexpr double kEnoughDone = 0.01;

}  // namespace

Progress::Progress(std::string what)
    : Progress(std::move(what),
               {stderr, wants_colour(stderr), [] { return std::chrono::steady_clock::now(); }}) {}

Progress::Progress(std::string what, Options options)
    : what_(std::move(what)),
      options_(std::move(options)),
      start_(options_.now()),
      next_(start_ + (options_.terminal ? kSilent : kFirstLine)),
      earlier_{start_},
      later_{start_} {}

bool Progress::due() const { return options_.now() >= next_; }

std::string Progress::text(std::optional<double> done, std::string_view details) const {
  if (!done) return fmt::format("{}: {}", what_, details);
  std::string text =
      fmt::format("{}: {:.0f} %", what_, std::floor(100 * std::clamp(*done, 0.0, 1.0)));
  if (*done >= kEnoughDone && *done < 1) {
    const Mark from = *done > earlier_.done ? earlier_ : Mark{start_};
    const double elapsed = std::chrono::duration<double>(options_.now() - from.at).count();
    text += fmt::format(", {} left", about_seconds(elapsed * (1 - *done) / (*done - from.done)));
  }
  return details.empty() ? text : fmt::format("{}; {}", text, details);
}

void Progress::set_mark(double done) {
  const Time now = options_.now();
  if (now - start_ < (later_.at - start_) * 2) return;
  earlier_ = later_;
  later_ = {now, done};
}

void Progress::show(std::optional<double> done, std::string_view details) {
  if (!due()) return;
  const std::string line = text(done, details);
  if (done) set_mark(*done);
  if (options_.terminal) {
    const size_t room = terminal_columns(options_.out) - 1;  // a full line would wrap
    fmt::print(options_.out, "\r\033[K{}", std::string_view(line).substr(0, room));
    next_ = options_.now() + kRedraw;
  } else {
    fmt::print(options_.out, "{}\n", line);
    wait_ = std::min(wait_ * 2, kLongest);
    next_ = options_.now() + wait_;
  }
  std::fflush(options_.out);
  shown_ = true;
}

void Progress::clear() {
  if (!shown_ || !options_.terminal) return;
  std::fputs("\r\033[K", options_.out);
  std::fflush(options_.out);
  shown_ = false;
}

// Not std::jthread and its stop_token: the library of Debian's emscripten has none.
Ticking::Ticking(std::string what, std::string details)
    : thread_(
          [this, what = std::move(what), details = std::move(details)] { tick(what, details); }) {}

Ticking::~Ticking() {
  {
    const std::lock_guard lock(mutex_);
    done_ = true;
  }
  ended_.notify_one();
  thread_.join();
}

void Ticking::tick(const std::string& what, const std::string& details) {
  Progress progress(what);
  const auto start = std::chrono::steady_clock::now();
  std::unique_lock lock(mutex_);
  while (!done_) {
    progress.show({}, fmt::format("{:.0f} s; {}", seconds_since(start), details));
    ended_.wait_for(lock, Progress::kRedraw, [this] { return done_; });
  }
}

namespace {

/// The size of the terminal behind `stream`; all zero where the stream is no terminal.
winsize window_of(std::FILE* stream) {
  winsize size{};
  return ::ioctl(::fileno(stream), TIOCGWINSZ, &size) == 0 ? size : winsize{};
}

}  // namespace

size_t terminal_columns(std::FILE* stream) {
  const size_t columns = window_of(stream).ws_col;
  return columns > 0 ? columns : kTerminalColumns;
}

size_t terminal_rows(std::FILE* stream) {
  const size_t rows = window_of(stream).ws_row;
  return rows > 0 ? rows : kTerminalRows;
}

size_t table_columns(std::FILE* stream) {
  constexpr size_t kNarrow = 60, kWide = 100;
  return std::clamp(terminal_columns(stream), kNarrow, kWide);
}

std::string about_seconds(double seconds) {
  if (seconds < 90) return fmt::format("about {:.0f} s", std::max(1.0, std::ceil(seconds)));
  if (seconds < 90 * 60) return fmt::format("about {:.0f} min", std::ceil(seconds / 60));
  return fmt::format("about {:.0f} h", std::ceil(std::min(seconds, 1e9) / 3600));
}

std::string byte_text(uint64_t bytes) {
  constexpr std::array kUnits{"B", "kB", "MB", "GB", "TB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1000 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.{}f} {}", value, value < 10 && unit > 0 ? 1 : 0, kUnits[unit]);
}

}  // namespace mrclab::lab
