#include "session/lesson.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <optional>

#include "fabric/topology/pattern.h"
#include "session/fabric_session.h"
#include "session/page_files.h"

namespace mrclab::lab {
namespace {

constexpr std::string_view kEnding = ".md";

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
