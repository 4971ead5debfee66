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

using Form = ValueForm;

constexpr std::string_view kFence = "---\n";
constexpr int64_t kMostMinutes = 600;

KeyRow<LessonTask> task_row(const char* name, std::string LessonTask::*text, const char* about,
                            KeyUse use = {}) {
  return KeyRow<LessonTask>::of(name, text, text_kind(), about, use);
}
KeyRow<Lesson> lesson_row(const char* name, std::string Lesson::*text, const char* about) {
  return KeyRow<Lesson>::of(name, text, text_kind(), about, kRequiredKey);
}

const KeyTable<LessonTask>& task_keys() {
  using T = LessonTask;
  static const KeyTable<T> kKeys(
      {task_row("title", &T::title, "what is done", kRequiredKey),
       task_row("predict", &T::predict, "the question before", kRequiredKey),
       task_row("try", &T::attempt, "what to do", kRequiredKey),
       task_row("deed", &T::deed,
                "faults that the task asks for, as text; absent: it is done without a fault"),
       task_row("expect", &T::expect, "entries of a scenario's `expect:`, as text; or `answer`"),
       task_row("answer", &T::answer, "what is to be typed; a number is as exact as it is written"),
       task_row("why", &T::why, "shown when it is done", kRequiredKey),
       task_row("hint", &T::hint, "shown while it is not", kRequiredKey),
       task_row("options", &T::options,
                "the transport that does it, as in a scenario; if not the lesson's"),
       task_row("solution", &T::solution,
                "entries of a scenario's `faults:` that do it; for teachers and tests")});
  return kKeys;
}

void read_tasks(const YamlValue& list, Lesson& lesson) {
  for (const YamlValue& value : list.items()) {
    LessonTask& task = lesson.tasks.emplace_back();
    task_keys().read(value, task);
    if (task.expect.empty() == task.answer.empty()) {
      value.fail("a task with both or none of expect and answer", "one of them");
    }
    if (!task.expect.empty() && task.deed.empty() && task.options.empty()) {
      value.fail("a task that is done by doing nothing", "\"deed\", or \"options\"");
    }
  }
  if (lesson.tasks.empty() || lesson.tasks.size() > kMaxTasks) {
    list.fail(std::to_string(lesson.tasks.size()) + " tasks", "1 to " + std::to_string(kMaxTasks));
  }
}

}  // namespace

const KeyTable<Lesson>& lesson_keys() {
  using L = Lesson;
  const ValueKind instant{Form::of(Form::Kind::kTime), &YamlValue::as_string, yaml_word};
  static const KeyTable<L> kKeys(
      {lesson_row("title", &L::title, "of the lesson"),
       lesson_row("aim", &L::aim, "one sentence for the teacher"),
       lesson_row("mistakes", &L::mistakes, "what students think or do wrongly, for the teacher"),
       KeyRow<L>::of("minutes", &L::minutes, integer_kind(1, kMostMinutes), "how long it takes",
                     kRequiredKey),
       lesson_row("scenario", &L::scenario, "a shipped scenario's name, or the text of one"),
       KeyRow<L>::of("at", &L::at, instant, "where the page stands at first", kRequiredKey),
       {"tasks",
        Form::list(task_keys().form(), 1, kMaxTasks),
        "one after the other",
        read_tasks,
        {},
        kRequiredKey}});
  return kKeys;
}

Lesson parse_lesson(const std::string& name, std::string_view markdown) {
  const size_t end = markdown.find("\n" + std::string(kFence), kFence.size());
  if (!markdown.starts_with(kFence) || end == std::string_view::npos) {
    throw InputError(name + ": found no front matter: expected it between two lines of ---");
  }
  // The fence stands for an empty line, so that positions are those of the file.
  const std::string front =
      "\n" + std::string(markdown.substr(kFence.size(), end - kFence.size() + 1));
  const YamlValue value = read_yaml_text(front, name);
  check_form(value, lesson_keys().form());
  Lesson lesson;
  lesson.name = name;
  lesson_keys().read(value, lesson);
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

const Lesson* lesson_named(std::string_view name) {
  const auto found = std::find_if(lessons().begin(), lessons().end(),
                                  [&](const Lesson& lesson) { return lesson.name == name; });
  return found != lessons().end() ? &*found : nullptr;
}

const Lesson& find_lesson(std::string_view name) {
  for (const Lesson& lesson : lessons()) {
    const std::string_view whole = lesson.name;
    const size_t dash = std::min(whole.find('-'), whole.size() - 1);
    std::string_view number = whole.substr(0, dash);
    const bool numbered = name == number || (number.starts_with('0') && name == number.substr(1));
    if (whole == name || numbered || whole.substr(dash + 1) == name) return lesson;
  }
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
