#include "scenario/import/line_event.h"

namespace mrclab::lab {

LineEvent read_line_event(std::string_view line) {
  LineEvent event{read_line_header(line), std::nullopt};
  event.message = read_link_message(line.substr(event.header.message));
  if (event.message || event.header.clock == LineClock::kNone) return event;
  // The word behind the time was no device but the first of the sentence: "10:10:10 eth0 link is down".
  event.message = read_link_message(line.substr(event.header.after_time));
  if (event.message) event.header.device = {};
  return event;
}

}  // namespace mrclab::lab
