// The command as a user has it: verbs, exit codes, what is left behind.

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "live/bringup/lab_record.h"
#include "tests/lab/support/sandbox.h"
#include "tests/netio/temporary_directory.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kVerbs = {
    "demo",     "run",    "up",      "down",       "ls",        "inspect", "exec",  "shell",
    "validate", "doctor", "version", "completion", "transport", "perf",    "clock", "plan",
    "import",   "trace",  "blame",   "analyze",    "report",    "export",  "fault", "heal",
    "chaos",    "replay", "shrink",  "diff",       "compare",   "package", "man",   "top",
    "draw",     "schema", "runs",    "list",       "capture",   "discover"};

TEST_CASE("every verb explains itself with an example") {
  for (const std::string& verb : kVerbs) {
    CAPTURE(verb);
    const CommandResult help = mrclab({verb, "--help"});
    CHECK(help.code == 0);
    CHECK(help.output.find("Example:") != std::string::npos);
  }
}

TEST_CASE("transport lists every option with the values that the fabric gives") {
  const auto options = mrclab_json({"transport", "octet", "--json"});
  const auto timeout = std::find_if(options.begin(), options.end(), [](const auto& option) {
    return option["name"] == "ack_timeout";
  });
  REQUIRE(timeout != options.end());
  CHECK((*timeout)["lab"] != (*timeout)["production"]);
  const std::string table = mrclab({"transport", "octet"}).output;
  for (const auto& option : options) {
    CHECK(table.find("\n" + option["name"].get<std::string>() + " ") != std::string::npos);
  }
}

TEST_CASE("what a verb prints for programs says of which schema it is") {
  const netio::test::TemporaryDirectory folder;
  const std::string runs = folder / "runs";
  const std::string first = std::string(MRCLAB_SOURCE_DIR) + "/docs/first.yaml";
  const std::string log = std::string(MRCLAB_SOURCE_DIR) + "/topologies/imports/rack-3.log";
  const std::string map = std::string(MRCLAB_SOURCE_DIR) + "/topologies/imports/rack-3.map.yaml";
  const auto schema_of = [](const std::vector<std::string>& words) {
    const auto document = mrclab_json(words);
    return (document.is_array() ? document.at(0) : document).at("schema").get<std::string>();
  };
  CHECK(schema_of({"run", first, "--world", "sim", "--out", runs, "--json"}) == "mrclab.verdict/1");
  CHECK(schema_of({"replay", runs + "/latest", "--out", runs, "--json"}) == "mrclab.replay/1");
  const std::string run = fs::canonical(runs + "/latest");
  CHECK(schema_of({"diff", run, run, "--json"}) == "mrclab.diff/1");
  CHECK(schema_of({"report", run, "--json"}) == "mrclab.report/1");
  CHECK(schema_of({"report", run, "--compare", run, "--json"}) == "mrclab.report-comparison/1");
  const CommandResult blame = mrclab({"blame", run, "--json"});  // exit code 1: it found something
  CHECK(blame.output.find("\"schema\": \"mrclab.blame/1\"") != std::string::npos);
  CHECK(schema_of({"analyze", run, "--json"}) == "mrclab.analysis/1");
  CHECK(schema_of({"trace", "p3/u1", "h0", "h5", "--json"}) == "mrclab.trace/1");
  CHECK(schema_of({"runs", runs, "--json"}) == "mrclab.runs/1");
  CHECK(schema_of({"plan", "pair", "--json"}) == "mrclab.plan/1");
  CHECK(schema_of({"plan", "pair", "--simulate", "--json"}) == "mrclab.plan-simulation/1");
  CHECK(schema_of({"plan", "pair", "--host", "0", "--json"}) == "mrclab.plan/1");
  CHECK(schema_of({"plan", "pair", "--host", "0", "--to", "1", "--json"}) == "mrclab.plan-paths/1");
  CHECK(schema_of({"transport", "pair", "--json"}) == "mrclab.transport-options/1");
  CHECK(schema_of({"fault", "--list", "--json"}) == "mrclab.fault-kinds/1");
  CHECK(schema_of({"chaos", "pair", "--seeds", "1", "--json"}) == "mrclab.chaos/1");
  CHECK(schema_of({"compare", first, "--transport", "mrc,roce16", "--out", runs, "--json"}) ==
        "mrclab.comparison/1");
  CHECK(schema_of({"perf", "write_lat", "pair", "--to", "h1", "-n", "5", "--json"}) ==
        "mrclab.perf/1");
  CHECK(schema_of({"import", log, "--map", map, "--out", folder / "rack.yaml", "--json"}) ==
        "mrclab.import/1");
}

