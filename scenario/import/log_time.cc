#include "scenario/import/log_time.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>
#include <vector>

#include "scenario/import/text_scanner.h"

namespace mrclab::lab {
namespace {

constexpr int64_t kSecond = 1'000'000'000;
constexpr int64_t kDaySeconds = 86'400;
constexpr int kPlainYear = 2001;  // for logs without years
constexpr int kLeapYear = 2004;
constexpr int kFirstYear = 1970, kLastYear = 2200;

/// After a point, a comma, or a colon before three digits (Comware), digits as nanoseconds; those after the ninth do not
/// count.
void read_fraction(TextScanner& in, LogTime& time) {
  const auto digit = [&](size_t at) { return is_digit(in.peek(at)); };
  const bool comware = in.peek() == ':' && digit(1) && digit(2) && digit(3) && !digit(4);
  if (!comware && in.peek() != '.' && in.peek() != ',') return;
  if (!digit(1)) return;
  in.skip(in.peek());
  while (is_digit(in.peek())) {
    const int value = in.take() - '0';
    if (time.resolution == 1) continue;
    time.resolution /= 10;
    time.ns += value * time.resolution;
  }
}

/// "10:11", "10:11:12", "10:11:12.123", "9:11:12 PM".
void read_clock(TextScanner& in, LogTime& time) {
  int hour = in.number(1, 2, 0, 23);
  in.expect(':');
  const int minute = in.number(2, 2, 0, 59);
  int second = 0;
  time.resolution = 60 * kSecond;
  if (in.peek() == ':' && is_digit(in.peek(1)) && is_digit(in.peek(2)) && !is_digit(in.peek(3))) {
    in.skip(':');
    second = in.number(2, 2, 0, 60);  // 60: a leap second
    time.resolution = kSecond;
    read_fraction(in, time);
  }
  const bool half = in.peek() == ' ' && (in.peek(1) == 'A' || in.peek(1) == 'P') &&
                    in.peek(2) == 'M' && !is_letter(in.peek(3));
  if (half) {
    hour = hour % 12 + (in.peek(1) == 'P' ? 12 : 0);
    for (int i = 0; i < 3; ++i) in.take();
  }
  time.ns += (int64_t{3600} * hour + int64_t{60} * minute + second) * kSecond;
}

/// Names of zones that stand between a time and the rest; before a colon any short word in capitals is one. Only UTC's own are sure to mean one thing, and differences of
/// times are what counts, so the others are read over.
constexpr std::array<std::string_view, 27> kZones{
    "UTC", "GMT", "DST", "CET",  "CEST", "EST",  "EDT", "CST",  "CDT",
    "MST", "MDT", "PST", "PDT",  "JST",  "KST",  "IST", "BST",  "MSK",
    "SGT", "HKT", "EET", "EEST", "AEST", "AEDT", "WET", "WEST", "BJT"};

bool read_over_zone_name(TextScanner& in) {
  if (in.peek() != ' ') return false;
  size_t end = 1;
  while (is_letter(in.peek(end))) ++end;
  const std::string_view word = in.rest().substr(1, end - 1);
  const bool own = in.peek(end) == ':' && word.size() >= 2 && word.size() <= 5 &&
                   std::all_of(word.begin(), word.end(), [](char c) { return c <= 'Z'; });
  if (!own && std::find(kZones.begin(), kZones.end(), word) == kZones.end()) return false;
  if (is_digit(in.peek(end)) || in.peek(end) == '-' || in.peek(end) == '.') return false;
  for (size_t i = 0; i < end; ++i) in.take();
  return true;
}

/// "Z", "+01:00", "+0100", " +0100", " UTC", or nothing at all.
void read_zone(TextScanner& in, LogTime& time) {
  if (in.skip('Z')) return;
  const size_t at = in.peek() == ' ' ? 1 : 0;
  const char sign = in.peek(at);
  const bool offset = (sign == '+' || sign == '-') && is_digit(in.peek(at + 1)) &&
                      is_digit(in.peek(at + 2)) &&
                      (in.peek(at + 3) == ':' || is_digit(in.peek(at + 3)));
  if (offset) {
    for (size_t i = 0; i <= at; ++i) in.take();
    int64_t seconds = int64_t{3600} * in.number(2, 2, 0, 23);
    in.skip(':');
    seconds += int64_t{60} * in.number(2, 2, 0, 59);
    time.ns += (sign == '+' ? -seconds : seconds) * kSecond;
  }
  read_over_zone_name(in);
}

/// The year of a date, where it stands behind the time of day: " 2024".
void read_late_year(TextScanner& in, LogTime& time) {
  for (size_t i = 1; i <= 4; ++i) {
    if (in.peek() != ' ' || !is_digit(in.peek(i))) return;
  }
  const char next = in.peek(5);
  if (next != '\0' && next != ' ' && next != '\t' && next != ']') return;
  TextScanner year = in;
  year.skip(' ');
  time.year = year.number(4, 4, kFirstYear, kLastYear);
  if (year.ok()) in = year;
  if (!year.ok()) time.year = 0;
}

std::optional<ReadLogTime> finished(const TextScanner& in, LogTime time) {
  if (!in.ok()) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year(time.year == 0 ? kLeapYear : time.year),
                                         std::chrono::month(static_cast<unsigned>(time.month)),
                                         std::chrono::day(static_cast<unsigned>(time.day))};
  if (!date.ok()) return std::nullopt;
  if (time.year != 0) {
    time.ns += std::chrono::sys_days(date).time_since_epoch().count() * kDaySeconds * kSecond;
  }
  return ReadLogTime{time, in.position()};
}

int year_of(TextScanner& in) {
  const int year = in.number(2, 4, 0, kLastYear);
  if (year < 100) return year + 2000;
  if (year < kFirstYear) in.fail();
  return year;
}

/// "Thu ", "Thu, ": the day of the week in front of a date.
void read_over_weekday(TextScanner& in) {
  constexpr std::array<std::string_view, 7> kDays{"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
  if (std::find(kDays.begin(), kDays.end(), in.rest().substr(0, 3)) == kDays.end()) return;
  if (in.peek(3) != ' ' && in.peek(3) != ',') return;
  for (int i = 0; i < 3; ++i) in.take();
  in.skip(',');
  in.blanks();
}

/// "2024-11-28T10:11:12Z", "2024/11/28 10:11:12", "2024.11.28-10:11:12"; "20241128T101112.123Z".
std::optional<ReadLogTime> read_year_first(TextScanner in) {
  LogTime time;
  time.year = in.number(4, 4, kFirstYear, kLastYear);
  const char between = is_digit(in.peek()) ? '\0' : in.peek();
  if (between != '\0' && between != '-' && between != '/' && between != '.') return std::nullopt;
  in.skip(between);
  time.month = in.number(2, 2, 1, 12);
  if (between != '\0') in.expect(between);
  time.day = in.number(2, 2, 1, 31);
  if (!in.skip('T') && !in.skip('_') && !in.skip('-')) in.blanks();
  if (between == '\0' && is_digit(in.peek(2))) {
    time.ns = int64_t{3600} * in.number(2, 2, 0, 23) + int64_t{60} * in.number(2, 2, 0, 59);
    time.ns = (time.ns + in.number(2, 2, 0, 60)) * kSecond;
    time.resolution = kSecond;
    read_fraction(in, time);
  } else {
    read_clock(in, time);
  }
  read_zone(in, time);
  return finished(in, time);
}

/// "Nov 28 10:11:12.123", with the year in front, behind the day, or behind the time of day.
std::optional<ReadLogTime> read_month_name(TextScanner in) {
  LogTime time;
  if (is_digit(in.peek())) {
    time.year = in.number(4, 4, kFirstYear, kLastYear);
    in.blanks();
  }
  time.month = in.month();
  while (in.peek() == ' ' || in.peek() == '/') in.take();
  time.day = in.number(1, 2, 1, 31);
  in.skip(',');
  if (in.skip('/')) {  // RouterOS: "nov/28/2024"
    time.year = year_of(in);
  }
  in.blanks();
  TextScanner with_year = in;
  const int year = with_year.number(4, 4, kFirstYear, kLastYear);
  with_year.skip(',');
  with_year.blanks();
  if (time.year == 0 && with_year.ok()) {
    in = with_year;
    time.year = year;
  }
  if (in.skip('@')) in.blanks();
  read_clock(in, time);
  read_zone(in, time);
  if (time.year == 0) read_late_year(in, time);
  return finished(in, time);
}

/// "28/Nov/2024:10:11:12 +0100", "28-Nov-2024 10:11:12", "28 Nov 2024 10:11:12".
std::optional<ReadLogTime> read_day_first(TextScanner in) {
  LogTime time;
  time.day = in.number(1, 2, 1, 31);
  const char between = in.peek();
  if (between != '/' && between != '-' && between != ' ') return std::nullopt;
  in.skip(between);
  time.month = in.month();
  in.expect(between);
  time.year = year_of(in);
  if (!in.skip(':')) in.blanks();
  read_clock(in, time);
  read_zone(in, time);
  return finished(in, time);
}

/// "11/28/2024 10:11:12", "11/28/24 10:11:12" (month first, unless that is no month), "28.11.2024 10:11:12".
std::optional<ReadLogTime> read_numbers(TextScanner in) {
  LogTime time;
  time.month = in.number(1, 2, 1, 31);
  const char between = in.peek();
  if (between != '/' && between != '.') return std::nullopt;
  in.skip(between);
  time.day = in.number(1, 2, 1, 31);
  in.expect(between);
  time.year = year_of(in);
  if (between == '.' || time.month > 12) std::swap(time.month, time.day);
  in.skip(',');
  in.blanks();
  read_clock(in, time);
  read_zone(in, time);
  return finished(in, time);
}

/// klog of Kubernetes: "I1128 10:11:12.123456".
std::optional<ReadLogTime> read_klog(TextScanner in) {
  if (std::string_view("IWEF").find(in.peek()) == std::string_view::npos) return std::nullopt;
  in.take();
  LogTime time;
  time.month = in.number(2, 2, 1, 12);
  time.day = in.number(2, 2, 1, 31);
  in.blanks();
  read_clock(in, time);
  if (time.resolution >= kSecond) return std::nullopt;
  return finished(in, time);
}

/// A time of seconds since 1970 has the date that it means, so that lines without years may follow it.
void set_date(LogTime& time) {
  const std::chrono::sys_days day{
      std::chrono::floor<std::chrono::days>(std::chrono::seconds(time.ns / kSecond))};
  const std::chrono::year_month_day date{day};
  time.year = static_cast<int>(date.year());
  time.month = static_cast<int>(static_cast<unsigned>(date.month()));
  time.day = static_cast<int>(static_cast<unsigned>(date.day()));
}

/// How many years the log goes on, or a late line back, from one time to the next.
int year_step(const LogTime& before, const LogTime& next) {
  constexpr int kHalfYear = 6 * 31;
  const auto day_of_year = [](const LogTime& time) { return time.month * 31 + time.day; };
  const int days = day_of_year(next) - day_of_year(before);
  return days < -kHalfYear ? 1 : days > kHalfYear ? -1 : 0;
}

int64_t date_ns(int year, int month, int day) {
  const std::chrono::sys_days date{std::chrono::year(year) / month / day};
  return int64_t{date.time_since_epoch().count()} * kDaySeconds * kSecond;
}

}  // namespace

std::optional<ReadLogTime> read_log_time(std::string_view text) {
  TextScanner in(text);
  if (!is_digit(in.peek()) && !is_letter(in.peek())) return std::nullopt;
  read_over_weekday(in);
  for (const auto read :
       {read_year_first, read_month_name, read_day_first, read_numbers, read_klog}) {
    if (const auto time = read(in)) return time;
  }
  return std::nullopt;
}

std::optional<ReadLogTime> read_epoch(std::string_view text) {
  size_t digits = 0;
  while (digits < text.size() && is_digit(text[digits])) ++digits;
  LogTime time;
  switch (digits) {
    case 10: time.resolution = kSecond; break;
    case 13: time.resolution = 1'000'000; break;
    case 16: time.resolution = 1'000; break;
    case 19: time.resolution = 1; break;
    default: return std::nullopt;
  }
  for (const char c : text.substr(0, digits)) {
    if (__builtin_mul_overflow(time.ns, int64_t{10}, &time.ns)) return std::nullopt;
    if (__builtin_add_overflow(time.ns, int64_t{c - '0'}, &time.ns)) return std::nullopt;
  }
  if (__builtin_mul_overflow(time.ns, time.resolution, &time.ns)) return std::nullopt;
  TextScanner in(text.substr(digits));
  read_fraction(in, time);
  set_date(time);
  return ReadLogTime{time, digits + in.position()};
}

std::optional<ReadLogTime> read_counted_seconds(std::string_view text) {
  TextScanner in(text);
  while (in.peek() == ' ' || in.peek() == '+') in.take();
  LogTime time;
  time.counted = true;
  time.ns = in.number(1, 9, 0, 999'999'999) * kSecond;
  time.resolution = kSecond;
  read_fraction(in, time);
  if (!in.ok() || time.resolution == kSecond) return std::nullopt;
  return ReadLogTime{time, in.position()};
}

std::optional<LogTime> read_time_column(std::string_view text) {
  std::optional<ReadLogTime> read = read_log_time(text);
  if (!read) read = read_epoch(text);
  if (!read && !text.empty() && is_digit(text.front())) {
    TextScanner in(text);
    LogTime time;
    time.counted = true;
    time.ns = in.number(1, 9, 0, 999'999'999) * kSecond;
    time.resolution = kSecond;
    read_fraction(in, time);
    if (in.ok()) read = ReadLogTime{time, in.position()};
  }
  if (!read || read->length != text.size()) return std::nullopt;
  return read->time;
}

void assign_years(std::span<LogTime* const> times) {
  int years = 0;  // since the first line
  int first = kPlainYear;
  bool settled = false;
  const LogTime* before = nullptr;
  std::vector<std::pair<LogTime*, int>> undated;
  for (LogTime* time : times) {
    if (time->counted) continue;
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
