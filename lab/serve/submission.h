#pragma once
// What students hand in for lessons: sessions that the page saved (lesson.h: how), and which tasks they do.

#include <map>
#include <string>
#include <vector>

#include "session/lesson.h"
#include "session/lesson_deed.h"

namespace mrclab::lab {

struct Submission {
  std::string file;
  std::string student;             ///< the file's name up to its first dot: "anna" of anna.2.yaml
  const Lesson* lesson = nullptr;  ///< never null
  Scenario scenario;
  std::map<size_t, std::string> answers;  ///< what was typed, by task, from 0
};

/// `expected`: the lesson it must be for, null: the one that the file names. Throws InputError for a file that is no
/// scenario, is for another lesson, or changes more of the lesson's scenario than faults and transport.
Submission read_submission(const std::string& file, const Lesson* expected);

/// One task, as a session has it.
struct JudgedTask {
  std::string result;            ///< "pass", "fail" or "inconclusive"
  std::vector<DeedSeen> deeds;   ///< empty where an answer is to be typed
  std::string typed;             ///< that answer
  std::vector<std::string> why;  ///< what kept it from passing, beside missing deeds
};
/// Each task, in its order.
std::vector<JudgedTask> judged_tasks(const Submission& submission);
/// The tasks in words, each with what it asked to do and where the session has it; at most 80 columns.
std::string tasks_text(const Lesson& lesson, const std::vector<JudgedTask>& tasks);

/// The result of each task alone.
std::vector<std::string> results_of(const Submission& submission);

/// Who passed what: of every student and lesson the best that any of their files has for each task.
class ClassTable {
 public:
  void add_submission(const Submission& submission, const std::vector<std::string>& results);
  /// Did all pass all?
  bool all_passed() const;
  std::string text() const;  ///< columns for a terminal
  std::string csv() const;   ///< student, lesson, task, title, result

 private:
  struct Row {
    const Lesson* lesson = nullptr;
    std::vector<std::string> results;
  };
  std::map<std::pair<std::string, std::string>, Row> rows_;  // by student and lesson
};

}  // namespace mrclab::lab
