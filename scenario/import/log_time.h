#pragma once
// Timestamps as logs write them, at the start of a line. Nothing here asks a clock or a time zone:
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
};

struct ReadLogTime {
  LogTime time;
  size_t length = 0;  ///< characters that it took
};

/// "2024-03-12T10:11:12.123+01:00" (RFC 3339; a blank for the T, a comma for the point, no zone),
/// "Mar 12 10:11:12" (RFC 3164; with a fraction as SONiC writes it), "2024 Mar 12 10:11:12.123"
/// (NX-OS, newer SONiC). Empty if the text does not start with one.
std::optional<ReadLogTime> read_log_time(std::string_view text);

/// Reads seconds, "12.5" or "1710237072.123": the whole text. For lists of events only.
std::optional<LogTime> read_seconds(std::string_view text);

/// Gives times without a year one, in the order of the log: what is more than half a year before the
/// line that precedes it is of the next year (and the other way round for a late line). A line with a
/// year settles it for all. If none has one, any year will do, as only differences of times count,
/// but one with a 29th of February where there is such a line.
void assign_years(std::span<LogTime* const> times);

}  // namespace mrclab::lab
