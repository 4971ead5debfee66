// What a run's figures depend on: it is stated where RoCE has compressed timers, or less time than its control loop.

#include "scenario/judging/dependences.h"

#include <doctest/doctest.h>

#include <fmt/format.h>

#include "fabric/text/yaml.h"
#include "scenario/spec/scenario.h"

using namespace mrclab;
using namespace mrclab::lab;
using On = analysis::Dependence::On;

namespace {

std::vector<analysis::Dependence> dependences(const std::string& transport, const char* end) {
  return dependences_of(parse_scenario(read_yaml_text(
      fmt::format(
          "{{name: s, fabric: {{name: f, planes: 1, t0: 2, t1: 2, hosts_per_t0: 2, host_rate: "
          "100Gb/s}}, transport: {}, workload: [{{write: {{from: h0, to: h2, size: 64KiB, until: "
          "end}}}}], end: {}, expect: [no_qp_error]}}",
          transport, end),
      "s")));
}

}  // namespace

TEST_CASE(
    "RoCE's compressed timers, and a run shorter than real ones or than DCQCN's loop, are stated") {
  CHECK(dependences("{profile: lab, timers: compressed}", "1ms").empty());  // nothing is RoCE

  const auto real = dependences("{profile: roce}", "1ms");
  REQUIRE(real.size() == 2);
  CHECK(real[0].on == On::kLosses);
  CHECK(real[0].text.starts_with("a run of 1ms: RC's first ACK timeout comes after 8.38861ms"));
  CHECK(real[1].on == On::kCnps);
  CHECK(real[1].text.starts_with("a window of 1ms: DCQCN's timers need 1.3"));

  const auto compressed = dependences("{profile: roce, timers: compressed, dcqcn: off}", "1ms");
  REQUIRE(compressed.size() == 1);
  CHECK(compressed[0].on == On::kTimeouts);
  CHECK(compressed[0].text.starts_with("compressed timers: RC's ACK timeout is 35"));
  // Who sets a compressed time has compressed timers.
  CHECK(dependences("{profile: roce, rc_ack_timeout: 4rtt, dcqcn: off}", "1ms")[0].on ==
        On::kTimeouts);

  CHECK(dependences("{profile: roce}", "30ms").empty());
  CHECK(dependences("{profile: roce, rc_timeout: 0, dcqcn: off}", "30ms")[0].text ==
        "RC has no ACK timer here: what no NAK reports stays lost");
}

TEST_CASE("HPCC's tuning brings HPCC's switches, unless a fabric or an option names others") {
  const auto switches = [](const std::string& transport, const std::string& roce) {
    const Scenario scenario = parse_scenario(read_yaml_text(
        fmt::format(
            "{{name: s, fabric: {{name: f, planes: 1, t0: 2, t1: 2, hosts_per_t0: 2, host_rate: "
            "100Gb/s, roce: {}}}, transport: {}, workload: [{{write: {{from: h0, to: h2, size: "
            "64KiB, until: end}}}}], end: 1ms, expect: [no_qp_error]}}",
            roce, transport),
        "s"));
    return std::pair(scenario.topology.queues.red_min, scenario.topology.lossless.asic);
  };
  using enum SwitchAsic;
  const Bytes scaled = switches("{profile: roce}", "{alpha: 0.125}").first;
  CHECK(switches("{profile: roce}", "{alpha: 0.125}") == std::pair(scaled, kScaled));
  CHECK(switches("{profile: roce, dcqcn: hpcc}", "{alpha: 0.125}") ==
        std::pair(Bytes{400'000}, kHpcc));
  CHECK(switches("{profile: lab, dcqcn: hpcc}", "{alpha: 0.125}") == std::pair(scaled, kScaled));
  CHECK(switches("{profile: roce, dcqcn: hpcc}", "{asic: tomahawk5, red: paper}") ==
        std::pair(Bytes{12'500}, kTomahawk5));
  CHECK(switches("{profile: roce, dcqcn: hpcc, asic: scaled, red: fabric}", "{asic: tomahawk5}") ==
        std::pair(scaled, kScaled));
}
