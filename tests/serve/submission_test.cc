// What students hand in: who passed what, and files that are no session of a lesson.

#include "lab/serve/submission.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <iostream>
#include <sstream>

#include "fabric/text/text_wrap.h"
#include "lab/serve/class_table.h"
#include "lab/serve/terminal_lesson.h"
#include "netio/system/file_descriptor.h"
#include "tests/support/texts.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

class Folder {
 public:
  Folder() : path_(fs::temp_directory_path() / ("hand-in-" + std::to_string(::getpid()))) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string write(const std::string& name, const std::string& text) const {
    netio::write_file(path_ / name, text);
    return (path_ / name).string();
  }

 private:
  fs::path path_;
};

const Lesson& plan() { return find_lesson("12-plan-131072"); }

std::string saved(const Lesson& lesson, const std::string& comments, const LessonTask* solution) {
  return comments + to_yaml(solution == nullptr ? scenario_of(lesson) : solved(lesson, *solution));
}

}  // namespace

TEST_CASE("of several files of a student each task counts as the best of them") {
  const Folder folder;
  const std::string one = folder.write(
      "anna.1.yaml",
      saved(plan(),
            "# lesson 12-plan-131072\n# prediction 1: about 65,000\n# answer 1: 131,072\n"
            "# answer 2: 7\n",
            nullptr));
  const std::string two =
      folder.write("anna.2.yaml",
                   saved(plan(), "# lesson 12-plan-131072\n# answer 9x: 1\n", &plan().tasks.at(3)));
  const std::string other = folder.write(
      "ben.yaml", saved(plan(), "# lesson 12-plan-131072\n# answer 3: 0.39\n", nullptr));
  ClassTable table;
  for (const std::string& file : {one, two, other}) {
    const Submission submission = read_submission(file, nullptr);
    for (const LessonNote& note : notes_of(submission)) table.add(submission.student, note);
  }
  CHECK(table.text() ==
        "STUDENT  LESSON          PASSED  TASKS\n"
        "anna     12-plan-131072  2 of 4  pass, fail, fail, pass\n"
        "ben      12-plan-131072  1 of 4  fail, fail, pass, fail\n"
        "\n"
        "STUDENT  LESSON  TASK  RESULT  PREDICTED     MEASURED\n"
        "anna     12      1     pass    about 65,000  typed 131,072\n");
  CHECK_FALSE(table.all_passed());
  CHECK(table.csv().find(
            "\"ben\",12-plan-131072,3,\"What a dead uplink costs\",pass,\"\",\"0.39\",") !=
        std::string::npos);
}

TEST_CASE("each task says what it asked to do, and where the session has it or what is missing") {
  const Lesson& lesson = find_lesson("04-link-flap");
  Submission submission;
  submission.lesson = &lesson;
  submission.scenario = solved(lesson, lesson.tasks.at(1));
  std::vector<JudgedTask> tasks = judged_tasks(submission);
  std::string text = tasks_text(lesson, tasks);
  CAPTURE(text);
  CHECK(tasks.at(1).result == "pass");
  CHECK(tasks.at(1).deeds.at(0).done);
  CHECK(tasks.at(1).deeds.at(0).asked ==
        "flap of one of p*.t0-*:u*, count 5, down 10us, up 15us, beginning from 240us to 340us");
  CHECK(tasks.at(1).deeds.at(0).found.starts_with("flap p"));
  CHECK(tasks.at(1).deeds.at(0).found.find(" at ") != std::string::npos);
  CHECK_FALSE(tasks.at(0).deeds.at(0).done);
  CHECK(
      tasks.at(0).deeds.at(0).asked ==
      "link_down of one of p*.t0-*:u*, beginning from 240us to 350us, for 40us or longer, over by "
      "400us");
  CHECK(tasks.at(0).deeds.at(0).found == "no link_down is among the faults of this session");
  CHECK(text.find("   not found no link_down is among") != std::string::npos);
  CHECK(text.find("   found     flap p") != std::string::npos);
  for (const std::string& line : test::lines_of(text)) CHECK(columns(line) <= 80);

  submission.lesson = &plan();
  submission.scenario = scenario_of(plan());
  submission.answers[0] = "131,072";
  tasks = judged_tasks(submission);
  text = tasks_text(plan(), tasks);
  CHECK(text.find("   asked     an answer, typed\n   found     131,072\n") != std::string::npos);
  CHECK(text.find("   not found none\n") != std::string::npos);
}

