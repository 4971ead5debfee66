// In whose time the programs of a scenario live: what is read, written back, and refused where it is written.

#include <doctest/doctest.h>

#include "fabric/text/yaml.h"
#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"
#include "tests/support/texts.h"

namespace mrclab::lab {
namespace {

Scenario parsed(const std::string& head, const std::string& exec,
                const std::string& fabric = "pair") {
  return parse_scenario(read_yaml_text("name: programs\nfabric: " + fabric + "\n" + head +
                                           "workload:\n  - exec: {" + exec + "}\nend: 200us\n",
                                       "f.yaml"));
}

std::string refusal(const std::string& head, const std::string& exec,
                    const std::string& fabric = "pair") {
  try {
    parsed(head, exec, fabric);
    return "none";
  } catch (const InputError& error) {
    return error.what();
  }
}

const std::string kWall = "timing: wall\ndilation: 2000\n", kHeld = "timing: held\n";

}  // namespace

TEST_CASE("programs are held as the scenario's timing has it, or as they say themselves") {
  const Scenario wall = parsed(kWall, "host: h0, command: x");
  CHECK_FALSE(is_held(wall, wall.programs[0]));
  CHECK(wall.programs[0].rdma);
  const Scenario one = parsed(kWall, "host: h0, command: x, time: held");
  CHECK(is_held(one, one.programs[0]));
  CHECK(one.timing == analysis::TimingMode::kWall);
  const Scenario held = parsed(kHeld, "host: all, command: x");
  CHECK(held.programs_held);
  CHECK(held.timing == analysis::TimingMode::kCarried);  // so it may be faithful
  CHECK_FALSE(held.dilation);
  REQUIRE(held.programs.size() == 2);
  for (const ExecSpec& program : held.programs) CHECK(is_held(held, program));
}

TEST_CASE("what is written of programs' time reads back alike") {
  for (const auto& [head, exec] :
       {std::pair{kWall, "host: h0, command: x, time: held, send: emulated"},
        std::pair{kWall, "host: h0, command: x, rdma: false, time: wall"},
        std::pair{kHeld, "host: h1, command: x"}}) {
    const Scenario first = parsed(head, exec);
    const Scenario again = parse_scenario(read_yaml_text(to_yaml(first), "again.yaml"));
    CAPTURE(to_yaml(first));
    CHECK(again.programs == first.programs);
    CHECK(again.programs_held == first.programs_held);
    CHECK(again.timing == first.timing);
  }
  CHECK(test::mentions(to_yaml(parsed(kHeld, "host: h0, command: x")), "timing: held\n"));
}

TEST_CASE("programs that cannot run together with the rest are refused where they are written") {
  const std::string mrc = "host: h0, command: x";
  CHECK(
      test::mentions(refusal("", mrc), "f.yaml:4:5: found exec, beside timing that packets carry"));
  CHECK(test::mentions(refusal("", mrc), "\"timing: held\""));
  CHECK(test::mentions(refusal(kHeld, mrc + ", time: wall"), "beside \"timing: held\""));
  CHECK(test::mentions(refusal(kHeld, mrc + ", rdma: false"), "without the host's NIC"));
  CHECK(test::mentions(refusal(kHeld + "payload: elided\n", mrc), "programs look at their bytes"));
  CHECK(test::mentions(
      refusal(kHeld + "transport: {profile: roce}\n", mrc + ", send: emulated", "single"),
      "RC has SENDs of its own"));
  CHECK(test::mentions(refusal(kHeld, mrc, "pair-kernel"), "expected wall"));
  CHECK(refusal(kWall, mrc) == "none");
  CHECK(refusal(kHeld, mrc + ", send: emulated") == "none");
}

TEST_CASE("shipped incidents under RDMA programs read, name their sources and are found by name") {
  CHECK(shipped_names("programs").size() >= 2);
  for (const std::string& name : shipped_names("programs")) {
    CAPTURE(name);
    CHECK(name.starts_with("verbs-"));  // find_incident() looks there by this
    const Scenario scenario = load_scenario(name);
    CHECK(scenario.name == name);
    CHECK_FALSE(scenario.programs.empty());
    CHECK_FALSE(scenario.faults.empty());
    CHECK_FALSE(scenario.holds_at_production.empty());
    // A held program's time is the fabric's, so nothing need be shortened; in this machine's time seconds would be hours.
    CHECK((scenario.programs_held || test::mentions(scenario.about, "Compressed")));
    // A program may fail where the incident is about how it fails.
    const bool fails = name == "verbs-nccl-timers" || name == "verbs-lost-ack-rc" ||
                       name == "verbs-gid-moved-rc" || name == "verbs-device-fault";
    for (const ExecSpec& program : scenario.programs) CHECK((fails || !program.may_fail));
  }
}

}  // namespace mrclab::lab
