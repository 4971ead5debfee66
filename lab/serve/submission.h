#pragma once
// What students hand in for lessons: sessions that the page saved (lesson.h: how), and which tasks they do.

#include <map>
#include <string>
#include <vector>

#include "session/lesson.h"
#include "session/lesson_deed.h"
#include "session/lesson_note.h"

namespace mrclab::lab {

struct Submission {
  std::string file;
  std::string student;             ///< the file's name up to its first dot: "anna" of anna.2.yaml
  const Lesson* lesson = nullptr;  ///< never null
  Scenario scenario;
  /// What was typed and what was predicted, by task, from 0.
  std::map<size_t, std::string> answers, predictions;
};

/// `expected`: the lesson it must be for, null: the one that the file names. Throws InputError for a file that is no
/// scenario, is for another lesson, or changes more of the lesson's scenario than faults and transport.
Submission read_submission(const std::string& file, const Lesson* expected);

/// One task, as a session has it.
struct JudgedTask {
  std::string result;            ///< "pass", "fail" or "inconclusive"
  std::vector<DeedSeen> deeds;   ///< empty where an answer is to be typed
  std::string typed;             ///< that answer
  std::string predicted;         ///< before it was checked; empty: nothing
  std::string measured;          ///< what the checks found
  std::vector<std::string> why;  ///< what kept it from passing, beside missing deeds
};
/// Each task, in its order.
std::vector<JudgedTask> judged_tasks(const Submission& submission);
/// The tasks in words, each with what it asked to do and where the session has it; at most 80 columns.
std::string tasks_text(const Lesson& lesson, const std::vector<JudgedTask>& tasks);

/// What the file has of each task, for the table of a class.
std::vector<LessonNote> notes_of(const Submission& submission);

}  // namespace mrclab::lab
