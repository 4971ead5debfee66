#include "lab/serve/submission.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <sstream>

#include "console/terminal.h"
#include "fabric/text/text_wrap.h"
#include "fabric/text/visible_text.h"
#include "session/lesson_verdict.h"
#include "session/session_verdict.h"

namespace mrclab::lab {
namespace {

constexpr std::string_view kLessonMark = "# lesson ", kAnswerMark = "# answer ",
                           kPredictionMark = "# prediction ";
constexpr std::string_view kPass = "pass", kFail = "fail";

/// "# answer 2: 10 MB": the text of its task; any other line leaves `texts` as it is.
void read_comment(std::string_view line, std::string_view mark,
                  std::map<size_t, std::string>& texts) {
  if (!line.starts_with(mark)) return;
  const char* const end = line.data() + line.size();
  size_t task = 0;
  const auto [rest, error] = std::from_chars(line.data() + mark.size(), end, task);
  if (error != std::errc() || task == 0 || task > kMaxTasks || end - rest < 2) return;
  if (std::string_view(rest, 2) == ": ") texts[task - 1] = std::string(rest + 2, end);
}

/// The comments that the page wrote. Others are no concern of ours.
void read_comments(std::string_view text, Submission& submission, std::string& lesson) {
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kLessonMark)) lesson = line.substr(kLessonMark.size());
    read_comment(line, kAnswerMark, submission.answers);
    read_comment(line, kPredictionMark, submission.predictions);
  }
}

}  // namespace

Submission read_submission(const std::string& file, const Lesson* expected) {
  const std::string name = std::filesystem::path(file).filename().string();
  Submission submission;
  submission.file = file;
  submission.student = name.substr(0, name.find('.'));
  submission.lesson = expected;
  const std::string text = read_yaml_bytes(file);
  submission.scenario = parse_scenario(read_yaml_text(text, file));
  std::string lesson;
  read_comments(text, submission, lesson);
  if (lesson.empty() && expected == nullptr) {
    throw InputError(file + ": found no line \"# lesson NAME\": expected what the page saved");
  }
  if (!lesson.empty()) {
    const Lesson* const said = &find_lesson(lesson);
    if (expected != nullptr && said != expected) {
      throw InputError(
          fmt::format("{}: found lesson {}: expected {}", file, said->name, expected->name));
    }
    submission.lesson = said;
  }
  const std::string other = other_than_lesson(*submission.lesson, submission.scenario);
  if (!other.empty()) {
    throw InputError(fmt::format("{}: found {}: expected that of lesson {}", file, other,
                                 submission.lesson->name));
  }
  return submission;
}

std::vector<JudgedTask> judged_tasks(const Submission& submission) {
  const std::string text = to_yaml(submission.scenario);
  const Scenario given = scenario_of(*submission.lesson);
  std::vector<JudgedTask> tasks;
  for (size_t i = 0; i < submission.lesson->tasks.size(); ++i) {
    const LessonTask& task = submission.lesson->tasks[i];
    JudgedTask& judged = tasks.emplace_back();
    if (const auto said = submission.predictions.find(i); said != submission.predictions.end()) {
      judged.predicted = prediction_of(said->second);
    }
    if (!task.answer.empty()) {
      const auto typed = submission.answers.find(i);
      if (typed != submission.answers.end()) judged.typed = visible(typed->second);
      const bool right = typed != submission.answers.end() && is_answer(task, typed->second);
      judged.result = right ? kPass : kFail;
      continue;
    }
    const nlohmann::json verdict = lesson_verdict(*submission.lesson, task, submission.scenario,
                                                  [&] { return verdict_of(text, task.expect); });
    verdict.at("result").get_to(judged.result);
    judged.measured = prediction_of(measured_in(verdict));
    judged.deeds = seen_deeds(parse_deeds(task.deed, given), submission.scenario);
    for (const auto& check : verdict.at("checks")) {
      const bool said = std::any_of(judged.deeds.begin(), judged.deeds.end(),
                                    [](const DeedSeen& deed) { return !deed.done; });
      if (check.at("result") == "pass" || (check.at("name") == "task" && said)) continue;
      judged.why.push_back(visible(check.value("text", check.at("name").get<std::string>())));
    }
  }
  return tasks;
}

std::vector<LessonNote> notes_of(const Submission& submission) {
  std::vector<LessonNote> notes;
  for (const JudgedTask& task : judged_tasks(submission)) {
    notes.push_back({submission.lesson->name, notes.size(), task.predicted, task.typed, task.result,
                     task.measured});
  }
  return notes;
}

std::string tasks_text(const Lesson& lesson, const std::vector<JudgedTask>& tasks) {
  constexpr size_t kIndent = 13;
  std::string out;
  const auto line = [&](std::string_view word, const std::string& text) {
    out += wrapped_text(fmt::format("   {:<9} {}", word, text), kTerminalColumns, kIndent);
  };
  for (size_t i = 0; i < tasks.size(); ++i) {
    const JudgedTask& task = tasks[i];
    out += wrapped_text(fmt::format("{}. {}: {}", i + 1, lesson.tasks[i].title, task.result),
                        kTerminalColumns, 3);
    if (!task.predicted.empty()) line("predicted", task.predicted);
    for (const DeedSeen& deed : task.deeds) {
      line("asked", deed.asked);
      line(deed.done ? "found" : "not found", visible(deed.found));
    }
    if (task.deeds.empty()) {
      line("asked", "an answer, typed");
      line(task.typed.empty() ? "not found" : "found", task.typed.empty() ? "none" : task.typed);
    }
    if (task.result == kPass && !task.measured.empty()) line("measured", task.measured);
    for (const std::string& why : task.why) line("but", why);
  }
  return out;
}

}  // namespace mrclab::lab
