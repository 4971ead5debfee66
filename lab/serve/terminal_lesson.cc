#include "lab/serve/terminal_lesson.h"

#include <fmt/format.h>

#include <iostream>

#include "console/progress.h"
#include "console/terminal.h"
#include "fabric/text/text_wrap.h"
#include "fabric/text/visible_text.h"
#include "faults/fault_order.h"
#include "lab/serve/class_book.h"
#include "netio/system/output_folder.h"
#include "scenario/spec/contrast.h"
#include "scenario/spec/queue_pairs.h"
#include "session/fabric_session.h"
#include "session/lesson_deed.h"
#include "session/lesson_verdict.h"
#include "session/session_verdict.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

constexpr size_t kMaxTyped = 4096;  // bytes of a line
constexpr size_t kMaxLines = 64;    // of faults in one try
constexpr std::string_view kTransportWord = "transport ";

void print_words(const std::string& text) {
  fmt::print("{}", wrapped_text(text, kTerminalColumns, 0));
}

/// A line of stdin; empty optional: there is none left.
std::optional<std::string> asked(const std::string& question) {
  fmt::print("{}", question);
  std::fflush(stdout);
  std::string line;
  if (!std::getline(std::cin, line)) return {};
  line.resize(std::min(line.size(), kMaxTyped));
  return line;
}

/// What was not given is asked for. False: stdin has ended.
bool ask_for_deed(const LessonTask& task, TerminalTry& tried) {
  if (!task.answer.empty()) {
    tried.answer = asked("Your answer: ");
    return tried.answer.has_value();
  }
  print_words(
      "Faults, one a line, as `mrclab fault` takes them: link_down p0.t0-0:u0 for=40us at=250us. "
      "`transport NAME` changes the transport. An empty line checks.");
  tried.faults.clear();
  tried.transport.reset();
  for (size_t lines = 0; lines < kMaxLines; ++lines) {
    const std::optional<std::string> line = asked("> ");
    if (!line) return lines > 0;
    if (line->empty()) return true;
    if (line->starts_with(kTransportWord)) {
      tried.transport = line->substr(kTransportWord.size());
      continue;
    }
    try {
      order_of_line(*line);
      tried.faults.push_back(*line);
    } catch (const InputError& error) {
      fmt::print("{}\n", error.what());
    }
  }
  return true;
}

struct Outcome {
  json verdict;
  std::vector<DeedSeen> deeds;
  Scenario session;
};

Outcome judged(const Lesson& lesson, const LessonTask& task, const TerminalTry& tried) {
  Outcome outcome;
  outcome.session = tried_session(lesson, tried);
  if (!task.answer.empty()) {
    outcome.verdict = answer_verdict(task, tried.answer.value_or(""));
    return outcome;
  }
  const std::string text = to_yaml(outcome.session);
  outcome.verdict = while_ticking("judging", lesson.name, [&] {
    return lesson_verdict(lesson, task, outcome.session,
                          [&] { return verdict_of(text, task.expect); });
  });
  outcome.deeds = seen_deeds(parse_deeds(task.deed, scenario_of(lesson)), outcome.session);
  return outcome;
}

void print_outcome(const LessonTask& task, const LessonNote& note, const Outcome& outcome) {
  const auto line = [](std::string_view word, const std::string& text) {
    fmt::print("{}",
               wrapped_text(fmt::format("{:<10} {}", word, visible(text)), kTerminalColumns, 11));
  };
  line("predicted", note.prediction);
  if (!task.answer.empty()) line("typed", note.answer);
  for (const DeedSeen& deed : outcome.deeds) {
    if (!deed.done) line("not found", deed.found);
  }
  for (const json& check : outcome.verdict.at("checks")) {
    const bool of_deed = check.at("name") == "task";
    if (of_deed && check.at("result") == "pass") continue;
    line(check.at("result").get<std::string>(),
         check.value("text", check.at("name").get<std::string>()));
  }
  const bool pass = note.result == "pass";
  print_words(pass ? "Done. " + task.why : "Not yet. " + task.hint);
}

void write_session(const std::string& student, const LessonNote& note, const Scenario& session) {
  const std::string file = fmt::format("{}.{}.{}.yaml", student, note.lesson, note.task + 1);
  netio::OutputFolder::open(".").write_file(file, comments_on(note) + to_yaml(session));
  fmt::print("written: {}\n", file);
}

}  // namespace

Scenario tried_session(const Lesson& lesson, const TerminalTry& tried) {
  Scenario scenario = scenario_of(lesson);
  if (tried.transport) {
    scenario = tried.transport->find('{') != std::string::npos
                   ? with_transport(std::move(scenario), *tried.transport)
                   : under_transport(scenario, find_contrast(scenario, *tried.transport));
  }
  NameResolver names(scenario.topology, scenario.seed);
  const FabricTime first =
      parse_instant(lesson.at, scenario.topology, FabricTime::zero(), &scenario);
  for (const std::string& line : tried.faults) {
    const FaultOrder order = order_of_line(line);
    const FabricTime at =
        order.at ? parse_instant(*order.at, scenario.topology, first, &scenario) : first;
    scenario.faults.push_back(fault_of(order, at, names));
  }
  return parse_scenario(read_yaml_text(to_yaml(scenario), "session"));  // with all checks of a file
}

bool do_task(const Lesson& lesson, size_t number, const TerminalTry& given) {
  const LessonTask& task = lesson.tasks.at(number);
  TerminalTry tried = given;
  const bool asks = tried.faults.empty() && !tried.transport && !tried.answer;
  fmt::print("\n{}. {}\n", number + 1, task.title);
  print_words(task.predict);
  if (!tried.prediction) tried.prediction = asked("Your prediction: ");
  const std::string prediction = prediction_of(tried.prediction.value_or(""));
  if (prediction.empty()) {
    throw InputError("found no prediction: expected one (--predict TEXT), before it is known");
  }
  if (asks) print_words(task.attempt);
  while (true) {
    if (asks && !ask_for_deed(task, tried)) return false;
    LessonNote note{lesson.name, number, prediction, prediction_of(tried.answer.value_or("")),
                    "",          ""};
    try {
      const Outcome outcome = judged(lesson, task, tried);
      outcome.verdict.at("result").get_to(note.result);
      print_outcome(task, note, outcome);
      if (!tried.student.empty()) write_session(tried.student, note, outcome.session);
    } catch (const InputError& error) {
      if (!asks) throw;
      fmt::print("{}\n", error.what());
    }
    if (!asks || note.result == "pass") return note.result == "pass";
  }
}

}  // namespace mrclab::lab