TEST_CASE("what was predicted stands beside what was measured") {
  const Lesson& lesson = find_lesson("4");
  const Folder folder;
  const Submission submission = read_submission(
      folder.write("anna.yaml",
                   saved(lesson, "# lesson 04-link-flap\n# prediction 2: five   times\n",
                         &lesson.tasks.at(1))),
      nullptr);
  const std::vector<JudgedTask> tasks = judged_tasks(submission);
  const std::string text = tasks_text(lesson, tasks);
  CAPTURE(text);
  CHECK(text.find("   predicted five times\n") != std::string::npos);
  CHECK(text.find("   measured ") != std::string::npos);
  CHECK(tasks.at(1).measured.find("goodput") != std::string::npos);
  CHECK(tasks.at(1).measured.find(" %") != std::string::npos);
}

TEST_CASE(
    "a task is done in a terminal by its faults, its transport or its answer, after a prediction") {
  const Lesson& flap = find_lesson("link-flap");
  TerminalTry tried;
  tried.prediction = "a thirtieth";
  tried.faults = {"link_down p5.t0-1:u3 for=60us at=300us"};
  CHECK(do_task(flap, 0, tried));
  tried.faults = {"link_down link=h0:p0 for=60us at=300us"};
  CHECK_FALSE(do_task(flap, 0, tried));
  CHECK(tried_session(flap, tried).faults.at(0).at == FabricTime::from_us(300));
  tried.faults = {"link_down p5.t0-1:u3"};  // from where the lesson stands at first
  CHECK(tried_session(flap, tried).faults.at(0).at == FabricTime::from_us(240));
  for (const char* line :
       {"", "no_such p5.t0-1:u3", "link_down", "link_down =1", "link_down a=1 a=2",
        "link_down p5.t0-1:u3 at=soon", "flap p0.t0-0:u0 count=5"}) {
    CAPTURE(line);
    tried.faults = {line};
    CHECK_THROWS_AS(tried_session(flap, tried), InputError);
  }
  TerminalTry one_path;
  one_path.prediction = "an eighth";
  one_path.transport = "one-path";
  CHECK(do_task(find_lesson("2"), 0, one_path));
  one_path.transport = "{profile: lab, spray: off}";
  CHECK(do_task(find_lesson("02"), 0, one_path));
  TerminalTry typed;
  typed.prediction = " ";
  typed.answer = "131,072";
  CHECK_THROWS_AS(do_task(plan(), 0, typed), InputError);  // nothing is predicted
  typed.prediction = "many";
  CHECK(do_task(plan(), 0, typed));
}

TEST_CASE("a terminal is asked for a prediction and a deed, until it passes or ends") {
  const Lesson& flap = find_lesson("4");
  const auto typed = [&](const char* text) {
    std::istringstream lines(text);
    std::streambuf* const before = std::cin.rdbuf(lines.rdbuf());
    std::optional<bool> done;
    try {
      done = do_task(flap, 0, {});
    } catch (const InputError&) {  // nothing was predicted
    }
    std::cin.rdbuf(before);
    std::cin.clear();
    return done;
  };
  CHECK(typed("a thirtieth\nlink_down h0:p0 for=40us at=250us\n\n"
              "no_such_fault\nlink_down p0.t0-0:u0 for=40us at=250us\n\n") == true);
  CHECK(typed("a thirtieth\nlink_down h0:p0 for=40us at=250us\n\n") == false);
  CHECK(typed("a thirtieth\ntransport one-path\nlink_down p0.t0-0:u0 for=40us at=250us\n\n") ==
        false);
  CHECK(typed("\nlink_down p0.t0-0:u0 for=40us at=250us\n\n") == std::nullopt);
  CHECK(typed("") == std::nullopt);
}

