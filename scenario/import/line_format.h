#pragma once
// What stands in front of the message in a line of a log: the time and, where the format has one, the device. One row
// for each format; the first that fits a line is the line's.
//
// A row's pattern, from left to right; a blank is any run of blanks and tabs:
//   {time}      a date with a time of day (log_time.h)      {time,}   the same with a comma and six digits
//   {epoch}     seconds, ms, us or ns since 1970            {boot}    seconds since the boot
//   {kmsg}      microseconds since the boot                 {after}   seconds after the line before
//   {device}    a name: no driver, no level, no interface   {tag}     "kernel:" or "program[123]:", which stays there
//   {facility}  "kern.info"                                 {location} "RP/0/RSP0/CPU0"
//   {number}, {word}, {any}: anything up to what follows in the pattern
// What is not in braces stands there as it is.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "scenario/import/log_time.h"

namespace mrclab::lab {

struct LineFormat {
  std::string_view pattern;
  std::string_view name;    ///< what writes such lines
  std::string_view source;  ///< the document that has the format
};
std::span<const LineFormat> line_formats();

enum class LineClock : uint8_t { kNone, kTime, kAfter };

struct LineHeader {
  const LineFormat* format = nullptr;  ///< the row; null: none, or words in front of a time
  LineClock clock = LineClock::kNone;  ///< kAfter: `time` counts from the line before
  LogTime time;
  std::string_view device;  ///< empty: the format has none, or a device's own log
  size_t after_time = 0;    ///< where the text behind the time begins
  size_t message = 0;       ///< where the text behind time and device begins
};

/// A line as it stands in a file, without the blanks around it. Lines that a collector wrote in front of another system's
/// (containers, relays) have the collector's time, and the device of the line within, if that names one.
LineHeader read_line_header(std::string_view line);

/// Does a program's name stand there, "kernel:" or "program[123]:"?
bool is_tag(std::string_view text);

}  // namespace mrclab::lab
