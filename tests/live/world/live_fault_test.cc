// Faults by hand, and what others do to a lab that stays.

#include <doctest/doctest.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lab/run/simulated_run.h"
#include "live/bringup/lab_record.h"
#include "live/world/live_lab.h"
#include "live/world/live_options.h"
#include "netio/rpc/rpc.h"
#include "netio/system/file_descriptor.h"
#include "tests/lab/support/sandbox.h"
#include "tests/support/nightly.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kByHand = R"(
name: by-hand
fabric: pair
seed: 3
workload:
  - all_reduce: {hosts: all, size: 64KiB, until: end}
faults:
  - {at: 40us, wire_loss: {link: "p1.t0-0:u0", direction: up, loss: 30%, for: 10us}}
end: 80us
)";

TEST_SUITE_BEGIN("root: faults by hand");

/// A lab that is taken down at the end, and a folder for its files.
class BrokenLab {
 public:
  explicit BrokenLab(std::vector<std::string> up) {
    enter_sandbox();
    std::string name = fs::temp_directory_path() / "mrclab-fault-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    std::ofstream(folder_ / "by-hand.yaml") << kByHand;
    for (std::string& word : up) {
      if (word == "SCENARIO") word = folder_ / "by-hand.yaml";
    }
    up.insert(up.begin(), "up");
    up.insert(up.end(), {"--name", "hand"});
    said(up);
  }
  ~BrokenLab() {
    down();
    fs::remove_all(folder_);
  }

  /// From the folder: there it leaves what was done by hand.
  std::string down() {
    const std::string command =
        "cd '" + folder_.string() + "' && '" + program("mrclab-cli") + "' down hand";
    return run_command_line({"/bin/sh", "-c", command}).output;
  }
  std::string said(const std::vector<std::string>& words, int code = 0) {
    const CommandResult result = mrclab(words);
    CAPTURE(words);
    CAPTURE(result.output);
    CHECK(result.code == code);
    return result.output;
  }
  json asked(std::vector<std::string> words) {
    words.push_back("--json");
    return mrclab_json(words);
  }
  json fault(uint32_t number) { return asked({"inspect", "hand", "--faults"})["faults"][number]; }
  /// Asks until it is so; the lab goes on meanwhile.
  template <class Condition>
  bool becomes(Condition condition) {
    for (int i = 0; i < 200; ++i) {
      if (condition()) return true;
    }
    return false;
  }
  json history() { return asked({"inspect", "hand", "--history"}); }
  const fs::path& folder() const { return folder_; }

 private:
  fs::path folder_;
};

std::string simulated_history(const fs::path& scenario, const fs::path& folder) {
  const Scenario s = read_scenario_file(scenario);
  const RunFolder run = make_run_folder(folder, "sim");
  return history_sha256(run_simulated(s, run, {}).history);
}

TEST_CASE("what was broken by hand while the lab stood or ran is repeated by the simulator") {
  BrokenLab lab({"--scenario", "SCENARIO", "--paused"});
  lab.said({"clock", "until", "15us"});
  const json down = lab.asked({"fault", "link_down", "p0.t0-0:u0"});
  CHECK(down.at("at_ps") == 15'000'001);  // where the lab stands, no time need pass
  CHECK(down.at("source") == "hand");
  CHECK(lab.asked({"clock", "status"}).at("fabric_ps") == 15'000'000);
  const json step = lab.asked({"clock", "step", "--fault"});
  CHECK(step.at("fabric_ps") == 15'000'001);
  CHECK(step.at("outcome").at("effects").size() == 4);
  REQUIRE(step.at("outcome").at("faults").size() == 1);
  CHECK(step.at("outcome").at("faults")[0].at("fault") == down.at("fault"));  // the same words
  lab.said({"fault", "jitter", "link=p1.t0-1:u0", "direction=down", "up_to=2us", "--at", "+3us"});
  lab.said({"fault", "host_pause", "host=h1", "for=4us", "--at", "30us"});
  lab.said({"clock", "until", "25us"});
  CHECK(lab.fault(1).at("stage") == "in force");
  const json healed = lab.asked({"heal", "p0.*"});
  REQUIRE(healed.at("healed").size() == 1);
  CHECK(healed["healed"][0].at("until_ps") == 25'000'001);
  // From here on it runs: what is ordered comes a little later, and where it stands at its end.
  const std::string cli = program("mrclab-cli");
  const CommandResult running =
      run_command_line({"/bin/sh", "-c",
                        cli + " clock resume --until end & " + cli +
                            " fault switch_hang p0.t1-0 for=2us; " + cli + " heal jitter; wait"});
  CAPTURE(running.output);
  REQUIRE(lab.asked({"clock", "status"}).at("fabric_ps") == 80'000'000);

  lab.said({"fault", "--export", lab.folder() / "session.yaml"});
  const json history = lab.history();
  CHECK(history.at("complete") == true);
  CHECK(history.at("not_faithful") == json::array());
  CHECK(history.at("history_sha256") ==
        simulated_history(lab.folder() / "session.yaml", lab.folder()));
  CHECK(history.at("history_sha256") !=
        simulated_history(lab.folder() / "by-hand.yaml", lab.folder()));
  const std::string down_said = lab.down();
  CAPTURE(down_said);
  CHECK(read_scenario_file(lab.folder() / "runs/hand-session/scenario.yaml").faults ==
        read_scenario_file(lab.folder() / "session.yaml").faults);
}