TEST_CASE("every task can be done in a terminal as its solution does it") {
  for (const Lesson& lesson : lessons()) {
    for (const LessonTask& task : lesson.tasks) {
      if (task.solution.empty()) continue;
      CAPTURE(lesson.name);
      CAPTURE(task.title);
      const Scenario solution = solved(lesson, task);
      TerminalTry tried;
      if (!task.options.empty()) tried.transport = task.options;
      const YamlValue list = read_yaml_text(task.solution, "solution");
      for (const YamlValue& entry : list.items()) {
        std::string kind, words, at;
        for (const auto& [key, value] : entry.members()) {
          if (key == "at") {
            at = " at=" + value.as_string();
            continue;
          }
          kind = key;
          for (const auto& [setting, text] : value.members()) {
            std::string typed_text;
            if (text.is_list()) {
              for (const YamlValue& one : text.items()) {
                typed_text += (typed_text.empty() ? "[" : ", ") + one.as_string();
              }
              typed_text += "]";
            } else {
              typed_text = text.as_string();
            }
            words += " " + setting + "=" + typed_text;
          }
        }
        tried.faults.push_back(kind + words + at);
      }
      CHECK(to_yaml(tried_session(lesson, tried)) == to_yaml(solution));
    }
  }
}

TEST_CASE("a file that is no session of the lesson is refused") {
  const Folder folder;
  const auto refused = [&](const std::string& text, const Lesson* lesson) {
    const std::string file = folder.write("x.yaml", text);
    CHECK_THROWS_AS(read_submission(file, lesson), InputError);
  };
  refused("[[[", nullptr);
  refused(saved(plan(), "", nullptr), nullptr);  // of which lesson?
  refused(saved(plan(), "# lesson no-such\n", nullptr), nullptr);
  refused(saved(plan(), "# lesson 12-plan-131072\n", nullptr), &find_lesson("04-link-flap"));
  refused(saved(find_lesson("04-link-flap"), "# lesson 12-plan-131072\n", nullptr), nullptr);
  std::string seeded = saved(plan(), "# lesson 12-plan-131072\n", nullptr);
  seeded.replace(seeded.find("seed: 1"), 7, "seed: 2");
  refused(seeded, nullptr);
}

TEST_CASE("a session whose work is another one is refused, and so is a file beside it") {
  const Folder folder;
  const auto error = [&](const std::string& text) -> std::string {
    try {
      read_submission(folder.write("x.yaml", text), nullptr);
    } catch (const InputError& problem) {
      return std::string(problem.what()).substr((folder.write("x.yaml", text)).size());
    }
    return "no error";
  };
  const std::string lesson = "# lesson 01-one-packet\n";
  const std::string session = lesson + to_yaml(scenario_of(find_lesson("01-one-packet")));
  CHECK(error(session) == "no error");
  std::string idle = session;
  idle.replace(idle.find("load: 40%"), 9, "load: 0.0000001%");  // sends not one packet
  CHECK(error(idle).find("less than one packet until the end") != std::string::npos);
  std::string slow = session;
  slow.replace(slow.find("load: 40%"), 9, "load: 4%");
  CHECK(error(slow) == ": found another workload: expected that of lesson 01-one-packet");
  const std::string secret = folder.write("secret", "root:$6$hidden:19000:0\n");
  const std::string outside = "name: x\nfabric: " + secret + "\nend: 1us\nworkload: []\n";
  CHECK(error(lesson + outside).find("a file that is no fabric") != std::string::npos);
  CHECK(error(lesson + outside).find("hidden") == std::string::npos);
}

TEST_CASE("a spreadsheet finds no formula in the table of a class") {
  const Folder folder;
  for (const char* name : {"=HYPERLINK(1)", "+1", "-1", "@SUM(1)"}) {
    const std::string file = folder.write(std::string(name) + ".yaml",
                                          saved(plan(), "# lesson 12-plan-131072\n", nullptr));
    ClassTable table;
    const Submission submission = read_submission(file, nullptr);
    for (LessonNote note : notes_of(submission)) {
      note.prediction = name;
      table.add(submission.student, note);
    }
    CHECK(table.csv().find(",\"'" + std::string(name) + "\",") != std::string::npos);
    const std::string first = table.csv().substr(table.csv().find('\n') + 1);
    CHECK(first.starts_with("\"'" + std::string(name) + "\","));
  }
}

}  // namespace mrclab::lab
