// The time of a lab that stays: it stands at the instant that was set, in every process, and stopping and
// stepping change nothing in what happens.

#include <doctest/doctest.h>
#include <signal.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>

#include "lab/persistent/clock_text.h"
#include "lab/run/simulated_run.h"
#include "live/bringup/lab_record.h"
#include "netio/rpc/rpc.h"
#include "scenario/spec/queue_pairs.h"
#include "tests/lab/support/sandbox.h"
#include "tests/support/nightly.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kStepped = R"(
name: stepped
fabric: pair
seed: 3
workload:
  - all_reduce: {hosts: all, size: 64KiB, until: end}
faults:
  - {at: 20us, link_down: {link: "p0.t0-0:u0", for: 15us}}
end: 60us
expect:
  - no_qp_error
)";

Scenario scenario() { return parse_scenario(read_yaml_text(kStepped, "stepped.yaml")); }

TEST_CASE("instants are absolute, relative to now, in round trips, or the end") {
  const Scenario s = scenario();
  const FabricTime now = FabricTime::from_us(7);
  const auto at = [&](const char* text) { return parse_instant(text, s.topology, now, &s); };
  CHECK(at("300us") == FabricTime::from_us(300));
  CHECK(at("+10us") == FabricTime::from_us(17));
  CHECK(at("2rtt") == s.topology.base_rtt * 2);
  CHECK(at("+1rtt") == now + s.topology.base_rtt);
  CHECK(at("end") == s.end);
  for (const char* bad : {"", "soon", "-3us", "++1us", "3", "5parsec", "{a: b}"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(at(bad), InputError);
  }
  CHECK_THROWS_AS(parse_instant("end", s.topology, now, nullptr), InputError);
}

TEST_CASE("a step's words name a node, a port or a queue pair of the lab") {
  const Scenario s = scenario();
  const auto pairs = queue_pairs(s);
  REQUIRE_FALSE(pairs.empty());
  for (const QueuePairEnd& end : pairs) {
    const auto peer = std::find_if(pairs.begin(), pairs.end(), [&](const QueuePairEnd& other) {
      return other.host == end.peer_host && other.qpn == end.peer_qpn;
    });
    REQUIRE(peer != pairs.end());
    CHECK(peer->peer_qpn == end.qpn);
  }
  const json listed = describe_queue_pairs(s);
  const auto name = listed[0].at("qp").get<std::string>();
  const RecordFilter by_name = step_filter(s.topology, &s, "", "", name);
  REQUIRE(by_name.qp.has_value());
  CHECK(by_name.qp->local == pairs[0].qpn);
  CHECK(by_name.node == s.topology.host(pairs[0].host));
  CHECK(step_filter(s.topology, &s, "", "", std::to_string(pairs[0].qpn.value)) == by_name);
  CHECK(step_filter(s.topology, &s, "p0.t0-1", "", "").node == s.topology.find_node("p0.t0-1"));
  CHECK(step_filter(s.topology, &s, "", "h1:p0", "").port == PortId{0});
  CHECK_THROWS_AS(step_filter(s.topology, &s, "h9", "", ""), InputError);
  CHECK_THROWS_AS(step_filter(s.topology, &s, "", "h0", ""), InputError);
  CHECK_THROWS_AS(step_filter(s.topology, &s, "", "", "h0:0x0"), InputError);
  CHECK_THROWS_AS(step_filter(s.topology, &s, "", "", "h0:"), InputError);
  CHECK_THROWS_AS(step_filter(s.topology, nullptr, "", "", name), InputError);
}

TEST_CASE("a filter survives its way to the daemons, and a step is told exactly") {
  const Scenario s = scenario();
  const json listed = describe_queue_pairs(s);
  for (const RecordFilter& filter :
       {RecordFilter{}, step_filter(s.topology, &s, "h0", "", ""),
        step_filter(s.topology, &s, "", "p1.t0-0:d0", ""),
        step_filter(s.topology, &s, "", "", listed[0].at("qp").get<std::string>())}) {
    CHECK(record_filter_from(to_json(filter)) == filter);
  }
  CHECK(in_microseconds(FabricTime::from_ps(12'000'345)) == "12.000345us");
  CHECK(record_line({{"t_ps", 1'500'000},
                     {"node", "h0"},
                     {"port", "p1"},
                     {"direction", "out"},
                     {"event", "dropped"},
                     {"cause", "wire_down"},
                     {"packet", "sack"},
                     {"qp", 0x1a2b3c},
                     {"psn", 7},
                     {"path", "p1/u0"}}) ==
        "    1.500000us  h0:p1       out sack qp 0x1a2b3c psn 7 p1/u0 dropped: wire_down");
}

TEST_SUITE_BEGIN("root: clock");

constexpr int64_t kNotTogether = -2;

/// A lab of the scenario above, standing at its start, in a folder of its own.
class SteppedLab {
 public:
  SteppedLab() {
    enter_sandbox();
    std::string name = fs::temp_directory_path() / "mrclab-clock-XXXXXX";
    REQUIRE(::mkdtemp(name.data()) != nullptr);
    folder_ = name;
    file_ = folder_ / "stepped.yaml";
    std::ofstream(file_) << kStepped;
    const CommandResult up = mrclab({"up", "--scenario", file_, "--name", "clock", "--paused"});
    CAPTURE(up.output);
    REQUIRE(up.code == 0);
  }
  ~SteppedLab() {
    mrclab({"down", "clock"});
    fs::remove_all(folder_);
  }

  /// An order; the lab's state when it is done.
  json clock(std::vector<std::string> words) {
    words.insert(words.begin(), "clock");
    words.push_back("--json");
    return mrclab_json(words);
  }

  /// What every process has committed to; kNotTogether if they differ.
  int64_t committed_ps() {
    std::vector<int64_t> all;
    for (const char* process : {"hosts-0", "hosts-1", "plane-0", "plane-1"}) {
      const fs::path socket = LabPaths{}.lab_directory("clock") / (std::string(process) + ".sock");
      all.push_back(netio::RpcClient(socket).call("status").at("committed_ps").get<int64_t>());
    }
    for (const int64_t one : all) {
      if (one != all.front()) return kNotTogether;
    }
    return all.front();
  }

  /// As the kernel sees them.
  std::vector<std::string> links_down() {
    std::vector<std::string> down;
    const json fabric = mrclab_json({"inspect", "clock", "--json"});
    for (const json& link : fabric.at("links")) {
      if (!link.at("up").get<bool>()) down.push_back(link.at("name"));
    }
    return down;
  }

  const fs::path& folder() const { return folder_; }
  json history() { return mrclab_json({"inspect", "clock", "--history", "--json"}); }

 private:
  fs::path folder_;
  fs::path file_;
};

int64_t stands_at(const json& state) {
  CHECK(state.at("state") == "standing");
  return state.at("fabric_ps").get<int64_t>();
}

/// The history that the simulator has at an instant.
std::string simulated_history(const fs::path& folder, FabricTime at) {
  Scenario s = scenario();
  const RunFolder run = make_run_folder(folder, "sim");
  return history_sha256(run_simulated(s, run, {.until = at}).history);
}

TEST_CASE("a lab that was paused, stepped and resumed has the simulator's history throughout") {
  SteppedLab lab;
  CHECK(stands_at(lab.clock({"pause"})) == 0);
  CHECK(lab.committed_ps() == -1);  // nothing has happened, not even at 0
  lab.clock({"step"});
  CHECK(lab.committed_ps() == 0);

  int64_t before = 0;
  const auto steps_to = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "step");
    const json state = lab.clock(words);
    const int64_t now = stands_at(state);
    CHECK(now > before);
    CHECK(lab.committed_ps() == now);
    before = now;
    return state.at("outcome");
  };
  steps_to({});
  steps_to({"20"});
  const json of_node = steps_to({"--node", "h1"}).at("records");
  REQUIRE_FALSE(of_node.empty());
  for (const json& record : of_node) CHECK(record["node"] == "h1");
  const json port = steps_to({"--port", "p1.t0-0:u0"}).at("records");
  REQUIRE_FALSE(port.empty());
  for (const json& record : port) CHECK((record["node"] == "p1.t0-0" && record["port"] == "u0"));
  const json pairs = mrclab_json({"inspect", "clock", "--qps", "--json"});
  const json of_qp = steps_to({"3", "--qp", pairs[0].at("qp")}).at("records");
  CHECK(of_qp.size() >= 3);
  for (const json& record : of_qp) CHECK(record["node"] == pairs[0].at("host"));

  CHECK(stands_at(lab.clock({"until", "15us"})) == 15'000'000);
  CHECK(lab.committed_ps() == 15'000'000);
  CHECK(lab.history().at("history_sha256") ==
        simulated_history(lab.folder(), FabricTime::from_us(15)));
  CHECK(stands_at(lab.clock({"until", "+123456ps"})) == 15'123'456);
  CHECK(lab.committed_ps() == 15'123'456);

  const json fault = lab.clock({"step", "--fault"});
  CHECK(stands_at(fault) == 20'000'000);
  CHECK(lab.committed_ps() == 20'000'000);
  CHECK(fault.at("outcome").at("effects").size() == 4);  // two wires, two carriers
  before = 20'000'000;
  steps_to({"5"});
  // At this pace the kernel would not see an outage of 15 us; but the lab stands in it.
  lab.clock({"until", "25us"});
  CHECK(lab.links_down() == std::vector<std::string>{"p0.t0-0:u0--p0.t1-0:d0"});
  lab.clock({"until", "35us"});
  CHECK(lab.links_down().empty());
  before = 35'000'000;

  lab.clock({"resume"});
  const int64_t paused = stands_at(lab.clock({"pause"}));
  CHECK(paused >= before);
  CHECK(lab.committed_ps() == paused);
  CHECK(mrclab({"clock", "until", "1us"}).code == 2);  // time does not go back
  CHECK(mrclab({"clock", "step", "--node", "h7"}).code == 2);

  // On a busy machine the lab is past its end before the order to pause has come.
  if (paused < scenario().end.ps()) lab.clock({"resume", "--until", "end"});
  lab.clock({"until", "+5us"});
  const json history = lab.history();
  CHECK(history.at("complete") == true);
  CHECK(history.at("not_faithful") == json::array());
  CHECK(history.at("history_sha256") == simulated_history(lab.folder(), scenario().end));
  CHECK(mrclab({"clock", "step", "--fault"}).code == 3);  // none is left
}

