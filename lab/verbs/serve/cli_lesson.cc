#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>

#include "console/progress.h"
#include "console/terminal.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/text_wrap.h"
#include "lab/serve/class_book.h"
#include "lab/serve/class_table.h"
#include "lab/serve/submission.h"
#include "lab/serve/terminal_lesson.h"
#include "lab/verbs/cli.h"

namespace mrclab::lab {
namespace {

struct LessonOptions {
  std::string name;
  std::vector<std::string> files;      ///< what a student saved
  std::vector<std::string> handed_in;  ///< what a class saved
  bool teacher = false, csv = false;
  std::optional<size_t> task;  ///< to do, as people count
  bool all_tasks = false;
  TerminalTry tried;
};

std::string wrapped(const std::string& text) { return wrapped_text(text, kTerminalColumns, 0); }

void list_lessons() {
  std::vector<std::vector<std::string>> rows{{"LESSON", "MINUTES", "TITLE"}};
  for (const Lesson& lesson : lessons()) {
    rows.push_back({lesson.name, std::to_string(lesson.minutes), lesson.title});
  }
  fmt::print(
      "{}Read one with 'mrclab lesson NAME', do it with 'mrclab serve NAME' or here with --try.\n",
      table(rows));
}

void show_lesson(const Lesson& lesson, bool teacher) {
  fmt::print("{}\n{}. {}\n{}\n", paint(lesson.title, Colour::kBold, stdout),
             counted_noun(lesson.minutes, "minute"), wrapped(lesson.aim), lesson.text);
  if (teacher) fmt::print("\n{}", wrapped("Typical mistakes: " + lesson.mistakes));
  for (size_t i = 0; i < lesson.tasks.size(); ++i) {
    const LessonTask& task = lesson.tasks[i];
    fmt::print("\n{}. {}\n{}{}", i + 1, task.title, wrapped("Predict: " + task.predict),
               wrapped("Try: " + task.attempt));
    if (!teacher) continue;
    fmt::print("{}", wrapped("Answer: " + task.why));
    if (!task.answer.empty()) fmt::print("to type: {}\n", task.answer);
    if (!task.options.empty()) fmt::print("transport: {}\n", task.options);
    if (!task.solution.empty()) fmt::print("faults:\n{}\n", task.solution);
    if (!task.deed.empty()) fmt::print("deed:\n{}", task.deed);
    if (!task.expect.empty()) fmt::print("expect:\n{}", task.expect);
  }
}

/// Which tasks each file does, and what of each is in it; 0 if all.
int check_files(const Lesson& lesson, const std::vector<std::string>& files) {
  int code = 0;
  for (const std::string& file : files) {
    const Submission submission = read_submission(file, &lesson);
    const std::vector<JudgedTask> tasks =
        while_ticking("judging", submission.file, [&] { return judged_tasks(submission); });
    std::string words;
    for (const JudgedTask& task : tasks) {
      words += fmt::format("{}{}", words.empty() ? "" : ", ", task.result);
      if (task.result != "pass") code = 1;
    }
    fmt::print("{:<40} {}\n{}", std::filesystem::path(file).filename().string(), words,
               tasks_text(lesson, tasks));
  }
  return code;
}

/// Tasks done in this terminal: one, or all in their order; 0 if they are passed.
int do_tasks(const Lesson& lesson, const LessonOptions& options) {
  const size_t count = lesson.tasks.size();
  if (options.task && *options.task > count) {
    throw InputError(fmt::format("--task: found {}: expected 1 to {}", *options.task, count));
  }
  const TerminalTry& tried = options.tried;
  const bool typed = tried.prediction || !tried.faults.empty() || tried.transport || tried.answer;
  if (!options.task && typed && count > 1) {
    throw InputError(fmt::format("found no --task: expected which of {} it is for", count));
  }
  if (!tried.student.empty() && !is_student_name(tried.student)) {
    throw InputError("--student: found " + in_quotes(tried.student) +
                     ": expected 1 to 40 letters, digits, blanks, - or _");
  }
  if (!options.task) fmt::print("{}\n{}", lesson.title, wrapped(lesson.aim));
  int code = 0;
  for (size_t i = 0; i < count; ++i) {
    if (options.task && *options.task != i + 1) continue;
    if (!do_task(lesson, i, tried)) code = 1;
  }
  return code;
}

/// The table of a class; 0 if all passed all. A file that is none gets a line about it and does not stop the others.
int show_class(const LessonOptions& options) {
  const Lesson* const lesson = options.name.empty() ? nullptr : &find_lesson(options.name);
  ClassTable table;
  int code = 0;
  for (const std::string& file : options.handed_in) {
    try {
      const Submission submission = read_submission(file, lesson);
      const std::vector<LessonNote> notes =
          while_ticking("judging", submission.file, [&] { return notes_of(submission); });
      for (const LessonNote& note : notes) table.add(submission.student, note);
    } catch (const InputError& problem) {
      fmt::print(stderr, "mrclab: {}\n", problem.what());
      code = 2;
    }
  }
  fmt::print("{}", options.csv ? table.csv() : table.text());
  return code != 0 ? code : table.all_passed() ? 0 : 1;
}

}  // namespace

void add_lesson_verb(CLI::App& app, CliResult& result) {
  auto options = std::make_shared<LessonOptions>();  // shared with the callback
  CLI::App* lesson = add_verb(app, "lesson");
  lesson->add_option("LESSON", options->name,
                     "which, by name or number; without one all are listed");
  lesson->add_flag("--try", options->all_tasks, "do its tasks in this terminal, one by one");
  lesson->add_option("--task", options->task, "do this one alone: 1")->check(CLI::PositiveNumber);
  lesson->add_option("--predict", options->tried.prediction,
                     "what you expect of it; asked for if it is not here");
  lesson
      ->add_option("--do", options->tried.faults,
                   "a fault as `mrclab fault` takes it: 'link_down p0.t0-0:u0 for=40us at=250us'")
      ->expected(1)
      ->take_all();
  lesson->add_option("--transport", options->tried.transport,
                     "in place of the lesson's: one-path, or '{profile: lab, spray: off}'");
  lesson->add_option("--answer", options->tried.answer, "of a task that asks for one");
  lesson->add_option("--student", options->tried.student,
                     "write what was done to NAME.LESSON.TASK.yaml, for --check and --class");
  lesson->add_option("--check", options->files, "scenarios that were saved in the page")
      ->check(CLI::ExistingFile.description(""));
  lesson
      ->add_option("--class", options->handed_in,
                   "the same of a class, as a table of who passed what")
      ->check(CLI::ExistingFile.description(""));
  lesson->add_flag("--csv", options->csv, "that table as CSV");
  lesson->add_flag("--teacher", options->teacher, "with answers and solutions");
  lesson->footer(
      "Files are what 'Save as scenario' gives in a lesson, named after the student:\n"
      "anna.yaml, or anna.1.yaml and anna.2.yaml, where each task counts as the best\n"
      "of them. The exit code is 0 if all tasks are passed, 1 if not, 2 if a file is\n"
      "no session of the lesson.\n"
      "Example: mrclab lesson 4 --task 1 --predict 'a thirtieth' --student anna \\\n"
      "             --do 'link_down p0.t0-0:u0 for=40us at=250us'\n"
      "         mrclab lesson 04-link-flap --check anna.yaml\n"
      "         mrclab lesson --class hand-in/*.yaml");
  lesson->callback([options, &result] {
    if (!options->handed_in.empty()) {
      result.code = show_class(*options);
      return;
    }
    if (options->name.empty()) return list_lessons();
    const Lesson& chosen = find_lesson(options->name);
    const TerminalTry& tried = options->tried;
    if (options->all_tasks || options->task || tried.prediction || !tried.faults.empty() ||
        tried.transport || tried.answer) {
      result.code = do_tasks(chosen, *options);
      return;
    }
    if (options->files.empty()) return show_lesson(chosen, options->teacher);
    result.code = check_files(chosen, options->files);
  });
}

}  // namespace mrclab::lab
