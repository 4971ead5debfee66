// What other people's files can make the command do: nothing that its user did not ask for.

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "live/bringup/lab_record.h"
#include "netio/record/pcapng.h"
#include "netio/system/file_descriptor.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using netio::read_file;
using netio::write_file;

/// In that folder, through a shell; standard input is empty.
CommandResult shell_in(const fs::path& folder, const std::string& line) {
  return run_command_line({"/bin/bash", "-c",
                           "mrclab() { " + program("mrclab-cli") + " \"$@\"; }; cd " +
                               folder.string() + " && exec < /dev/null && " + line});
}

bool is_plain(const std::string& text) {
  return std::all_of(text.begin(), text.end(), [](char c) {
    return c == '\n' || (static_cast<unsigned char>(c) >= ' ' && c != '\x7f');
  });
}

/// A scenario whose check leaves a file behind.
std::string with_program(const fs::path& mark) {
  return "name: programs\nfabric: pair\nworkload:\n  - write: {from: h0, to: h1, size: 64KiB}\n"
         "end: 30us\nexpect:\n  - program: {command: \"touch " +
         mark.string() + "\", name: looks fine}\n";
}

TEST_CASE("programs of a run folder are shown, and run only when somebody says so") {
  const test::TemporaryRuns runs;
  const fs::path mark = runs.path() / "mark";
  write_file(runs.path() / "own.yaml", with_program(mark));
  REQUIRE(shell_in(runs.path(), "mrclab run own.yaml --world sim").code <= 3);
  REQUIRE(fs::remove(mark));  // one's own file is as good as one's own command
  const fs::path run = fs::canonical(runs.path() / "runs/latest");
  for (const std::string& line :
       {"mrclab replay " + run.string() + " --world sim", std::string("mrclab replay latest"),
        "mrclab run " + run.string() + "/scenario.yaml --world sim",
        "mrclab chaos " + run.string() + "/scenario.yaml --seeds 1"}) {
    CAPTURE(line);
    const CommandResult refused = shell_in(runs.path(), line);
    CAPTURE(refused.output);
    CHECK(refused.code == 2);
    CHECK(refused.output.find("touch " + mark.string()) != std::string::npos);
    CHECK(refused.output.find("--programs") != std::string::npos);
    CHECK(is_plain(refused.output));
    CHECK_FALSE(fs::exists(mark));
  }
  for (const std::string line :
       {"mrclab report latest", "mrclab diff latest latest", "mrclab export qlog latest",
        "mrclab blame latest", "mrclab shrink latest --budget 3 --out small.yaml"}) {
    shell_in(runs.path(), line);
    CAPTURE(line);
    CHECK_FALSE(fs::exists(mark));
  }
  CHECK(shell_in(runs.path(), "mrclab replay latest --programs").code == 0);
  CHECK(fs::exists(mark));
}

TEST_CASE("on a terminal the user is asked, and only yes is yes") {
  const test::TemporaryRuns runs;
  const fs::path mark = runs.path() / "mark";
  write_file(runs.path() / "own.yaml", with_program(mark));
  REQUIRE(shell_in(runs.path(), "mrclab run own.yaml --world sim").code <= 3);
  fs::remove(mark);
  const std::string replay = "'" + program("mrclab-cli") + " replay latest --world sim'";
  const std::vector<std::pair<std::string, bool>> answers = {
      {"n", false}, {"", false}, {"yes please", false}, {"y", true}};
  for (const auto& [answer, yes] : answers) {
    CAPTURE(answer);
    const CommandResult asked =
        shell_in(runs.path(), "printf '" + answer + "\\n' | script -qec " + replay + " /dev/null");
    CAPTURE(asked.output);
    CHECK(asked.output.find("[y/N]") != std::string::npos);
    CHECK(asked.code == (yes ? 0 : 2));
    CHECK(fs::exists(mark) == yes);
  }
}

