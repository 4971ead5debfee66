#pragma once
// Is a task of a lesson done? Its session is the lesson's with the transport and the faults that the task asks
// for, and the judge finds in its packets what the task expects.

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "session/lesson.h"

namespace mrclab::lab {

/// In what else than faults and transport a session is not the lesson's, such as "another workload"; empty: in
/// nothing.
std::string other_than_lesson(const Lesson& lesson, const Scenario& session);

/// What the task asks for and the session has not, as a sentence; empty: all is there.
std::string missing_for(const Lesson& lesson, const LessonTask& task, const Scenario& session);

/// {"result", "checks", "story", "why"}: as of verdict_of(), with the check "task" before the others. The
/// judge is asked only if all that the task asks for is there. "why" is the answer, and there if it is done.
nlohmann::json lesson_verdict(const Lesson& lesson, const LessonTask& task, const Scenario& session,
                              const std::function<nlohmann::json()>& judge);
/// The same of a task whose answer is typed.
nlohmann::json answer_verdict(const LessonTask& task, std::string_view typed);

}  // namespace mrclab::lab
