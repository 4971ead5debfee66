#pragma once
// Timestamps as logs write them, at the start of a text. Nothing here asks a clock or a time zone:
// a time without a zone counts as UTC, and one without a year gets it from its neighbours.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mrclab::lab {

/// An instant of a log.
struct LogTime {
  int64_t ns = 0;          ///< since 1970 in UTC; without a year: since the start of that year
  int64_t resolution = 0;  ///< what its last digit means, in ns: a second, a millisecond, ...
  int year = 0;            ///< as written; 0: not written
  int month = 1, day = 1;
  bool counted = false;  ///< seconds since a boot, or since anything: not comparable with dates
};

struct ReadLogTime {
  LogTime time;
  size_t length = 0;  ///< characters that it took
};

/// A date with a time of day, in any of the orders that logs have it in; docs/logs.md lists them. Empty if the text does
/// not start with one.
std::optional<ReadLogTime> read_log_time(std::string_view text);

/// "1732785010.123456" of 10 digits in front of the point (seconds since 1970), or 13, 16 or 19 digits (ms, us, ns).
std::optional<ReadLogTime> read_epoch(std::string_view text);

/// "88231.114021", "  +4.000123": seconds with a fraction, blanks in front of them.
std::optional<ReadLogTime> read_counted_seconds(std::string_view text);

/// A column of a table: any of these, or seconds such as "12" and "12.5" that count from anything; the whole text.
std::optional<LogTime> read_time_column(std::string_view text);

/// Gives times without a year one, in the order of the log: what is more than half a year before the
/// line that precedes it is of the next year (and the other way round for a late line). A line with a
/// year settles it for all. If none has one, any year will do, as only differences of times count,
/// but one with a 29th of February where there is such a line. Counted times stay as they are.
void assign_years(std::span<LogTime* const> times);

}  // namespace mrclab::lab
