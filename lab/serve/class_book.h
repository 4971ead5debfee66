#pragma once
// What the students of a class have done so far. Many threads: the server's reads it for the teacher, those of the
// seats add to it.

#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "lab/serve/class_table.h"
#include "lab/serve/serve_options.h"
#include "netio/system/output_folder.h"

namespace mrclab::lab {

/// May this be a student's name? 1 to 40 bytes of letters, also of other alphabets, digits, blanks inside, - and _:
/// it becomes part of a file's name and of pages.
bool is_student_name(std::string_view name);

class ClassBook {
 public:
  /// `folder`: where each task's session is written when it is checked, a file for each student, lesson and task that
  /// `mrclab lesson --class` reads; empty: nowhere. Throws OutputError.
  ClassBook(std::string title, std::string teacher_token, const std::string& folder);

  void joined(const std::string& student);
  void left(const std::string& student);
  void add(const std::string& student, const LessonNote& note, const std::string& yaml);
  /// Student::json() of all that this student has done, for a new seat.
  std::string student_json(const std::string& student) const;

  /// "/class": the table as a page that renews itself; "/class.csv"; nothing else.
  std::optional<ServeOptions::Document> document(std::string_view path) const;
  std::string text() const;

 private:
  std::string page() const;

  const std::string title_, teacher_token_;
  mutable std::mutex mutex_;  // of what follows
  std::map<std::string, Student> students_;
  std::map<std::string, size_t> browsers_;  // by student
  ClassTable table_;
  std::optional<netio::OutputFolder> folder_;
};

}  // namespace mrclab::lab
