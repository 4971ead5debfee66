#pragma once
// A line of a log, header and message, as the link event that it reports.

#include <optional>
#include <string_view>

#include "scenario/import/line_format.h"
#include "scenario/import/link_sentence.h"

namespace mrclab::lab {

struct LineEvent {
  LineHeader header;  ///< its device is empty where the message begins with that word
  std::optional<LinkMessage> message;  ///< empty: the line is about something else
};
LineEvent read_line_event(std::string_view line);

}  // namespace mrclab::lab
