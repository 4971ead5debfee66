#pragma once
// A task of a lesson done in a terminal: a prediction first, then faults as `mrclab fault` takes them, a transport, or
// an answer, and the same check as in the page.

#include <optional>
#include <string>
#include <vector>

#include "session/lesson.h"
#include "session/lesson_note.h"

namespace mrclab::lab {

struct TerminalTry {
  std::optional<std::string>
      prediction;  ///< asked for where it is empty, as is what follows if all of it is
  std::vector<std::string> faults;  ///< lines: "link_down p0.t0-0:u0 for=40us at=250us"
  std::optional<std::string>
      transport;  ///< a name of `mrclab compare`, or the text of a scenario's `transport:`
  std::optional<std::string> answer;
  std::string student;  ///< whose file is written (class_book.h); empty: none
};

/// The session that the lesson's becomes by what was typed; a fault without `at` begins where the lesson stands at
/// first. Throws InputError.
Scenario tried_session(const Lesson& lesson, const TerminalTry& tried);

/// Does task `task` (from 0), asking for what lacks on stdin, and prints what came of it. True: it is passed. Where
/// everything was asked for it is tried until it passes or stdin ends. Throws InputError, also without a prediction.
bool do_task(const Lesson& lesson, size_t task, const TerminalTry& tried);

}  // namespace mrclab::lab