TEST_CASE("a file that never ends or never begins is refused at once") {
  const test::TemporaryRuns runs;
  REQUIRE(::mkfifo((runs.path() / "pipe.yaml").c_str(), 0644) == 0);
  for (const std::string line :
       {"mrclab validate pipe.yaml", "mrclab run pipe.yaml --world sim",
        "mrclab import pipe.yaml --map pipe.yaml", "mrclab chaos --merge pipe.yaml",
        "mrclab validate /dev/zero", "mrclab analyze /dev/zero"}) {
    CAPTURE(line);
    const CommandResult result = shell_in(
        runs.path(), "timeout 20 bash -c 'true; " + program("mrclab-cli") + line.substr(6) + "'");
    CAPTURE(result.output);
    CHECK(result.code == 2);
  }
  // What the shell makes is no such pipe.
  CHECK(shell_in(runs.path(),
                 "mrclab validate <(cat " MRCLAB_SOURCE_DIR "/topologies/fabrics/pair.yaml)")
            .code == 0);
}

TEST_CASE("output that nobody can keep is not called a success") {
  const test::TemporaryRuns runs;
  for (const char* line : {"mrclab version > /dev/full", "mrclab --help > /dev/full",
                           "mrclab transport pair --json > /dev/full"}) {
    CAPTURE(line);
    const CommandResult result = shell_in(runs.path(), line);
    CAPTURE(result.output);
    CHECK(result.code == 3);
    CHECK(result.output.find("No space left") != std::string::npos);
  }
  // A verdict is one however little of it can be shown; the first file is not taken for stdout.
  CHECK(shell_in(runs.path(), "mrclab chaos pair --seeds 1 --out kept >&- 2>&-").code == 0);
  CHECK(shell_in(runs.path(), "mrclab run L6 --world sim --out . >&- 2>&-").code == 0);
  CHECK(nlohmann::json::parse(read_file(runs.path() / "latest/verdict.json"))["result"] == "pass");
}

TEST_CASE("names in captures and records reach neither the terminal nor JSON as they are") {
  const test::TemporaryRuns runs;
  const std::string evil = "h0:\xff\x1b[2J\x1b]0;title\x07";
  {
    netio::PcapngWriter capture(runs.path() / "evil.pcapng", {});
    const uint32_t port = capture.add_interface(evil, "");
    const std::vector<uint8_t> frame(64, 0);
    netio::PcapngRecord record;
    record.interface = port;
    record.bytes = frame;
    record.comment = evil;
    capture.write(record);
    capture.close({});
  }
  fs::copy_file(runs.path() / "evil.pcapng", runs.path() / ("x" + evil.substr(3) + ".pcapng"));
  for (const std::string line :
       {"mrclab analyze *.pcapng --section all", "mrclab analyze *.pcapng --json",
        "mrclab analyze *x*.pcapng", "mrclab analyze *.pcapng --fabric pair --json"}) {
    CAPTURE(line);
    const CommandResult result = shell_in(runs.path(), line);
    CAPTURE(result.output);
    CHECK(result.code <= 3);
    CHECK(is_plain(result.output));
    CHECK(result.output.find("json.exception") == std::string::npos);
    if (line.ends_with("--json")) CHECK(nlohmann::json::accept(result.output));
  }
}