/// Any order at all; what it answers does not matter here.
std::vector<std::string> random_order(std::mt19937& random) {
  const auto below = [&random](uint32_t n) { return std::to_string(random() % n); };
  switch (random() % 7) {
    case 0: return {"clock", "pause"};
    case 1: return {"clock", "resume"};
    case 2: return {"clock", "resume", "--until", "+" + below(8000) + "ns"};
    case 3: return {"clock", "until", "+" + below(8'000'000) + "ps"};
    case 4: return {"clock", "step", below(40)};
    case 5: return {"clock", "step", "--fault"};
    default: return {"clock", "step", below(9), "--node", "p" + below(2) + ".t0-" + below(2)};
  }
}

TEST_CASE("whatever orders a lab is given, its history is the simulator's") {
  const uint32_t labs = test::nightly() ? 25 : 1;
  for (uint32_t seed = 1; seed <= labs; ++seed) {
    SteppedLab lab;
    std::mt19937 random(seed);
    std::string story;
    for (int i = 0; i < 12; ++i) {
      const std::vector<std::string> order = random_order(random);
      for (const std::string& word : order) story += word + " ";
      const CommandResult result = mrclab(order);
      story += "-> " + result.output;
      CAPTURE(story);
      CHECK(result.code != 1);
      const json state = lab.clock({"status"});
      if (state.at("state") == "standing") CHECK(lab.committed_ps() != kNotTogether);
    }
    CAPTURE(story);
    mrclab({"clock", "until", "end"});  // refused if it is past that
    lab.clock({"pause"});
    const json history = lab.history();
    CHECK(history.at("complete") == true);
    CHECK(history.at("not_faithful") == json::array());
    CHECK(history.at("history_sha256") == simulated_history(lab.folder(), scenario().end));
  }
}

