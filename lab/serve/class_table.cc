#include "lab/serve/class_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "console/terminal.h"
#include "fabric/text/visible_text.h"

namespace mrclab::lab {
namespace {

constexpr std::string_view kPassed = "pass", kNotTried = "-";
constexpr size_t kShownColumns = 24;  // of a prediction, in a terminal

std::string result_of(const LessonNote& note) {
  return note.result.empty() ? std::string(kNotTried) : note.result;
}

/// What came of it: what the checks found, or what was typed.
std::string outcome_of(const LessonNote& note) {
  return note.answer.empty() ? note.measured : "typed " + note.answer;
}

/// At most so many letters.
std::string shortened(const std::string& text) {
  size_t letters = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = (static_cast<unsigned char>(text[i]) & 0xc0) != 0x80;
    if (begins && ++letters > kShownColumns) return text.substr(0, i) + "…";
  }
  return text;
}

/// Students' names and words may hold anything, and a spreadsheet takes what begins so for a formula.
std::string quoted(std::string text) {
  if (!text.empty() && std::string_view("=+-@\t\r").find(text[0]) != std::string_view::npos) {
    text.insert(0, 1, '\'');
  }
  for (size_t at = 0; (at = text.find('"', at)) != std::string::npos; at += 2)
    text.insert(at, 1, '"');
  return '"' + text + '"';
}

}  // namespace

std::string html_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  return out;
}

std::string url_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '-' || c == '_';
    out += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

void ClassTable::add(const std::string& student, const LessonNote& note) {
  const Lesson& lesson = find_lesson(note.lesson);
  Row& row = rows_[{student, lesson.name}];
  row.lesson = &lesson;
  row.notes.resize(lesson.tasks.size());
  if (note.task >= row.notes.size()) return;
  row.notes[note.task] = LessonNote(better_note(row.notes[note.task], note));
}

bool ClassTable::all_passed() const {
  return std::all_of(rows_.begin(), rows_.end(), [](const auto& entry) {
    const auto& notes = entry.second.notes;
    return std::all_of(notes.begin(), notes.end(),
                       [](const auto& n) { return n.result == kPassed; });
  });
}

std::string ClassTable::text() const {
  std::vector<std::vector<std::string>> lines{{"STUDENT", "LESSON", "PASSED", "TASKS"}};
  std::vector<std::vector<std::string>> beside{
      {"STUDENT", "LESSON", "TASK", "RESULT", "PREDICTED", "MEASURED"}};
  for (const auto& [key, row] : rows_) {
    size_t passed = 0;
    std::string results;
    for (size_t i = 0; i < row.notes.size(); ++i) {
      const LessonNote& note = row.notes[i];
      passed += note.result == kPassed ? 1 : 0;
      results += (results.empty() ? "" : ", ") + result_of(note);
      if (note.prediction.empty()) continue;
      beside.push_back({visible(key.first), key.second.substr(0, key.second.find('-')),
                        std::to_string(i + 1), result_of(note), shortened(note.prediction),
                        shortened(visible(outcome_of(note)))});
    }
    lines.push_back({visible(key.first), key.second,
                     fmt::format("{} of {}", passed, row.notes.size()), results});
  }
  return table(lines) + (beside.size() == 1 ? "" : "\n" + table(beside));
}

std::string ClassTable::csv() const {
  std::string out = "student,lesson,task,title,result,prediction,answer,measured\n";
  for (const auto& [key, row] : rows_) {
    for (size_t i = 0; i < row.notes.size(); ++i) {
      const LessonNote& note = row.notes[i];
      out +=
          fmt::format("{},{},{},{},{},{},{},{}\n", quoted(visible(key.first)), key.second, i + 1,
                      quoted(row.lesson->tasks[i].title), result_of(note), quoted(note.prediction),
                      quoted(visible(note.answer)), quoted(visible(note.measured)));
    }
  }
  return out;
}

std::string ClassTable::html(const std::string& student_link) const {
  std::string out;
  for (const auto& [key, row] : rows_) {
    const std::string name = html_text(visible(key.first));
    for (size_t i = 0; i < row.notes.size(); ++i) {
      const LessonNote& note = row.notes[i];
      out += fmt::format(
          "<tr><td><a href=\"{}\">{}</a></td><td>{}</td><td>{}. {}</td><td class=\"{}\">{}</td>"
          "<td>{}</td><td>{}</td></tr>\n",
          html_text(student_link + url_text(key.first)), name, html_text(key.second), i + 1,
          html_text(row.lesson->tasks[i].title), html_text(note.result), html_text(result_of(note)),
          html_text(note.prediction), html_text(visible(outcome_of(note))));
    }
  }
  return out;
}

}  // namespace mrclab::lab
