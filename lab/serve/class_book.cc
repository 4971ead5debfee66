#include "lab/serve/class_book.h"

#include <fmt/format.h>

#include <cstdio>

#include "console/terminal.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/visible_text.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

constexpr size_t kMaxName = 40;

}  // namespace

bool is_student_name(std::string_view name) {
  if (name.empty() || name.size() > kMaxName || visible(name) != name) return false;
  if (name.front() == ' ' || name.back() == ' ' || name.front() == '-') return false;
  for (const char c : name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                        (static_cast<unsigned char>(c) & 0x80) != 0;
    if (!letter && !(c >= '0' && c <= '9') && c != ' ' && c != '-' && c != '_') return false;
  }
  return true;
}

ClassBook::ClassBook(std::string title, std::string teacher_token, const std::string& folder)
    : title_(std::move(title)), teacher_token_(std::move(teacher_token)) {
  if (!folder.empty()) folder_ = netio::OutputFolder::make(folder);
}

void ClassBook::joined(const std::string& student) {
  const std::lock_guard lock(mutex_);
  students_.try_emplace(student, student);
  ++browsers_[student];
}

void ClassBook::left(const std::string& student) {
  const std::lock_guard lock(mutex_);
  size_t& browsers = browsers_[student];
  if (browsers > 0) --browsers;
}

void ClassBook::add(const std::string& student, const LessonNote& note, const std::string& yaml) {
  const std::lock_guard lock(mutex_);
  students_.try_emplace(student, student).first->second.add(note);
  table_.add(student, note);
  if (!folder_) return;
  // A file that is there already may hold a passed task: a failed try gets a name of its own beside it.
  const std::string name = fmt::format("{}.{}.{}{}.yaml", student, note.lesson, note.task + 1,
                                       note.result == "pass" ? "" : ".tried");
  try {
    folder_->write_file(name, comments_on(note) + yaml);
  } catch (const netio::SystemError& error) {
    std::fprintf(stderr, "mrclab serve: %s\n", netio::explain(error).c_str());
  }
}

std::string ClassBook::student_json(const std::string& student) const {
  const std::lock_guard lock(mutex_);
  const auto found = students_.find(student);
  return (found == students_.end() ? Student(student) : found->second).json().dump();
}

std::string ClassBook::page() const {
  std::string here;
  size_t joined = 0;
  for (const auto& [student, count] : browsers_) {
    joined += count > 0 ? 1 : 0;
    here += fmt::format("<li class=\"{}\">{}</li>\n", count > 0 ? "here" : "gone",
                        html_text(visible(student)));
  }
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta http-equiv=\"refresh\" content=\"5\"><title>{0} – class</title>"
      "<link rel=\"stylesheet\" href=\"/class.css\"></head><body><h1>{0}</h1>\n"
      "<p>{1} of {2} connected. <a href=\"/class.csv?token={3}\">As CSV</a></p><ul>\n{4}</ul>\n"
      "<table><thead><tr><th>student</th><th>lesson</th><th>task</th><th>result</th>"
      "<th>predicted</th><th>measured</th></tr></thead><tbody>\n{5}</tbody></table></body></html>\n",
      html_text(title_), joined, counted_noun(browsers_.size(), "student"), teacher_token_, here,
      table_.html("/?token=" + teacher_token_ + "&class=1&name="));
}

std::optional<ServeOptions::Document> ClassBook::document(std::string_view path) const {
  const std::lock_guard lock(mutex_);
  if (path == "/class") return ServeOptions::Document{"text/html; charset=utf-8", page()};
  if (path == "/class.csv") {
    return ServeOptions::Document{"text/csv; charset=utf-8", table_.csv()};
  }
  return {};
}

std::string ClassBook::text() const {
  const std::lock_guard lock(mutex_);
  return table_.text();
}

}  // namespace mrclab::lab