TEST_CASE("bad usage is one sentence and exit code 2") {
  const std::vector<std::vector<std::string>> bad = {{},
                                                     {"fly"},
                                                     {"up"},
                                                     {"up", "no-such-fabric"},
                                                     {"up", "pair", "--name", "a/b"},
                                                     {"up", "pair", "--scenario", "nothing"},
                                                     {"up", "pair", "--dilation", "fast"},
                                                     {"clock"},
                                                     {"clock", "until"},
                                                     {"clock", "step", "--node", "h0", "--fault"},
                                                     {"run", "optic-glitch", "--until", "2ms"},
                                                     {"compare"},
                                                     {"compare", "no-such-scenario"},
                                                     {"compare", "link-flap", "--transport", "tcp"},
                                                     {"compare", "link-flap", "--json", "--csv"},
                                                     {"down", "../etc"},
                                                     {"run", "no-such-incident", "--world", "sim"},
                                                     {"run", "optic-glitch", "--world", "mars"},
                                                     {"blame"},
                                                     {"blame", "no-such-run"},
                                                     {"blame", "/tmp"},
                                                     {"chaos", "octet", "--blame", "--seeds", "x"},
                                                     {"chaos", "--blame", "--merge", "a.json"},
                                                     {"trace"},
                                                     {"trace", "p9/u9", "h0", "h5"},
                                                     {"trace", "--psn", "1", "latest"},
                                                     {"trace", "--qp", "0x12", "latest"},
                                                     {"trace", "--qp", "x", "--psn", "1", "latest"},
                                                     {"validate", "/nonexistent.yaml"}};
  for (const auto& words : bad) {
    const CommandResult result = mrclab(words);
    CAPTURE(result.output);
    CHECK(result.code == 2);
    CHECK(std::count(result.output.begin(), result.output.end(), '\n') == 1);
  }
}

TEST_CASE("a file that is no fabric is refused with its position") {
  const fs::path file = fs::temp_directory_path() / ("mrclab-bad-" + std::to_string(::getpid()));
  std::ofstream(file) << "name: x\nplanes: 2\nt0: 1\nhosts_per_t0: 1\nplaens: 3\n";
  const CommandResult result = mrclab({"validate", file});
  fs::remove(file);
  CAPTURE(result.output);
  CHECK(result.code == 2);
  CHECK(result.output.find(":5:1:") != std::string::npos);
}

TEST_CASE("completion is a bash script that knows the verbs") {
  const CommandResult script = mrclab({"completion"});
  REQUIRE(script.code == 0);
  const std::string use = script.output + R"(
COMP_WORDS=(mrclab ins); COMP_CWORD=1; _mrclab; echo "${COMPREPLY[@]}"
COMP_WORDS=(mrclab up oc); COMP_CWORD=2; _mrclab; echo "${COMPREPLY[@]}")";
  const CommandResult completed = run_command_line({"/bin/bash", "-c", use});
  CHECK(completed.output == "inspect\noctet\n");
}

TEST_CASE("completion offers the values of options: worlds, fabrics, transports, keys of --set") {
  const CommandResult script = mrclab({"completion"});
  REQUIRE(script.code == 0);
  const auto offered = [&](const std::string& words) {
    const std::string use =
        script.output + "\nCOMP_WORDS=(mrclab " + words +
        "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _mrclab; echo \"${COMPREPLY[@]}\"";
    return run_command_line({"/bin/bash", "-c", use}).output;
  };
  CHECK(offered("run --world ''") == "live sim\n");
  CHECK(offered("run --fabric oct") == "octet\n");
  CHECK(offered("run --transport roce1") == "roce16 roce16-fat\n");
  CHECK(offered("run --set en") == "end=\n");
  CHECK(offered("run --without tri") == "trim\n");
  CHECK(offered("lesson 04") == "04-link-flap\n");
  CHECK(offered("list tr") == "transports\n");
  CHECK(offered("fault line_c") == "line_card\n");
  CHECK(offered("compare optic-gl") == "optic-glitch optic-glitch-production\n");
}

