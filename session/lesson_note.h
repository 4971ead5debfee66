#pragma once
// What a student did with a task: what was predicted, what was typed, and what came of it. A session that the page
// saves has these as comments; the server of a class keeps them, and shows them to the teacher.
//
//   # lesson 04-link-flap
//   # prediction 1: a thirtieth of the goodput
//   # answer 2: 10 MB

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace mrclab::lab {

struct LessonNote {
  std::string lesson;
  size_t task = 0;  ///< from 0
  std::string prediction;
  std::string answer;    ///< that was typed; empty: the task is done in the session
  std::string result;    ///< "pass", "fail" or "inconclusive"
  std::string measured;  ///< what the checks found, in one line
};

/// Longer ones are cut.
inline constexpr size_t kMaxPrediction = 500;
/// In one line, without blanks around it, of at most kMaxPrediction bytes of whole letters.
std::string prediction_of(std::string_view typed);
/// The texts of the checks of a verdict (lesson_verdict.h) but for that of the deed: "goodput ...; losses ...".
std::string measured_in(const nlohmann::json& verdict);
/// A task that was passed once is passed: of two notes the better one, or the newer one of equal ones.
const LessonNote& better_note(const LessonNote& before, const LessonNote& now);
/// The comments of a saved session.
std::string comments_on(const LessonNote& note);

nlohmann::json note_json(const LessonNote& note);
/// Throws nlohmann::json::exception.
LessonNote note_of(const nlohmann::json& from);

/// A student of a class: the page asks for a prediction before it checks a task, and keeps what was done.
class Student {
 public:
  explicit Student(std::string name) : name_(std::move(name)) {}
  const std::string& name() const { return name_; }
  void add(const LessonNote& note);
  /// {"name", "notes": [...]}: of each task the best.
  nlohmann::json json() const;
  static Student of(const nlohmann::json& from);

 private:
  std::string name_;
  std::map<std::pair<std::string, size_t>, LessonNote> notes_;  // by lesson and task
};

}  // namespace mrclab::lab