/// Until every process has looked at clock and limit so many times more.
void wait_for_ticks(LiveLab& lab, int ticks) {
  for (uint32_t i = 0; i < lab.gate().process_count; ++i) {
    for (int seen = 0; seen < ticks; ++seen) {
      const int64_t before = lab.gate().slot(i).heartbeat_ns.load();
      while (lab.gate().slot(i).heartbeat_ns.load() == before) ::sched_yield();
    }
  }
}

TEST_CASE("a fault by hand is in time for every process however long the lab is held up") {
  enter_sandbox();
  const Scenario scenario = parse_scenario(read_yaml_text(kByHand, "by-hand.yaml"));
  LiveLabOptions options;  // without an end: on a busy machine it may get far between two acts
  options.name = "t_held_" + std::to_string(::getpid());
  options.programs = MRCLAB_BINARY_DIR;
  LiveLab lab(scenario.topology, live_options_of(scenario, options));
  lab.start();
  const auto run_to = [&](FabricTime at) {
    while (lab.now() < at && lab.step()) ::sched_yield();
  };
  FabricTime last_open;
  for (const bool up : {false, true, false}) {
    run_to(last_open + FabricTime::from_us(5));
    const Quiesce quiesce(lab.commits());
    const FabricTime open = quiesce.open_instant();
    CHECK(open > last_open);
    // A process that was in a tick has ended it, and many more.
    wait_for_ticks(lab, test::nightly() ? 50 : 12);
    for (uint32_t i = 0; i < lab.gate().process_count; ++i) {
      CHECK(FabricTime::from_ps(lab.gate().slot(i).done_ps.load()) < open);
    }
    std::vector<ScheduledEffect> schedule = lab.schedule();
    const LinkId link = scenario.topology.port(*scenario.topology.find_port("p0.t0-0:u0")).link;
    schedule.push_back({open, WireState{scenario.topology.link(link).a_to_b(), up}, 0, 0, up});
    std::stable_sort(schedule.begin(), schedule.end(),
                     [](const auto& a, const auto& b) { return a.at < b.at; });
    lab.replace_schedule(quiesce, {schedule});
    last_open = open;
  }
  run_to(last_open + FabricTime::from_us(5));
  for (uint32_t i = 0; i < lab.gate().process_count; ++i) {
    CHECK(lab.fleet().ask(i, "report").at("late_effects") == 0);
  }
  CHECK(lab.outside_faults().total() == 0);
}

