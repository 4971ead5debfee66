// The command as root, in a folder where another user has been: whatever the verb, nothing outside
// is written, nothing is given away, and it ends with exit code 2 and a reason.

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <functional>

#include "netio/system/file_descriptor.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/netio/other_users.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using netio::write_file;
using netio::test::kCaller;
using netio::test::kOther;
using netio::test::Outside;
using netio::test::own;
using netio::test::owner_of;

constexpr const char* kShortScenario = R"(
name: short
fabric: pair
workload:
  - write: {from: h0, to: h1, size: 64KiB}
end: 30us
expect:
  - no_qp_error
)";
/// It never passes, so it can be shrunk.
constexpr const char* kFailing = R"(
name: failing
fabric: pair
workload:
  - write: {from: h0, to: h1, size: 64KiB}
end: 30us
expect:
  - trims: {at_least: 1}
)";

/// The command in a folder; "sudo" by that user, if one is named.
CommandResult mrclab_in(const fs::path& folder, const std::string& words, uid_t caller = 0) {
  const std::string sudo =
      caller == 0 ? ""
                  : "SUDO_UID=" + std::to_string(caller) + " SUDO_GID=" + std::to_string(caller);
  return run_command_line({"/bin/sh", "-c",
                           "cd " + folder.string() + " && exec env -u SUDO_UID -u SUDO_GID " +
                               sudo + " " + program("mrclab-cli") + " " + words + " < /dev/null"});
}

struct WritingVerb {
  /// Run in a folder with short.yaml, failing.yaml, log.csv and a run in done/latest.
  const char* words;
  const char* writes;  ///< the file or folder that it makes there
};

/// The verbs that write a file or a folder and need no lab.
const WritingVerb kWritingVerbs[] = {
    {"run short.yaml --world sim", "runs"},
    {"run short.yaml --world sim --out deep/runs", "deep"},
    {"run short.yaml --world sim --out out", "out"},
    {"replay done/latest --world sim --out out", "out"},
    {"shrink failing.yaml --budget 1", "runs"},
    {"shrink failing.yaml --budget 1 --out out", "out"},
    {"import log.csv --map ports.csv --fabric pair --force --out out", "out"},
    {"report done/latest --out out", "out"},
    {"export qlog done/latest --out out", "out"},
    {"export perfetto done/latest --out out", "out"},
    {"export wireshark --out out", "out"},
};

/// A folder of root that others may put things into, as /tmp, with what the verbs need.
struct Place {
  Place() : path(runs.path() / "place"), outside(runs.path() / "outside") {
    fs::create_directory(path);
    write_file(path / "short.yaml", kShortScenario);
    write_file(path / "failing.yaml", kFailing);
    write_file(path / "log.csv", "time,device,port,event,rate\n0.0,a,1,down,\n0.1,a,1,up,\n");
    write_file(path / "ports.csv", "device,port,name\na,1,h0:p0\n");
    REQUIRE(mrclab_in(path, "run short.yaml --world sim --out done").code == 0);
    REQUIRE(mrclab_in(path, "chaos pair --seeds 1 --json > shard.json").code == 0);
    REQUIRE(::chmod(path.c_str(), 01777) == 0);
  }
  test::TemporaryRuns runs;
  fs::path path;
  Outside outside;
};

TEST_SUITE_BEGIN("root: folders of others");

TEST_CASE("every verb that writes does so where nothing is in its way") {
  for (const WritingVerb& verb : kWritingVerbs) {
    CAPTURE(std::string(verb.words));
    const Place place;
    const CommandResult result = mrclab_in(place.path, verb.words);
    CAPTURE(result.output);
    CHECK(result.code == 0);
    CHECK(fs::exists(place.path / verb.writes));
  }
}

TEST_CASE("no verb follows a link that another user laid where it writes") {
  struct Trap {
    const char* what;
    const char* target;
  };
  const Trap traps[] = {
      {"to a file", "precious"}, {"to a file to come", "new"}, {"to a folder", ""}};
  for (const WritingVerb& verb : kWritingVerbs) {
    const Place place;
    for (const Trap& trap : traps) {
      for (const uid_t caller : {uid_t{0}, kCaller}) {
        CAPTURE(std::string(verb.words));
        CAPTURE(std::string(trap.what));
        CAPTURE(caller);
        fs::remove(place.path / verb.writes);
        fs::create_symlink(place.outside.path / trap.target, place.path / verb.writes);
        own(place.path / verb.writes, kOther);
        const CommandResult result = mrclab_in(place.path, verb.words, caller);
        CAPTURE(result.output);
        CHECK(result.code == 2);
        CHECK(result.output.find("link of user 4711") != std::string::npos);
        place.outside.check_untouched();
      }
    }
  }
}