TEST_CASE("Ctrl-C leaves the lab where it is, and while time stands a ping waits") {
  SteppedLab lab;
  lab.clock({"until", "160us"});
  const std::string cli = program("mrclab-cli");
  const CommandResult interrupted = run_command_line(
      {"/bin/bash", "-c",
       cli + " clock until 3000s & client=$!; until " + cli +
           " clock status | grep -q until; do :; done; kill -INT $client; wait $client"});
  CAPTURE(interrupted.output);
  CHECK(interrupted.output.find("interrupted") != std::string::npos);
  const json state = lab.clock({"status"});
  CHECK(state.at("state") == "standing");
  CHECK(state.at("fabric_ps").get<int64_t>() < FabricTime::from_ms(3'000'000).ps());
  CHECK(lab.committed_ps() == state.at("fabric_ps").get<int64_t>());

  // Past the scenario's end nothing new is started, and what was under way is long finished.
  const CommandResult idle = mrclab({"clock", "step", "10", "--node", "h0", "--json"});
  CHECK(idle.output.find("\"records\"") != std::string::npos);
  CHECK(idle.output.find("write_") == std::string::npos);

  const auto ping = [](const char* patience) {
    return mrclab({"exec", "h0", "--", "ping", "-c", "1", "-W", patience, "h1"}).code;
  };
  CHECK(ping("1") == 1);  // ordinary traffic waits while time stands
  lab.clock({"resume"});
  CHECK(ping(kPingPatience) == 0);
}

