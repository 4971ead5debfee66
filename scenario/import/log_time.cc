#include "scenario/import/log_time.h"

#include <chrono>
#include <utility>
#include <vector>

namespace mrclab::lab {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDaySeconds = 86'400;
constexpr int kPlainYear = 2001;  // for logs without years
constexpr int kLeapYear = 2004;
constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";

/// Reads pieces off the front of a text; after the first that is missing, nothing more is read.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  bool ok() const { return ok_; }
  size_t position() const { return at_; }
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool skip(char c) {
    if (peek() != c || c == '\0') return false;
    ++at_;
    return true;
  }
  void expect(char c) { ok_ = skip(c) && ok_; }
  void blanks() {
    ok_ = ok_ && peek() == ' ';
    while (skip(' ')) {
    }
  }
  /// `min` to `max` digits, of a value from `low` to `high`.
  int number(size_t min, size_t max, int low, int high) {
    int value = 0;
    size_t digits = 0;
    while (digits < max && peek() >= '0' && peek() <= '9') {
      value = value * 10 + (text_[at_++] - '0');
      ++digits;
    }
    ok_ = ok_ && digits >= min && value >= low && value <= high;
    return value;
  }
  /// A month's English name: 1 to 12.
  int month() {
    const size_t found = kMonths.find(text_.substr(at_, 3));
    ok_ = ok_ && text_.size() >= at_ + 3 && found != std::string_view::npos && found % 3 == 0;
    at_ += 3;
    return static_cast<int>(found / 3) + 1;
  }
  /// After a point or a comma, digits as nanoseconds; those after the ninth do not count.
  void fraction(LogTime& time) {
    if (peek() != '.' && peek() != ',') return;
    if (at_ + 1 >= text_.size() || text_[at_ + 1] < '0' || text_[at_ + 1] > '9') return;
    ++at_;
    while (peek() >= '0' && peek() <= '9') {
      const int digit = text_[at_++] - '0';
      if (time.resolution == 1) continue;
      time.resolution /= 10;
      time.ns += digit * time.resolution;
    }
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
  bool ok_ = true;
};

void read_clock(Scanner& in, LogTime& time) {
  int64_t seconds = int64_t{3600} * in.number(2, 2, 0, 23);
  in.expect(':');
  seconds += int64_t{60} * in.number(2, 2, 0, 59);
  in.expect(':');
  seconds += in.number(2, 2, 0, 60);  // 60: a leap second
  time.ns += seconds * kSecond;
  time.resolution = kSecond;
  in.fraction(time);
}

int64_t date_ns(int year, int month, int day) {
  const std::chrono::sys_days date{std::chrono::year(year) / month / day};
  return int64_t{date.time_since_epoch().count()} * kDaySeconds * kSecond;
}

/// "Z", "+01:00", "+0100", or nothing at all.
void read_zone(Scanner& in, LogTime& time) {
  if (in.skip('Z')) return;
  const char sign = in.peek();
  if (sign != '+' && sign != '-') return;
  in.skip(sign);
  int64_t seconds = int64_t{3600} * in.number(2, 2, 0, 23);
  in.skip(':');
  seconds += int64_t{60} * in.number(2, 2, 0, 59);
  time.ns += (sign == '+' ? -seconds : seconds) * kSecond;
}

std::optional<ReadLogTime> result_of(const Scanner& in, const LogTime& time) {
  if (!in.ok()) return std::nullopt;
  return ReadLogTime{time, in.position()};
}

std::optional<ReadLogTime> read_iso(std::string_view text) {
  Scanner in(text);
  LogTime time;
  time.year = in.number(4, 4, 1970, 2200);
  in.expect('-');
  time.month = in.number(2, 2, 1, 12);
  in.expect('-');
  time.day = in.number(2, 2, 1, 31);
  if (!in.skip('T')) in.expect(' ');
  read_clock(in, time);
  read_zone(in, time);
  if (in.ok()) time.ns += date_ns(time.year, time.month, time.day);
  return result_of(in, time);
}

std::optional<ReadLogTime> read_with_month_name(std::string_view text) {
  Scanner in(text);
  LogTime time;
  if (in.peek() >= '0' && in.peek() <= '9') {
    time.year = in.number(4, 4, 1970, 2200);
    in.blanks();
  }
  time.month = in.month();
  in.blanks();
  time.day = in.number(1, 2, 1, 31);
  in.blanks();
  read_clock(in, time);
  if (in.ok() && time.year != 0) time.ns += date_ns(time.year, time.month, time.day);
  return result_of(in, time);
}

/// How many years the log goes on, or a late line back, from one time to the next.
int year_step(const LogTime& before, const LogTime& next) {
  constexpr int kHalfYear = 6 * 31;
  const auto day_of_year = [](const LogTime& time) { return time.month * 31 + time.day; };
  const int days = day_of_year(next) - day_of_year(before);
  return days < -kHalfYear ? 1 : days > kHalfYear ? -1 : 0;
}

}  // namespace

std::optional<ReadLogTime> read_log_time(std::string_view text) {
  if (const auto time = read_iso(text)) return time;
  return read_with_month_name(text);
}

std::optional<LogTime> read_seconds(std::string_view text) {
  Scanner in(text);
  LogTime time;
  time.year = 1970;
  time.ns = int64_t{in.number(1, 9, 0, 999'999'999)};
  if (in.peek() >= '0' && in.peek() <= '9') time.ns = time.ns * 10 + in.number(1, 1, 0, 9);
  time.ns *= kSecond;
  time.resolution = kSecond;
  in.fraction(time);
  if (!in.ok() || in.position() != text.size()) return std::nullopt;
  return time;
}

void assign_years(std::span<LogTime* const> times) {
  int years = 0;  // since the first line
  int first = kPlainYear;
  bool settled = false;
  const LogTime* before = nullptr;
  std::vector<std::pair<LogTime*, int>> undated;
  for (LogTime* time : times) {
    if (before) years += year_step(*before, *time);
    before = time;
    const bool leap_day = time->month == 2 && time->day == 29;
    if (time->year == 0) undated.emplace_back(time, years);
    if (settled || (time->year == 0 && !leap_day)) continue;
    settled = time->year != 0;
    first = (settled ? time->year : kLeapYear) - years;
  }
  for (const auto& [time, year] : undated) {
    time->ns += date_ns(first + year, time->month, time->day);
  }
}

}  // namespace mrclab::lab