TEST_CASE("faults that are over leave what the nodes are told, and the session still has them") {
  BrokenLab lab({"--scenario", "SCENARIO", "--paused"});
  for (int i = 0; i < 6; ++i) {
    lab.said({"fault", "link_down", "p0.t0-0:u0", "for=1us"});
    lab.said({"fault", "jitter", "link=p1.t0-1:u0", "up_to=1us", "for=1us"});
    lab.said({"clock", "until", "+2us"});
  }
  lab.said({"fault", "rate", "link=p0.t0-1:u0", "to=50Gb/s"});
  lab.said({"clock", "until", "+2us"});
  lab.said({"heal", "p0.t0-1"});
  lab.said({"clock", "until", "end"});
  lab.said({"fault", "host_pause", "host=h1", "for=4us"});  // with it the others leave
  const std::string schedule = netio::read_file(LabPaths{}.lab_directory("hand") / "schedule");
  CAPTURE(schedule);
  CHECK(std::count(schedule.begin(), schedule.end(), '\n') == 4);  // settled; paused, and on again
  const json listed = lab.asked({"inspect", "hand", "--faults"});
  CHECK(listed.at("faults").size() == 15);
  CHECK(listed.at("left_out") == 0);
  CHECK(lab.said({"heal", "3"}).find("nothing to heal") != std::string::npos);

  lab.said({"fault", "--export", lab.folder() / "session.yaml"});
  CHECK(read_scenario_file(lab.folder() / "session.yaml").faults.size() == 14);
  const json history = lab.history();
  CHECK(history.at("not_faithful") == json::array());
  CHECK(history.at("history_sha256") ==
        simulated_history(lab.folder() / "session.yaml", lab.folder()));
}

TEST_CASE("the state of the clock tells what a step reached even if that has left the book since") {
  BrokenLab lab({"--scenario", "SCENARIO", "--paused"});
  lab.said({"fault", "jitter", "link=p1.t0-1:u0", "up_to=1us", "for=1us"});
  lab.said({"clock", "step", "--fault"});  // it begins
  const json end = lab.asked({"clock", "step", "--fault"});
  REQUIRE(end.at("outcome").at("faults").size() == 1);
  lab.said({"fault", "host_pause", "host=h1", "for=4us"});  // with it the other one leaves
  const json later =
      netio::RpcClient(LabPaths{}.lab_directory("hand") / "control.sock").call("clock_state");
  REQUIRE(later.at("outcome").at("faults").size() == 1);
  CHECK(later.at("outcome").at("faults")[0].at("fault") ==
        end.at("outcome").at("faults")[0].at("fault"));
}

TEST_CASE("a word that means nothing is refused with what would be right, and nothing happens") {
  BrokenLab lab(
      {"pair", "--paused", "--workload", "all_reduce: {hosts: all, size: 64KiB, until: end}"});
  lab.said({"clock", "until", "5us"});
  const auto refused = [&](const std::vector<std::string>& words, const char* with) {
    const std::string text = lab.said(words, 2);
    CAPTURE(text);
    CHECK(text.find(with) != std::string::npos);
  };
  refused({"fault"}, "--list");
  refused({"fault", "link_dwn", "p0.t0-0:u0"}, "link_down");
  refused({"fault", "link_down", "p9.t0-0:u0"}, "names no link");
  refused({"fault", "link_down", "p0.t0-0:u0", "fro=3us"}, "for");
  refused({"fault", "link_down", "p0.t0-0:u0", "for=three"}, "three");
  refused({"fault", "link_down", "link=p0.t0-0:u0", "link=p0.t0-0:u1"}, "twice");
  refused({"fault", "link_down", "p0.t0-0:u0", "--at", "1us"}, "already");
  refused({"heal", "nonsense"}, "means no fault");
  refused({"clock", "until", "end"}, "end");
  CHECK(lab.asked({"inspect", "--faults"}).at("faults") == json::array());
  CHECK(lab.said({"heal"}).find("nothing to heal") != std::string::npos);
  // Work without an end repeats up to where the lab is.
  lab.said({"fault", "--export", lab.folder() / "session.yaml"});
  CHECK(read_scenario_file(lab.folder() / "session.yaml").end == FabricTime::from_us(5));
}

