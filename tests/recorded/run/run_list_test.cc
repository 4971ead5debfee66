// `mrclab runs`: which folders are runs, and which are taken away.

#include "recorded/run/run_list.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "fabric/text/yaml.h"
#include "tests/lab/support/temporary_runs.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

/// Four runs, one of them without a verdict, and what is none.
struct ManyRuns {
  ManyRuns() {
    for (const char* name : {"20260101-000000-a", "20260102-000000-b", "20260103-000000-c"}) {
      make(name, R"({"result": "pass", "world": "sim"})");
    }
    make("20260104-000000-d", "");
    std::ofstream(path() / "20260104-000000-d/UNJUDGED") << "killed";
    fs::create_directory(path() / "20260105-000000-no-scenario");
    fs::create_directory(path() / "notes");
    std::ofstream(path() / "notes/scenario.yaml") << "mine";
    fs::create_directory_symlink(path() / "notes", path() / "20260106-000000-link");
    fs::create_directory_symlink("20260103-000000-c", path() / "latest");
  }
  void make(const std::string& name, const std::string& verdict) const {
    fs::create_directory(path() / name);
    std::ofstream(path() / name / "scenario.yaml") << "name: x\n";
    if (!verdict.empty()) std::ofstream(path() / name / "verdict.json") << verdict;
  }
  const fs::path& path() const { return runs.path(); }
  bool has(const std::string& name) const { return fs::exists(fs::symlink_status(path() / name)); }
  RunListOptions options() const {
    RunListOptions made;
    made.folder = path();
    return made;
  }

  test::TemporaryRuns runs;
};

TEST_CASE("runs are listed, newest first, and nothing else is") {
  const ManyRuns many;
  const auto listed = list_runs(many.path());
  REQUIRE(listed.size() == 4);
  CHECK(listed[0].path.filename() == "20260104-000000-d");
  CHECK(listed[0].result == "unjudged");
  CHECK(listed[1].result == "pass");
  CHECK(listed[1].world == "sim");
  CHECK(listed[1].bytes > 0);
  many.make("20260107-000000-e", "{\"result\": 7");
  CHECK(list_runs(many.path())[0].result == "?");
  CHECK_THROWS_AS(list_runs(many.path() / "nowhere"), InputError);
}

TEST_CASE("old runs are deleted when that is asked for, and only those") {
  const ManyRuns many;
  RunListOptions options = many.options();
  options.keep = 2;
  CHECK(runs_command(options) == 0);
  CHECK(list_runs(many.path()).size() == 4);  // only named
  options.erase = true;
  CHECK(runs_command(options) == 0);
  CHECK(list_runs(many.path()).size() == 2);
  CHECK(many.has("20260103-000000-c"));
  CHECK_FALSE(many.has("20260102-000000-b"));
  CHECK(many.has("notes/scenario.yaml"));
  CHECK(many.has("20260105-000000-no-scenario"));
  CHECK(many.has("20260106-000000-link"));
  CHECK(fs::read_symlink(many.path() / "latest") == "20260103-000000-c");
  // The run that `latest` leads to goes: then it leads to the newest with a verdict, or goes, too.
  many.make("20260101-000000-a", R"({"result": "fail", "world": "sim"})");
  fs::remove_all(many.path() / "20260103-000000-c");
  options.keep = 9;
  CHECK(runs_command(options) == 0);
  CHECK(fs::read_symlink(many.path() / "latest") == "20260101-000000-a");
  options.keep = 0;
  CHECK(runs_command(options) == 0);
  CHECK(list_runs(many.path()).empty());
  CHECK_FALSE(many.has("latest"));
}

TEST_CASE("runs by age: those of this year stay where only old ones are chosen") {
  const ManyRuns many;
  many.make("29990101-000000-future", "");
  RunListOptions options = many.options();
  options.older_days = 1;
  options.erase = true;
  CHECK(runs_command(options) == 0);
  CHECK(many.has("29990101-000000-future"));
  CHECK(list_runs(many.path()).size() == 1);
  options.older_days.reset();
  CHECK_THROWS_AS(runs_command(options), InputError);  // nothing names which
}

}  // namespace
}  // namespace mrclab::lab
