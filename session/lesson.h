#pragma once
// Lessons (lessons/*.md): front matter in YAML, then the words. Each task asks for a prediction, lets people
// try, and is done when its expectations pass for the session that they made.
//
//   ---
//   title: A link flaps
//   aim: One sentence for the teacher.
//   mistakes: What students think or do wrongly, for the teacher.
//   minutes: 10
//   scenario: "name of a shipped one", or the text of one
//   at: 95us                                  where the page stands at first
//   tasks:
//     - title: ...
//       predict: ...                          the question before
//       try: ...                              what to do
//       deed: "- {link_down: ..., on: one}"   faults that it asks for (session/lesson_deed.h); none: no fault
//       expect: "- losses: {at_least: 1}"     entries of a scenario's expect:, or in place of them
//       answer: "10 MB"                       what is to be typed
//       why: ...                              shown when it is done: the answer
//       hint: ...                             shown while it is not
//       options: "{profile: roce}"            the transport that does it, if not the scenario's
//       solution: "- {at: 60us, ...}"         faults that do it, if any; for teachers and tests
//   ---
//   Words, in paragraphs.
//
// What a student hands in is the session that the page saved, a scenario, with comments that name the lesson
// and what was typed:
//
//   # lesson 12-plan-131072
//   # answer 1: 131072

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "fabric/text/key_table.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

struct LessonTask {
  std::string title, predict, attempt, deed, expect, answer, why, hint, options, solution;
};

struct Lesson {
  std::string name;  ///< of its file, without ".md"
  std::string title, aim, mistakes, scenario, at, text;
  int64_t minutes = 0;
  std::vector<LessonTask> tasks;
};

inline constexpr size_t kMaxTasks = 16;
/// The keys of the front matter, a row for each: what it may hold, what it means, how it is read.
const KeyTable<Lesson>& lesson_keys();
/// Throws InputError with the position. `name` is used in messages.
Lesson parse_lesson(const std::string& name, std::string_view markdown);
/// All that are shipped, by name.
const std::vector<Lesson>& lessons();
/// By its whole name; null: none has it.
const Lesson* lesson_named(std::string_view name);
/// By its name, its number ("4") or its name without that. Throws NameError suggesting the nearest.
const Lesson& find_lesson(std::string_view name);

Scenario scenario_of(const Lesson& lesson);
/// The lesson's scenario under the options and with the faults that do the task.
Scenario solved(const Lesson& lesson, const LessonTask& task);
/// Is this the answer of the task? A number is as exact as it is written there: a whole one exact, "0.39 %" within
/// half of its last digit. With its unit or without.
bool is_answer(const LessonTask& task, std::string_view text);
/// A scenario with these expectations (text of `expect:` entries) in place of its own, read as a file would
/// be. Throws InputError.
Scenario with_expectations(const std::string& scenario_yaml, const std::string& expect);

/// What the page gets before a task is done, without solutions, answers and checks.
nlohmann::json lessons_json();

}  // namespace mrclab::lab