TEST_CASE("root makes no run, report or export in a folder of somebody else") {
  const Place place;
  own(place.path / "done", kOther);
  for (const auto& entry : fs::recursive_directory_iterator(place.path / "done")) {
    own(entry.path(), kOther);
  }
  fs::create_directory(place.path / "theirs");
  own(place.path / "theirs", kOther);
  const fs::path run = fs::canonical(place.path / "done/latest");
  fs::remove(run / "report.html");
  fs::create_symlink(place.outside.path / "precious", run / "report.html");
  own(run / "report.html", kOther);
  for (const std::string& words : std::vector<std::string>{
           "report done/latest", "report " + run.string(), "export qlog done/latest",
           "run short.yaml --world sim --out theirs", "export wireshark --out theirs"}) {
    CAPTURE(words);
    const CommandResult result = mrclab_in(place.path, words);
    CAPTURE(result.output);
    CHECK(result.code == 2);
    CHECK(result.output.find("user 4711") != std::string::npos);
  }
  CHECK(fs::is_empty(place.path / "theirs"));
  place.outside.check_untouched();
  // Elsewhere the error can name the run.
  CHECK(mrclab_in(place.path, "report " + run.string() + " --out page.html").code == 0);
}

TEST_CASE("under sudo the run folder is the caller's, and nothing that was there before") {
  const Place place;
  fs::create_directory(place.path / "before");
  REQUIRE(mrclab_in(place.path, "run short.yaml --world sim --out before", kCaller).code == 0);
  CHECK(owner_of(place.path / "before") == 0);
  CHECK(owner_of(place.path) == 0);
  const fs::path run = fs::canonical(place.path / "before/latest");
  CHECK(owner_of(run) == kCaller);
  size_t files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(run)) {
    CAPTURE(entry.path());
    CHECK(owner_of(entry.path()) == kCaller);
    ++files;
  }
  CHECK(files > 8);
  // What it makes on the way in the caller's own folder is the caller's as well.
  fs::create_directory(place.path / "home");
  own(place.path / "home", kCaller);
  REQUIRE(mrclab_in(place.path, "run short.yaml --world sim --out home/new/runs", kCaller).code ==
          0);
  for (const char* made : {"new", "new/runs", "new/runs/latest"}) {
    CHECK(owner_of(place.path / "home" / made) == kCaller);
  }
  // A file that the caller had stays the caller's.
  std::ofstream(place.path / "home/mine.yaml").close();
  own(place.path / "home/mine.yaml", kCaller);
  REQUIRE(mrclab_in(place.path,
                    "import log.csv --map ports.csv --fabric pair --force --out home/mine.yaml",
                    kCaller)
              .code == 0);
  CHECK(owner_of(place.path / "home/mine.yaml") == kCaller);
  CHECK(fs::file_size(place.path / "home/mine.yaml") > 100);
}

TEST_CASE("the note of a session goes over no link, and a lab is taken down all the same") {
  enter_sandbox();
  const Place place;
  for (const char* laid : {"runs", "runs/pair-session", "runs/pair-session/scenario.yaml"}) {
    CAPTURE(laid);
    fs::remove_all(place.path / "runs");
    REQUIRE(mrclab_in(place.path,
                      "up pair --workload 'all_reduce: {hosts: all, size: 8MiB, until: end}'")
                .code == 0);
    REQUIRE(mrclab_in(place.path, "fault link_down link=p0.t0-0:u0").code == 0);
    const fs::path link = place.path / laid;
    fs::create_directories(link.parent_path());
    const bool file = link.extension() == ".yaml";
    fs::create_symlink(file ? place.outside.path / "precious" : place.outside.path, link);
    own(link, kOther);
    fs::remove(place.path / "session.yaml");
    fs::create_symlink(place.outside.path / "precious", place.path / "session.yaml");
    own(place.path / "session.yaml", kOther);
    const CommandResult exported = mrclab_in(place.path, "fault --export session.yaml");
    CAPTURE(exported.output);
    CHECK(exported.code == 2);
    const CommandResult down = mrclab_in(place.path, "down pair");
    CAPTURE(down.output);
    CHECK(down.code == 0);
    CHECK(down.output.find("is not kept") != std::string::npos);
    place.outside.check_untouched();
  }
}

TEST_CASE("a folder that may not be written to is bad input, with a way out") {
  const Place place;
  fs::create_directory(place.path / "locked");
  const auto as_nobody = [&](const std::string& words) {
    return run_command_line({"/bin/sh", "-c",
                             "cd " + place.path.string() +
                                 " && exec setpriv --reuid=4711 --regid=4711 --clear-groups " +
                                 program("mrclab-cli") + " " + words});
  };
  REQUIRE(::chmod(place.runs.path().c_str(), 0755) == 0);
  for (const char* words :
       {"run short.yaml --world sim --out locked", "run short.yaml --world sim --out /proc/runs",
        "run short.yaml --world sim --out short.yaml"}) {
    CAPTURE(words);
    const CommandResult result = as_nobody(words);
    CAPTURE(result.output);
    CHECK(result.code == 2);
    CHECK(result.output.find("--out") != std::string::npos);
    CHECK(result.output.find("filesystem error") == std::string::npos);
  }
}

TEST_SUITE_END();

}  // namespace
}  // namespace mrclab::lab
