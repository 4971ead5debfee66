#include "session/lesson_note.h"

#include <fmt/format.h>

#include "fabric/text/visible_text.h"

namespace mrclab::lab {

using nlohmann::json;

std::string prediction_of(std::string_view typed) {
  std::string text;
  for (const char c : typed) {
    const bool blank = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (blank && (text.empty() || text.back() == ' ')) continue;
    text += blank ? ' ' : c;
  }
  if (text.size() > kMaxPrediction) {
    size_t end = kMaxPrediction;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    text.resize(end);
  }
  while (text.ends_with(' ')) text.pop_back();
  return visible(text);
}

std::string measured_in(const json& verdict) {
  std::string text;
  for (const json& check : verdict.at("checks")) {
    const auto name = check.at("name").get<std::string>();
    if (name == "task") continue;
    text += (text.empty() ? "" : "; ") + check.value("text", name);
  }
  return text;
}

const LessonNote& better_note(const LessonNote& before, const LessonNote& now) {
  return before.result == "pass" && now.result != "pass" ? before : now;
}

std::string comments_on(const LessonNote& note) {
  std::string text = fmt::format("# lesson {}\n", note.lesson);
  const auto line = [&](const char* word, const std::string& typed) {
    const std::string plain = prediction_of(typed);
    if (!plain.empty()) text += fmt::format("# {} {}: {}\n", word, note.task + 1, plain);
  };
  line("prediction", note.prediction);
  line("answer", note.answer);
  return text;
}

json note_json(const LessonNote& note) {
  return {{"lesson", note.lesson}, {"task", note.task},     {"prediction", note.prediction},
          {"answer", note.answer}, {"result", note.result}, {"measured", note.measured}};
}

LessonNote note_of(const json& from) {
  return {from.at("lesson").get<std::string>(),     from.at("task").get<size_t>(),
          from.at("prediction").get<std::string>(), from.at("answer").get<std::string>(),
          from.at("result").get<std::string>(),     from.at("measured").get<std::string>()};
}

void Student::add(const LessonNote& note) {
  auto [place, added] = notes_.try_emplace({note.lesson, note.task}, note);
  if (!added) place->second = LessonNote(better_note(place->second, note));
}

json Student::json() const {
  nlohmann::json notes = nlohmann::json::array();
  for (const auto& [task, note] : notes_) notes.push_back(note_json(note));
  return {{"name", name_}, {"notes", std::move(notes)}};
}

Student Student::of(const nlohmann::json& from) {
  Student student(from.at("name").get<std::string>());
  for (const nlohmann::json& note : from.at("notes")) student.add(note_of(note));
  return student;
}

}  // namespace mrclab::lab
