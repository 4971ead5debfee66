#include "session/lesson_keys.h"

namespace mrclab::lab {
namespace {

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

}  // namespace mrclab::lab
