#include "session/lesson.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "fabric/topology/pattern.h"
#include "session/fabric_session.h"
#include "session/lesson_form.h"
#include "session/page_files.h"

namespace mrclab::lab {
namespace {

constexpr std::string_view kFence = "---\n";
constexpr std::string_view kEnding = ".md";

LessonTask parse_task(const YamlValue& value) {
  const auto text = [&](const char* key) { return value.require(key).as_string(); };
  const auto if_there = [&](const char* key) {
    const auto found = value.get(key);
    return found ? found->as_string() : std::string();
  };
  LessonTask task{text("title"),       text("predict"),     text("try"), if_there("deed"),
                  if_there("expect"),  if_there("answer"),  text("why"), text("hint"),
                  if_there("options"), if_there("solution")};
  if (task.expect.empty() == task.answer.empty()) {
    value.fail("a task with both or none of expect and answer", "one of them");
  }
  if (!task.expect.empty() && task.deed.empty() && task.options.empty()) {
    value.fail("a task that is done by doing nothing", "\"deed\", or \"options\"");
  }
  return task;
}

/// A number in front, with commas between its digits or without, and the rest without blanks.
struct Typed {
  std::optional<double> number;
  std::string rest;
  double half_digit = 0;  ///< half of the last digit behind its point; 0: it has none
};

Typed typed(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c != ',' && c != ' ')
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  char* end = nullptr;
  const double number = std::strtod(plain.c_str(), &end);
  if (end == plain.c_str()) return {{}, plain};
  const std::string digits(plain, 0, static_cast<size_t>(end - plain.c_str()));
  const size_t point = digits.find('.');
  const bool has_fraction = point != std::string::npos && point + 1 < digits.size();
  const double half_digit =
      has_fraction ? 0.5 * std::pow(10, -static_cast<double>(digits.size() - point - 1)) : 0;
  return {number, std::string(end), half_digit};
}

}  // namespace

Lesson parse_lesson(const std::string& name, std::string_view markdown) {
  const size_t end = markdown.find("\n" + std::string(kFence), kFence.size());
  if (!markdown.starts_with(kFence) || end == std::string_view::npos) {
    throw InputError(name + ": found no front matter: expected it between two lines of ---");
  }
  // The fence stands for an empty line, so that positions are those of the file.
  const std::string front =
      "\n" + std::string(markdown.substr(kFence.size(), end - kFence.size() + 1));
  const YamlValue value = read_yaml_text(front, name);
  check_form(value, lesson_form());
  Lesson lesson;
  lesson.name = name;
  lesson.title = value.require("title").as_string();
  lesson.aim = value.require("aim").as_string();
  lesson.minutes = read_integer(value.require("minutes"), lesson_form().at("minutes"));
  lesson.scenario = value.require("scenario").as_string();
  lesson.at = value.require("at").as_string();
  const YamlValue tasks = value.require("tasks");
  for (const YamlValue& task : tasks.items()) lesson.tasks.push_back(parse_task(task));
  if (lesson.tasks.empty() || lesson.tasks.size() > kMaxTasks) {
    tasks.fail(std::to_string(lesson.tasks.size()) + " tasks", "1 to " + std::to_string(kMaxTasks));
  }
  lesson.text = markdown.substr(end + 1 + kFence.size());
  return lesson;
}

const std::vector<Lesson>& lessons() {
  static const std::vector<Lesson> kLessons = [] {
    std::vector<Lesson> list;
    for (const PageFile& file : page_files()) {
      if (!file.path.starts_with(kLessonFolder) || !file.path.ends_with(kEnding)) continue;
      std::string_view name = file.path.substr(kLessonFolder.size());
      name.remove_suffix(kEnding.size());
      list.push_back(parse_lesson(std::string(name), file.bytes));
    }
    std::sort(list.begin(), list.end(),
              [](const Lesson& a, const Lesson& b) { return a.name < b.name; });
    return list;
  }();
  return kLessons;
}

const Lesson& find_lesson(std::string_view name) {
  const auto found = std::find_if(lessons().begin(), lessons().end(),
                                  [&](const Lesson& lesson) { return lesson.name == name; });
  if (found != lessons().end()) return *found;
  std::vector<std::string> names;
  for (const Lesson& lesson : lessons()) names.push_back(lesson.name);
  throw NameError(in_quotes(name) + ", which names no lesson", one_of(name, names));
}

Scenario scenario_of(const Lesson& lesson) {
  if (lesson.scenario.find('\n') == std::string::npos) return load_scenario(lesson.scenario);
  return parse_scenario(read_yaml_text(lesson.scenario, "lesson " + lesson.name));
}

Scenario solved(const Lesson& lesson, const LessonTask& task) {
  Scenario scenario = scenario_of(lesson);
  if (!task.options.empty()) scenario = with_transport(std::move(scenario), task.options);
  if (task.solution.empty()) return scenario;
  std::string text = to_yaml(scenario);
  const size_t at = text.find("\nend: ");
  text.insert(at + 1, "faults:\n" + task.solution + "\n");
  return parse_scenario(read_yaml_text(text, "solution of " + lesson.name));
}

bool is_answer(const LessonTask& task, std::string_view text) {
  const Typed given = typed(text), right = typed(task.answer);
  if (!given.number || !right.number)
    return given.rest == right.rest && !given.number && !right.number;
  const bool unit = given.rest.empty() || given.rest == right.rest;
  constexpr double kBinary = 1e-12;  // so much may 0.385 be off because it is no binary fraction
  return unit && std::abs(*given.number - *right.number) <= right.half_digit * (1 + kBinary);
}

Scenario with_expectations(const std::string& scenario_yaml, const std::string& expect) {
  // A whole scenario is read, so that names and bounds are checked as in a file.
  std::string text = scenario_yaml;
  const size_t at = text.rfind("\nexpect:");
  if (at != std::string::npos) text.resize(at + 1);
  return parse_scenario(read_yaml_text(text + "expect:\n" + expect + "\n", "lesson"));
}

nlohmann::json lessons_json() {
  nlohmann::json list = nlohmann::json::array();
  for (const Lesson& lesson : lessons()) {
    nlohmann::json tasks = nlohmann::json::array();
    for (const LessonTask& task : lesson.tasks) {
      tasks.push_back({{"title", task.title},
                       {"predict", task.predict},
                       {"do", task.attempt},
                       {"typed", !task.answer.empty()},
                       {"hint", task.hint}});
    }
    list.push_back({{"name", lesson.name},
                    {"title", lesson.title},
                    {"aim", lesson.aim},
                    {"minutes", lesson.minutes},
                    {"text", lesson.text},
                    {"tasks", std::move(tasks)}});
  }
  return list;
}

}  // namespace mrclab::lab