TEST_CASE("files of a run folder that nest too deep are refused, and end nothing") {
  const test::TemporaryRuns runs;
  write_file(runs.path() / "short.yaml",
             "name: short\nfabric: pair\nworkload:\n  - write: {from: h0, to: h1, size: 64KiB}\n"
             "end: 30us\nexpect:\n  - no_qp_error\n");
  REQUIRE(shell_in(runs.path(), "mrclab run short.yaml --world sim").code == 0);
  const fs::path run = fs::canonical(runs.path() / "runs/latest");
  const std::string deep = std::string(200'000, '[') + std::string(200'000, ']');
  std::ofstream(run / "events.jsonl", std::ios::app) << "{\"t_ps\":1,\"node\":" << deep << "}\n";
  std::ofstream(run / "pace.jsonl", std::ios::app) << deep << "\n";
  CHECK(shell_in(runs.path(), "mrclab report latest --out page.html").code <= 3);
  CHECK(shell_in(runs.path(), "mrclab export qlog latest --out run.sqlog").code <= 3);
  write_file(run / "verdict.json", "{\"world\":" + deep + "}");
  for (const char* line :
       {"mrclab report latest --out page.html", "mrclab diff latest latest", "mrclab replay latest",
        "mrclab analyze latest", "mrclab chaos --merge runs/latest/verdict.json"}) {
    CAPTURE(line);
    const CommandResult result = shell_in(runs.path(), line);
    CAPTURE(result.output.substr(0, 500));
    CHECK(result.code == 2);
  }
}

TEST_SUITE_BEGIN("root: hostile input");

TEST_CASE("a lab's record is shown without what it would do to a terminal") {
  enter_sandbox();
  LabRecord record{"odd", "pair", 1, boot_id(), {1, 1, "mrclab"}, {"h0", "h1"}};
  create_record({}, record);
  const fs::path file = LabPaths{}.lab_directory("odd") / "record.json";
  std::string text = read_file(file);
  text.replace(text.find("\"pair\""), 6, "\"pa\\u001b[2Jir\\r\"");
  write_file(file, text);
  const CommandResult list = mrclab({"ls"});
  CAPTURE(list.output);
  CHECK(list.code == 0);
  CHECK(list.output.find("pa\\x1b[2Jir") != std::string::npos);
  CHECK(is_plain(list.output));
  CHECK(mrclab({"down", "--all"}).code == 0);
}

TEST_SUITE_END();

TEST_CASE("a file beyond the limit on sizes ends a command with the reason, never without a word") {
  const test::TemporaryRuns runs;
  write_file(
      runs.path() / "own.yaml",
      "name: own\nfabric: pair\nworkload:\n  - write: {from: h0, to: h1, size: 64KiB, until: end}\n"
      "end: 300us\nexpect: [no_qp_error]\n");
  size_t refused = 0;
  for (const char* blocks : {"1", "16", "64", "256"}) {  // of 1 KiB
    CAPTURE(std::string(blocks));
    const CommandResult run = shell_in(
        runs.path(), "ulimit -f " + std::string(blocks) + " && mrclab run own.yaml --world sim");
    CAPTURE(run.output);
    CHECK(run.code < 128);
    if (run.code == 0) continue;
    ++refused;
    CHECK(run.output.find("File too large") != std::string::npos);
  }
  CHECK(refused >= 2);
}

TEST_CASE("the verdict of a damaged run folder is refused in words by every verb that reads it") {
  const test::TemporaryRuns runs;
  write_file(runs.path() / "own.yaml",
             "name: own\nfabric: pair\nworkload:\n  - write: {from: h0, to: h1, size: 64KiB}\n"
             "end: 60us\nexpect: [no_qp_error]\n");
  REQUIRE(shell_in(runs.path(), "mrclab run own.yaml --world sim").code == 0);
  const fs::path run = fs::canonical(runs.path() / "runs/latest");
  const std::string whole = read_file(run / "verdict.json", 1 << 24);
  fs::remove(run / "SHA256SUMS");  // or every damage is found there
  const auto json = nlohmann::json::parse(whole);
  std::vector<std::string> damaged{"", "{", "[]", "null", "7", whole.substr(0, whole.size() / 2)};
  for (const char* key :
       {"world", "version", "timing", "metrics", "faults", "checks", "result", "seed"}) {
    for (const nlohmann::json& value :
         {nlohmann::json(nullptr), nlohmann::json(7), nlohmann::json("x"),
          nlohmann::json::array({1}), nlohmann::json::object({{"a", 1}})}) {
      nlohmann::json other = json;
      other[key] = value;
      damaged.push_back(other.dump());
    }
    nlohmann::json less = json;
    less.erase(key);
    damaged.push_back(less.dump());
  }
  for (const std::string& text : damaged) {
    write_file(run / "verdict.json", text);
    for (const std::string verb :
         {"analyze RUN --section faults", "report RUN --json", "diff RUN RUN", "runs --out runs",
          "run own.yaml --world sim --against RUN/verdict.json", "replay RUN --world sim"}) {
      std::string line = "mrclab " + verb;
      for (size_t at = line.find("RUN"); at != std::string::npos; at = line.find("RUN")) {
        line.replace(at, 3, run.string());
      }
      const CommandResult result = shell_in(runs.path(), line);
      CAPTURE(text.substr(0, 200));
      CAPTURE(line);
      CAPTURE(result.output);
      CHECK(result.output.find("json.exception") == std::string::npos);
      CHECK(result.code < 128);
      CHECK(is_plain(result.output));
    }
  }
}

}  // namespace
}  // namespace mrclab::lab