TEST_CASE("list names what there is, a line or an object for each") {
  CHECK(mrclab({"list"}).output.find("transports") != std::string::npos);
  for (const char* kind : {"fabrics", "incidents", "faults", "checks", "workloads", "lessons",
                           "transports", "mechanisms", "metrics"}) {
    CAPTURE(kind);
    const auto json = mrclab_json({"list", kind, "--json"});
    CHECK(json["schema"] == "mrclab.list/1");
    CHECK(json["names"].size() > 3);
    const std::string names = mrclab({"list", kind, "--names"}).output;
    for (const auto& entry : json["names"]) {
      CHECK(names.find(entry["name"].get<std::string>() + "\n") != std::string::npos);
      CHECK_FALSE(entry["about"].get<std::string>().empty());
    }
  }
  CHECK(mrclab({"list", "fabrics"}).output.find("octet") != std::string::npos);
  CHECK(mrclab({"list", "fabric"}).code == 2);
}

TEST_SUITE_BEGIN("root: command");

TEST_CASE("up, ls, inspect, exec and down, as in the first tour") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  const CommandResult up = mrclab({"up", "pair", "--name", "tour"});
  CAPTURE(up.output);
  REQUIRE(up.code == 0);
  CHECK(mrclab({"up", "pair", "--name", "tour"}).code == 2);  // taken

  const auto list = mrclab_json({"ls", "--json"});
  REQUIRE(list.size() == 1);
  CHECK(list[0]["state"] == "up");
  const auto fabric = mrclab_json({"inspect", "tour", "--json"});
  CHECK(fabric["nodes"].size() == 8);
  CHECK(fabric["links"][0]["up"] == true);
  CHECK(mrclab({"inspect", "--evs", "h0", "h1"}).output.find("p1/u0") != std::string::npos);

  const CommandResult ping =
      mrclab({"exec", "h0", "--", "ping", "-c", "2", "-i", "0.2", "-W", kPingPatience, "h1"});
  CAPTURE(ping.output);
  CHECK(ping.code == 0);
  CHECK(mrclab({"exec", "h1", "--", "hostname"}).output == "h1\n");
  CHECK(mrclab({"exec", "h1", "--", "sh", "-c", "exit 9"}).code == 9);
  const CommandResult nobody = mrclab({"exec", "h7", "--", "true"});
  CHECK(nobody.code == 2);
  CHECK(nobody.output.find("h7") != std::string::npos);

  CHECK(mrclab({"down", "--lab", "tour"}).code == 0);
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_CASE(
    "a command runs in several nodes at once, each line with its node, the worst code counts") {
  enter_sandbox();
  REQUIRE(mrclab({"up", "pair", "--name", "many"}).code == 0);
  const CommandResult names = mrclab({"exec", "h[0-1]", "--", "hostname"});
  CHECK(names.code == 0);
  CHECK(names.output.find("h0: h0\n") != std::string::npos);
  CHECK(names.output.find("h1: h1\n") != std::string::npos);
  CHECK(mrclab({"exec", "--jobs", "2", "all", "--", "true"}).code == 0);
  const CommandResult failed = mrclab(
      {"exec", "h0,h1", "--", "sh", "-c", "[ $(hostname) = h0 ] || { echo oh >&2; exit 7; }"});
  CHECK(failed.code == 7);
  CHECK(failed.output.find("h1: oh\n") != std::string::npos);
  CHECK(failed.output.find("1 of 2 nodes failed: h1 (7)") != std::string::npos);
  CHECK(mrclab({"exec", "h*", "--", "no-such-program"}).code == 127);
  const CommandResult more = mrclab({"exec", "h[0-3]", "--", "true"});
  CHECK(more.code == 2);
  CHECK(more.output.find("h2") != std::string::npos);
  CHECK(mrclab({"down"}).code == 0);
}