TEST_CASE("what others do with their own tools becomes a fault that heal leaves alone") {
  BrokenLab lab({"pair", "--dilation", "2000", "--workload",
                 "all_reduce: {hosts: all, size: 64KiB, until: end}"});
  const auto in_node = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"exec", "h0", "--"});
    lab.said(words);
  };
  in_node({"ip", "link", "set", "p0", "down"});
  const auto in_force = [&] {
    const json fault = lab.fault(0);
    return fault.is_object() && fault.at("stage") == "in force";
  };
  REQUIRE(lab.becomes(in_force));
  CHECK(lab.fault(0).at("kind") == "link_down");
  CHECK(lab.fault(0).at("source") == "outside");
  CHECK(lab.said({"heal"}).find("somebody set down h0:p0") != std::string::npos);
  CHECK(lab.fault(0).at("stage") == "in force");
  in_node({"ip", "link", "set", "p0", "up"});
  CHECK(lab.becomes([&] { return lab.fault(0).at("stage") == "over"; }));

  in_node({"tc", "qdisc", "add", "dev", "p1", "root", "pfifo"});
  CHECK(lab.becomes([&] {
    return lab.said({"clock", "status"}).find("put pfifo on h0:p1") != std::string::npos;
  }));

  for (const ProcessMark& process : recorded_processes({}, "hand")) {
    if (process.program.ends_with("mrc-switchd")) {
      ::kill(process.pid, SIGKILL);
      break;
    }
  }
  REQUIRE(lab.becomes([&] { return lab.fault(1).is_object(); }));
  CHECK(lab.fault(1).at("kind") == "switch_crash");
  CHECK(lab.fault(1).at("noticed").get<std::string>().find("plane-0") != std::string::npos);
  CHECK_FALSE(lab.history().at("not_faithful").empty());
}

TEST_CASE(
    "top shows what the switch at the other end of a link took in, and nothing on a dark link") {
  BrokenLab lab({"--scenario", "SCENARIO", "--paused"});
  lab.said({"clock", "until", "20us"});
  const json look = lab.asked({"top", "hand"});
  CHECK(look.at("until_ps") == 20'000'000);
  const auto link = [](const json& of, const std::string& from) {
    for (const json& row : of.at("links")) {
      if (row.at("from") == from) return row;
    }
    FAIL("no row of " << from);
    return json();
  };
  const json said =
      netio::RpcClient(LabPaths{}.lab_directory("hand") / "plane-0.sock").call("counters");
  CHECK(said.at("committed_ps") == 20'000'000);
  const auto taken = said.at("nodes").at("p0.t1-0").at("d0.rx_bytes").get<double>();
  const json up = link(look, "p0.t0-0:u0");
  const double sent = up.at("bits_per_second").get<double>() * 20e-6 / 8;
  CHECK(taken > 20'000);
  CHECK(sent >= taken);
  CHECK(sent <= taken + 20'000);  // what is on its way: 100 Gb/s for more than the link is long
  CHECK(link(look, "h0:p0").at("load").get<double>() > 0.01);

  lab.said({"fault", "link_down", "p0.t0-0:u0"});
  lab.said({"clock", "until", "30us"});
  const json later = link(lab.asked({"top", "hand"}), "p0.t0-0:u0");
  const double sent_later = later.at("bits_per_second").get<double>() * 30e-6 / 8;
  CHECK(sent_later - sent <
        5'000);  // a frame at most, where light would have carried ten times that
  const std::string text = lab.said({"top", "hand", "--only", "p0.*", "--rows", "3"});
  CAPTURE(text);
  CHECK(text.starts_with("lab hand: fabric time 30us, mean since the beginning"));
  CHECK(lab.said({"top", "--only", "p7.nosuch"}, 2).find("names no node and no port") !=
        std::string::npos);
  // Two looks while it stands: the second finds nothing new.
  const std::string two = lab.said({"top", "--count", "2", "--every", "0.1"});
  CHECK(two.find("fabric time 30us, standing") != std::string::npos);
}

TEST_CASE("a lab that is broken and healed sixty times stays faithful and does not grow") {
  // tests/run_tests does the same for hours, nightly.
  const CommandResult result = run_command_line(
      {"/usr/bin/python3", MRCLAB_SOURCE_DIR "/tests/soak/soak_lab", "--build", MRCLAB_BINARY_DIR},
      std::chrono::minutes(15));
  MESSAGE(result.output);
  CHECK(result.code == 0);
}

TEST_SUITE_END();

}  // namespace
}  // namespace mrclab::lab
