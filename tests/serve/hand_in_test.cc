// What students hand in: who passed what, and files that are no session of a lesson.

#include "lab/serve/hand_in.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "netio/kernel/file_descriptor.h"

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
      saved(plan(), "# lesson 12-plan-131072\n# answer 1: 131,072\n# answer 2: 7\n", nullptr));
  const std::string two =
      folder.write("anna.2.yaml",
                   saved(plan(), "# lesson 12-plan-131072\n# answer 9x: 1\n", &plan().tasks.at(3)));
  const std::string other = folder.write(
      "ben.yaml", saved(plan(), "# lesson 12-plan-131072\n# answer 3: 0.39\n", nullptr));
  ClassTable table;
  for (const std::string& file : {one, two, other}) {
    const HandIn hand_in = read_hand_in(file, nullptr);
    table.add(hand_in, results_of(hand_in));
  }
  CHECK(table.text() ==
        "STUDENT  LESSON          PASSED  TASKS\n"
        "anna     12-plan-131072  2 of 4  pass, fail, fail, pass\n"
        "ben      12-plan-131072  1 of 4  fail, fail, pass, fail\n");
  CHECK_FALSE(table.all_passed());
  CHECK(table.csv().find("\"ben\",12-plan-131072,3,\"What a dead uplink costs\",pass\n") !=
        std::string::npos);
}

TEST_CASE("a file that is no session of the lesson is refused") {
  const Folder folder;
  const auto refused = [&](const std::string& text, const Lesson* lesson) {
    const std::string file = folder.write("x.yaml", text);
    CHECK_THROWS_AS(read_hand_in(file, lesson), InputError);
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

}  // namespace mrclab::lab
