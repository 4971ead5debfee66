#pragma once
// Who of a class passed what: of every student and lesson the best that there is of each task, with what was
// predicted beside what came of it.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "session/lesson.h"
#include "session/lesson_note.h"

namespace mrclab::lab {

class ClassTable {
 public:
  /// Throws NameError for a note on no lesson; one on a task that the lesson has not is left out.
  void add(const std::string& student, const LessonNote& note);
  /// Did all pass all tasks of the lessons that they have begun?
  bool all_passed() const;
  std::string text() const;  ///< columns for a terminal
  /// student, lesson, task, title, result, prediction, answer, measured. No cell is a formula to a spreadsheet.
  std::string csv() const;
  /// Rows of an HTML table with the same columns; `student_link` is the beginning of a link to a student's session.
  std::string html(const std::string& student_link) const;

 private:
  struct Row {
    const Lesson* lesson = nullptr;
    std::vector<LessonNote> notes;  // by task; without a result: not tried
  };
  std::map<std::pair<std::string, std::string>, Row> rows_;  // by student and lesson
};

/// For HTML: no letter of it begins a tag or ends a value.
std::string html_text(std::string_view text);
/// For the query of a link.
std::string url_text(std::string_view text);

}  // namespace mrclab::lab