TEST_CASE(
    "capture writes what passes a port into a pipe while packets come, and ends with its reader") {
  enter_sandbox();
  REQUIRE(mrclab({"up", "pair", "--name", "tapped"}).code == 0);
  const std::string cli = std::string(MRCLAB_BINARY_DIR) + "/mrclab-cli";
  const auto shell = [](const std::string& line) {
    return run_command_line({"/bin/sh", "-c", line});
  };
  // tshark reads the pipe: five echo requests through the plane that the ping takes, or the other.
  const CommandResult seen = shell(
      cli + " exec h0 -- ping -i 0.2 -w 4 h1 >/dev/null 2>&1 & " + cli +
      " capture tapped 'h0:p*' -c 4 -w - 2>/dev/null | tshark -r - -T fields -e frame.interface_name "
      "-e frame.time_epoch 2>/dev/null; wait");
  CAPTURE(seen.output);
  CHECK(std::count(seen.output.begin(), seen.output.end(), '\n') == 4);
  CHECK(seen.output.find("h0:p") == 0);
  CHECK(seen.output.find("\t1") != std::string::npos);  // seconds of this decade, not of 1970
  const CommandResult gone =
      shell(cli + " exec h0 -- ping -i 0.2 -w 3 h1 >/dev/null 2>&1 & { " + cli +
            " capture 'h0:p*'; echo code $? >&2; } | head -c 100 >/dev/null; wait");
  CAPTURE(gone.output);
  CHECK(gone.output.find("code 0") != std::string::npos);
  CHECK(shell("timeout -s INT 1 " + cli + " capture h0:p0 -w /dev/null").code != 139);
  CHECK(mrclab({"capture", "h0:p9"}).code == 2);
  CHECK(mrclab({"down"}).code == 0);
}

TEST_CASE("the fabric that the kernel forwards comes up and carries a ping") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  const CommandResult up = mrclab({"up", "pair-kernel"});
  CAPTURE(up.output);
  REQUIRE(up.code == 0);
  const CommandResult ping =
      mrclab({"exec", "h1", "--", "ping", "-c", "1", "-W", kPingPatience, "h0"});
  CAPTURE(ping.output);
  CHECK(ping.code == 0);
  CHECK(mrclab({"down"}).code == 0);
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_CASE("a fabric of 56 processes carries a ping") {
  enter_sandbox();
  const CommandResult up = mrclab({"up", "octet", "--isolate"});
  CAPTURE(up.output);
  REQUIRE(up.code == 0);
  const CommandResult ping =
      mrclab({"exec", "h0", "--", "ping", "-c", "1", "-W", kPingPatience, "h7"});
  CAPTURE(ping.output);
  CHECK(ping.code == 0);
  CHECK(mrclab({"down"}).code == 0);
}

TEST_CASE("down ends what was started in a node") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  REQUIRE(mrclab({"up", "pair"}).code == 0);
  const CommandResult started =
      mrclab({"exec", "h0", "--", "sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $!"});
  REQUIRE(started.code == 0);
  const ProcessMark sleeper = mark_of(std::stoi(started.output), "sleep");
  REQUIRE(is_running(sleeper));
  CHECK(mrclab({"down"}).code == 0);
  CHECK_FALSE(is_running(sleeper));
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_CASE("down without a lab says so with exit code 2, down --all finds nothing to do") {
  enter_sandbox();
  CHECK(mrclab({"down"}).code == 2);
  CHECK(mrclab({"down", "nobody"}).code == 2);
  CHECK(mrclab({"down", "--all"}).code == 0);
}

TEST_CASE("when /run is full, up says so, starts nothing and leaves nothing") {
  enter_sandbox();
  fs::create_directory("/run/mrclab");
  REQUIRE(::mount("tmpfs", "/run/mrclab", "tmpfs", 0, "size=4k") == 0);
  std::ofstream("/run/mrclab/filler") << std::string(4096, 'x');
  const auto before = kernel_snapshot();
  const CommandResult up = mrclab({"up", "pair"});
  CAPTURE(up.output);
  CHECK(up.code == 3);
  CHECK(up.output.find("No space left") != std::string::npos);
  CHECK(up.output.find("Free some space in /run") != std::string::npos);
  CHECK(up.output.find("--out") == std::string::npos);
  CHECK(difference(before, kernel_snapshot()) == "");
  REQUIRE(::umount2("/run/mrclab", 0) == 0);
  fs::remove("/run/mrclab");
}

TEST_CASE("without rights, up says what to do and leaves nothing") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  const CommandResult up =
      run_command_line({"/usr/bin/setpriv", "--reuid=65534", "--regid=65534", "--clear-groups",
                        program("mrclab-cli"), "up", "pair"});
  CAPTURE(up.output);
  CHECK(up.code == 2);
  CHECK(up.output.find("sudo") != std::string::npos);
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_CASE("doctor finds this machine fit and leaves nothing") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  CHECK(mrclab_json({"doctor", "--json"}).size() > 8);
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_SUITE_END();

}  // namespace
}  // namespace mrclab::lab