TEST_CASE("whoever says pause, alone or with others at once, is told that the lab stands") {
  SteppedLab lab;
  lab.clock({"resume"});
  const std::string pause = program("mrclab-cli") + " clock pause";
  for (int round = 0; round < 3; ++round) {
    const CommandResult paused = run_command_line(
        {"/bin/bash", "-c",
         "for i in {1..8}; do " + pause +
             " & all+=($!); done; for one in ${all[@]}; do wait $one || " + "exit 1; done"});
    CAPTURE(paused.output);
    CHECK(paused.code == 0);
    CHECK(lab.clock({"status"}).at("state") == "standing");
    lab.clock({"resume"});
  }
  // Each order's outcome is there for who gave it, whatever was ordered since.
  netio::RpcClient labd(LabPaths{}.lab_directory("clock") / "control.sock");
  const auto ticket = labd.call("clock", {{"order", "resume"}}).at("ticket").get<uint64_t>();
  labd.call("clock", {{"order", "pause"}});
  const json state = labd.call("clock_state", {{"ticket", ticket}});
  CHECK(state.at("ticket") == ticket);
  CHECK(state.at("outcome").at("result") == "running");
  CHECK(labd.call("clock_state", {{"ticket", ticket + 1000}}).at("ticket") == ticket + 1);
}

TEST_CASE("in a lab where nothing is going to happen a step says so, until a ping comes") {
  enter_sandbox();
  REQUIRE(mrclab({"up", "pair", "--name", "idle", "--paused"}).code == 0);
  CommandResult step = mrclab({"clock", "step"});
  CHECK(step.code == 3);
  CHECK(step.output.find("no event is pending") != std::string::npos);
  mrclab({"exec", "h0", "--", "ping", "-c", "1", "-W", "0.1", "h1"});
  step = mrclab({"clock", "step"});
  CAPTURE(step.output);
  CHECK(step.code == 0);
  CHECK(step.output.find("in  other") != std::string::npos);
  CHECK(mrclab({"clock", "step", "--qp", "1"}).code == 2);
  CHECK(mrclab({"down", "idle"}).code == 0);
}

TEST_CASE("a lab that lost a process says which and makes no single steps any more") {
  SteppedLab lab;
  lab.clock({"until", "3us"});
  for (const ProcessMark& process : recorded_processes({}, "clock")) {
    if (process.program.ends_with("mrc-switchd")) {
      ::kill(process.pid, SIGKILL);
      break;
    }
  }
  const CommandResult step = mrclab({"clock", "step", "1000"});
  CAPTURE(step.output);
  CHECK(step.code != 0);
  CHECK(step.output.find("plane-0") != std::string::npos);
  CHECK(step.output.find("signal 9") != std::string::npos);
  CHECK(mrclab({"clock", "step"}).code == 3);
  CHECK(stands_at(lab.clock({"until", "+1us"})) >= 4'000'000);  // the others still can
}

TEST_SUITE_END();

}  // namespace
}  // namespace mrclab::lab
