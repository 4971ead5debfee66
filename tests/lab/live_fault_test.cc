// Faults by hand, and what others do to a lab that stays.

#include <doctest/doctest.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lab/lab_record.h"
#include "lab/world_outcome.h"
#include "sandbox.h"

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
    return json::parse(said(words));
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
  REQUIRE(healed.at("mended").size() == 1);
  CHECK(healed["mended"][0].at("until_ps") == 25'000'001);
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
  CHECK(lab.said({"heal"}).find("nothing to mend") != std::string::npos);
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

TEST_SUITE_END();

}  // namespace
}  // namespace mrclab::lab
