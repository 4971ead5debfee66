#include "scenario/spec/scenario.h"
#include "scenario/spec/shipped_files.h"

#include <doctest/doctest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "endpoint/options/profile_maker.h"
#include "fabric/topology/fabric_file.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

Scenario parse(const std::string& text, const ScenarioOverrides& overrides = {}) {
  return parse_scenario(read_yaml_text(text, "f.yaml"), {}, overrides);
}

std::string error_of(const std::string& text, const ScenarioOverrides& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

/// A valid scenario with lines added.
std::string with(const std::string& more) {
  std::string text =
      "name: s\n"
      "fabric: octet\n"
      "end: 1200us\n"
      "workload:\n"
      "  - all_reduce: {hosts: all, size: 8MiB, until: end}\n";
  return text.append(more);
}

const std::string kGlitch =
    "faults:\n"
    "  - {at: 300us, optic_glitch: {optic: \"p0.t0-0:o0\", down: 100us, stagger: 20us}}\n";

std::filesystem::path scratch(const std::string& name) {
  const auto folder = std::filesystem::temp_directory_path() /
                      ("mrclab-scenario-test-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  return folder / name;
}

}  // namespace

TEST_CASE("the optic glitch is read whole: fabric, work, fault, schedule and what must hold") {
  const Scenario s = load_scenario("optic-glitch");
  CHECK(s.name == "optic-glitch");
  CHECK(s.topology.nodes.size() == 56);
  CHECK(s.seed == 1);
  CHECK(s.transport.profile == "lab");
  CHECK_FALSE(s.dilation);
  CHECK(s.timing == TimingMode::kCarried);
  CHECK(s.captures == CaptureScope::kHosts);
  REQUIRE(s.workload.size() == 1);
  CHECK(std::get<endpoint::CollectiveSpec>(s.workload[0]).hosts.size() == 8);
  REQUIRE(s.faults.size() == 1);
  CHECK(s.schedule.size() == 32);  // four links, two wires and two carriers each, down and up
  CHECK(s.schedule.front().at == FabricTime::from_us(300));
  CHECK(s.schedule.back().at == FabricTime::from_us(460));
  CHECK(s.end == FabricTime::from_us(1200));
  CHECK(s.expect.size() == 9);
}

TEST_CASE("every shipped incident is readable, tells its story and is short") {
  const std::vector<std::string> incidents = mrclab::lab::shipped_names("incidents");
  CHECK(incidents.size() >= 20);
  for (const std::string& incident : incidents) {
    const Scenario s = load_scenario(incident);
    CHECK(s.name == incident);
    CHECK(s.about.find("ompressed") != std::string::npos);
    CHECK(s.about.find_first_of("0123456789") != std::string::npos);  // a figure, a section, a year
    const bool begins_again =
        s.name.starts_with("job-");  // behind an error, and then does its steps
    // One that ends with its work does so sooner than its bound, which is that of work which hangs.
    CHECK(s.end <= FabricTime::from_us(s.ends_with_work ? 20'000 : begins_again ? 6000 : 3000));
    CHECK_FALSE(s.expect.empty());
    for (const std::string& id : s.ids) CHECK(load_scenario(id).name == incident);
  }
}

TEST_CASE(
    "whether an incident holds at production is a word, and a reason where it does not wholly") {
  for (const char* good : {"yes", "no, because it rains", "partly, because of probes: healed"}) {
    const Scenario s = parse(with(kGlitch + "holds_at_production: \"" + good + "\"\n"));
    CHECK(s.holds_at_production == good);
    CHECK(parse_scenario(read_yaml_text(to_yaml(s), "again.yaml")).holds_at_production == good);
  }
  for (const char* bad :
       {"no", "partly", "maybe", "yes, because", "no, because ", "[yes]", "{a: b}"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse(with(kGlitch + "holds_at_production: " + bad + "\n")), InputError);
  }
}

TEST_CASE("a scenario's fabric may be another one with some keys replaced") {
  const Scenario s = parse(
      "name: x\nfabric: {like: octet, planes: 4, nic: {profile: cx8, compress: 1000}}\n"
      "workload:\n  - all_reduce: {hosts: all, size: 4KiB, until: end}\nend: 10us\n");
  CHECK(s.fabric.name == "octet");
  CHECK(s.topology.planes == 4);
  CHECK(s.topology.host_count() == 8);
  CHECK(s.topology.nic.port_down_delay == FabricTime::from_us(10));
  const auto refused = [](const std::string& fabric) {
    return error_of(
        "name: x\nfabric: " + fabric +
        "\nworkload:\n  - all_reduce: {hosts: all, size: 4KiB, until: end}\nend: 10us\n");
  };
  CHECK(refused("{like: octopus}").find("which names no fabric") != std::string::npos);
  CHECK(refused("{like: octet, plains: 4}").find("expected \"planes\"") != std::string::npos);
  CHECK(refused("{like: [octet]}").find("the name or the path of a fabric") != std::string::npos);
}

TEST_CASE("every shipped fabric is readable and bears the name of its file") {
  for (const std::string& fabric : mrclab::lab::shipped_names("fabrics")) {
    const YamlValue file = read_yaml_file(lab::find_fabric(fabric));
    CHECK(parse_fabric(file, kMaxSimulatedNodes).name == fabric);
  }
}

TEST_CASE("durations in rtt are multiples of the fabric's base RTT") {
  const Scenario s = parse(with(kGlitch + "transport: {ack_timeout: 8rtt}\n"
                                          "expect:\n  - detect: {within: 6rtt}\n"));
  const FabricTime rtt = s.topology.base_rtt;
  CHECK(rtt > FabricTime::zero());
  CHECK(std::get<analysis::ExpectDetect>(s.expect.at(0)).within == rtt * 6);
  CHECK(endpoint::make_profile(s.transport, s.topology).ack_timeout == rtt * 8);
}

TEST_CASE("a resolved scenario is a scenario file that says the same, without its fabric's file") {
  for (const std::string& text :
       {with(""), with(kGlitch + "seed: 77\nabout: \"a \\\"quoted\\\"\\nstory\"\n"),
        with("faults:\n  - {at: 30rtt, link_down: {link: \"random(3, p*.t0-*:u*)\", for: 2rtt}}\n"
             "transport: {profile: production, active_evs: 7}\ntiming: wall\ndilation: 9000\n"
             "captures: none\nexpect:\n  - healed\n  - goodput: {from: 1us, at_least: 3%}\n")}) {
    const Scenario first = parse(text);
    const std::string resolved = to_yaml(first);
    CHECK(resolved.find("rtt") == std::string::npos);
    CHECK(resolved.find("random") == std::string::npos);
    CHECK(resolved.find("fabric: octet") == std::string::npos);
    const Scenario second = parse(resolved);
    CHECK(to_yaml(second) == resolved);
    CHECK(second.seed == first.seed);
    CHECK(second.about == first.about);
    CHECK(second.end == first.end);
    CHECK(second.faults == first.faults);
    CHECK(second.workload == first.workload);
    CHECK(second.expect == first.expect);
    CHECK(second.transport == first.transport);
    CHECK(second.dilation == first.dilation);
    CHECK(second.timing == first.timing);
    CHECK(second.captures == first.captures);
    CHECK(second.schedule.size() == first.schedule.size());
    CHECK(second.topology.base_rtt == first.topology.base_rtt);
  }
}

TEST_CASE("the run folder gets the resolved scenario and one line of JSON per effect") {
  const Scenario s = load_scenario("optic-glitch");
  write_resolved_scenario(s, scratch("scenario.yaml"));
  CHECK(to_yaml(read_scenario_file(scratch("scenario.yaml"))) == to_yaml(s));
  write_fault_schedule(s.schedule, s.topology, scratch("schedule.jsonl"));
  std::ifstream stream(scratch("schedule.jsonl"));
  std::vector<nlohmann::json> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(nlohmann::json::parse(line));
  REQUIRE(lines.size() == 32);
  CHECK(lines[0].at("t_ps") == 300'000'000);
  CHECK(lines[0].at("effect") == "wire_state");
  CHECK(lines[0].at("target") == "h0:p0->p0.t0-0:d0");
  CHECK(lines[0].at("up") == false);
  CHECK(lines[0].at("fault") == 0);
  CHECK(lines[31].at("effect") == "port_carrier");
  CHECK(lines[31].at("heals") == true);
  std::filesystem::remove_all(scratch("").parent_path());
  CHECK_THROWS_AS(write_resolved_scenario(s, "/nonexistent/x.yaml"), std::runtime_error);
}

TEST_CASE("--until is at most the end, and leaves the work as it is") {
  const auto with = [](const char* until) {
    ScenarioOverrides overrides;
    overrides.until = until;
    return load_scenario("optic-glitch", overrides);
  };
  const Scenario early = with("300us");
  CHECK(early.stop() == FabricTime::from_us(300));
  CHECK(early.end == FabricTime::from_us(1200));
  CHECK(with("2rtt").stop() == early.topology.base_rtt * 2);
  CHECK_FALSE(with("1200us").until.has_value());
  for (const char* bad : {"0us", "1201us", "soon", "", "-3us", "+3us"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(with(bad), InputError);
  }
}

TEST_CASE("a command line may put its own seed, fabric, end, pace and captures in place") {
  ScenarioOverrides o;
  o.seed = 42;
  o.fabric = "hall";
  o.end = FabricTime::from_us(500);
  o.dilation = 8000;
  o.captures = CaptureScope::kAll;
  const Scenario s = parse(with("seed: 3\n"), o);
  CHECK(s.seed == 42);
  CHECK(s.topology.name == "hall");
  CHECK(std::get<endpoint::CollectiveSpec>(s.workload[0]).hosts.size() == 16);
  CHECK(s.end == FabricTime::from_us(500));
  CHECK(s.dilation == 8000u);
  CHECK(s.captures == CaptureScope::kAll);
}

TEST_CASE("payload is real unless a scenario or the command line elides it") {
  CHECK_FALSE(parse(with("")).payload_elided);
  CHECK(parse(with("payload: elided\n")).payload_elided);
  ScenarioOverrides real, elided;
  real.payload_elided = false;
  elided.payload_elided = true;
  CHECK_FALSE(parse(with("payload: elided\n"), real).payload_elided);
  CHECK(parse(to_yaml(parse(with("payload: elided\n")))).payload_elided);
  const std::string intact = with("payload: elided\nexpect:\n  - no_qp_error\n  - memory_intact\n");
  CHECK(error_of(intact) ==
        "f.yaml:9:5: found memory_intact, beside an elided payload: expected \"payload: real\"");
  CHECK(error_of(with("expect: [memory_intact]\n"), elided) ==
        "f.yaml:6:10: found memory_intact, beside an elided payload: expected \"payload: real\"");
  CHECK(error_of(with("payload: none\n")) ==
        "f.yaml:6:10: found \"none\": expected one of real, elided");
}

TEST_CASE("other draws of random come from another seed") {
  const std::string text =
      with("faults:\n  - {at: 300us, link_down: {link: \"random(3, p*.t0-*:u*)\"}}\n");
  ScenarioOverrides other;
  other.seed = 2;
  CHECK(parse(text).faults == parse(text).faults);
  CHECK(parse(text).faults != parse(text, other).faults);
}

TEST_CASE("in a fabric that the kernel forwards time is the wall's, at a fixed pace") {
  const std::string text =
      "name: s\nfabric: pair-kernel\nend: 1ms\nworkload: [{write: {from: h0, to: h1, size: 1B}}]\n";
  const Scenario s = parse(text + "dilation: 20000\n");
  CHECK(s.timing == TimingMode::kWall);
  CHECK(s.dilation == 20000u);
  CHECK(error_of(text) ==
        "f.yaml:2:9: found timing by the wall clock without a number for \"dilation\": expected "
        "\"dilation: 5000\" or another number");
  CHECK(error_of(text + "timing: carried\ndilation: 5\n") ==
        "f.yaml:5:9: found \"carried\": expected wall: in this fabric others than our switches "
        "forward, and they carry no time");
}

TEST_CASE("bad scenarios get an exact error") {
  struct Row {
    std::string text;
    const char* expected;
  };
  for (const Row& row : {
           Row{"name: s\n", "f.yaml:1:1: found no \"fabric\": expected \"fabric: ...\""},
           Row{"fabric: octet\n", "f.yaml:1:1: found no \"name\": expected \"name: ...\""},
           Row{"name: s\nfabric: octett\n",
               "f.yaml:2:9: found \"octett\", which names no fabric: expected \"octet\" or the "
               "path of a file"},
           Row{"name: s\nfabric: ./octet.yml/x\n",
               "f.yaml:2:9: found \"./octet.yml/x\", and no file \"./octet.yml/x\": expected the "
               "path of a fabric file"},
           Row{"name: s\nfabric: [octet]\n",
               "f.yaml:2:9: found a list: expected the name or the path of a fabric"},
           Row{"name: s\nfabric: {name: x, planes: 99}\n",
               "f.yaml:2:27: found \"99\": expected a whole number from 1 to 16"},
           Row{"name: s\nfabric: octet\n", "f.yaml:1:1: found no \"end\": expected \"end: ...\""},
           Row{"name: s\nfabric: octet\nend: 1ms\n",
               "f.yaml:1:1: found no \"workload\": expected \"workload: ...\""},
           Row{"name: s\nfabric: octet\nend: 0s\n",
               "f.yaml:3:6: found \"0s\": expected a duration above 0"},
           Row{"name: s\nfabric: octet\nend: 5\n",
               "f.yaml:3:6: found \"5\": expected a duration such as 300us (ps, ns, us, ms, s, "
               "rtt)"},
           Row{"name: s\nfabric: octet\nend: 1ms\nworkload: []\n",
               "f.yaml:4:11: found an empty list: expected at least one workload"},
           Row{"name: s\nfabric: octet\nend: 1ms\nworkload: all_reduce\n",
               "f.yaml:4:11: found \"all_reduce\": expected a list"},
           Row{with("sead: 3\n"), "f.yaml:6:1: found the key \"sead\": expected \"seed\""},
           Row{with("seed: -1\n"),
               "f.yaml:6:7: found \"-1\": expected a whole number from 0 to 999999999999999999"},
           Row{with("transport: rc\n"), "f.yaml:6:12: found \"rc\": expected \"roce\""},
           Row{with("transport: {profil: lab}\n"),
               "f.yaml:6:13: found the key \"profil\": expected \"profile\""},
           Row{with("dilation: fast\n"),
               "f.yaml:6:11: found \"fast\": expected auto, or lab seconds per fabric second such "
               "as 5000"},
           Row{with("dilation: 0\n"),
               "f.yaml:6:11: found \"0\": expected a whole number from 1 to 1000000"},
           Row{with("timing: exact\n"),
               "f.yaml:6:9: found \"exact\": expected one of carried, wall, held"},
           Row{with("timing: wall\n"),
               "f.yaml:6:9: found timing by the wall clock without a number for \"dilation\": "
               "expected \"dilation: 5000\" or another number"},
           Row{with("captures: host\n"), "f.yaml:6:11: found \"host\": expected \"hosts\""},
           Row{with("faults: none\n"), "f.yaml:6:9: found \"none\": expected a list"},
           Row{with("faults:\n  - {at: 1200us, link_down: {link: \"h0:p0\"}}\n"),
               "f.yaml:7:10: found \"1200us\": expected an instant before the end at 1200us"},
           Row{with("faults:\n  - {at: 1us, link_down: {link: \"h9:p9\"}}\n"),
               "f.yaml:7:33: found \"h9:p9\", which names no link: expected a name such as "
               "\"h0:p0\""},
           Row{with("expect: [detect: {within: 1rtt}]\n"),
               "f.yaml:6:10: found no fault to measure from: expected at least one in \"faults\""},
           Row{with("expect:\n  - goodput: {from: 1us, at_least: 9%}\n"),
               "f.yaml:7:5: found no fault, so no baseline before it: expected \"of: line_rate\", "
               "or at least one in \"faults\""},
           Row{with(kGlitch + "expect:\n  - goodput: {from: 2ms, at_least: 9%}\n"),
               "f.yaml:9:21: found \"2ms\": expected an instant before the end at 1200us"},
           Row{with(kGlitch + "expect:\n  - goodput: {from: 1us, until: 2ms, at_least: 9%}\n"),
               "f.yaml:9:33: found \"2ms\": expected at most the end at 1200us"},
           Row{with(kGlitch + "expect:\n  - no_qp_eror\n"),
               "f.yaml:9:5: found \"no_qp_eror\": expected \"no_qp_error\""},
           Row{with(
                   "faults:\n  - {at: 300us, link_down: {link: \"h0:p0\"}}\nexpect:\n  - healed\n"),
               "f.yaml:9:5: found healed, beside link_down h0:p0--p0.t0-0:d0 at 300us, not healed: "
               "expected faults that are healed before the end at 1200us"},
           Row{with("about: &x text\n"),
               "f.yaml:6:8: found an anchor: expected a plain value: anchors are not supported"},
           Row{with("seed: 1\nseed: 2\n"),
               "f.yaml:7:1: found a second \"seed\": expected each key once"},
           Row{with("about: [unfinished\n"), nullptr},
       }) {
    const std::string error = error_of(row.text);
    if (row.expected) {
      // Among all that is wrong with the file: most of these rows lack keys as well.
      CHECK(("\n" + error + "\n").find("\n" + std::string(row.expected) + "\n") !=
            std::string::npos);
    } else {
      CHECK(error.find("found text that is not YAML: expected YAML (") != std::string::npos);
    }
  }
}

TEST_CASE("a baseline needs its 20 RTT before the first fault") {
  const Scenario s = parse(with(""));
  const std::string window = exact(s.topology.base_rtt * 20);
  CHECK(error_of(with("faults:\n  - {at: 19rtt, link_down: {link: \"h0:p0\", for: 1us}}\n"
                      "expect:\n  - recover: {within: 50rtt}\n")) ==
        "f.yaml:9:5: found the first fault at " + exact(s.topology.base_rtt * 19) +
            ": expected at least " + window + " before it: the baseline is the 20 RTT before it");
  CHECK(error_of(with("faults:\n  - {at: 20rtt, link_down: {link: \"h0:p0\", for: 1us}}\n"
                      "expect:\n  - recover: {within: 50rtt}\n")) == "no error");
}
