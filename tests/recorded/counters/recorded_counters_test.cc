// Counters over fabric time: sums that a run's verdict knows as well, and what a link that goes down does to them.

#include "recorded/counters/recorded_counters.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "fabric/text/input_error.h"
#include "fabric/text/yaml.h"
#include "tests/lab/support/temporary_runs.h"

namespace mrclab::lab {
namespace {

/// Four senders into one host fill a queue, and an uplink is dark for 30 us.
const std::string kIncast = R"(
name: counted
fabric: octet
seed: 9
workload:
  - write: {from: h1, to: h0, size: 64KiB, until: end}
  - write: {from: h4, to: h0, size: 64KiB, until: end}
  - write: {from: h5, to: h0, size: 64KiB, until: end}
  - write: {from: h6, to: h0, size: 64KiB, until: end}
faults:
  - {at: 40us, link_down: {link: "h1:p0", for: 30us}}
end: 120us
)";

struct CountedRun {
  test::TemporaryRuns runs;
  std::string scenario = kIncast;
  RunResult result = runs.run(parse_scenario(read_yaml_text(scenario, "counted.yaml")));
  RecordedRun run = read_run(result.folder.path);
};

/// The same incast by RoCE on one plane, where all meet at one port.
const std::string kRoceIncast = R"(
name: counted
fabric: {name: one, planes: 1, t0: 2, t1: 2, hosts_per_t0: 4}
seed: 9
transport: {profile: roce, dcqcn: paper}
workload:
  - write: {from: h1, to: h0, size: 64KiB, until: end}
  - write: {from: h4, to: h0, size: 64KiB, until: end}
  - write: {from: h5, to: h0, size: 64KiB, until: end}
end: 120us
)";

using Sums = std::map<std::string, uint64_t, std::less<>>;

Sums last_values(const telemetry::CounterSeries& series) {
  Sums sums;
  for (const auto& line : series.lines()) sums[std::string(line.row->word)] += line.values.back();
  return sums;
}

uint64_t drops(const Sums& sums) {
  uint64_t count = 0;
  for (auto at = sums.lower_bound("drop."); at != sums.end() && at->first.starts_with("drop.");
       ++at) {
    count += at->second;
  }
  return count;
}

TEST_CASE(
    "what ports counted is what the run's verdict counted, and each step has what came by then") {
  const CountedRun counted;
  const RecordedRun& run = counted.run;
  const telemetry::CounterSeries series = recorded_counters(run, FabricTime::from_us(10));
  const Sums sums = last_values(series);
  CHECK(sums.at("trimmed") >= counted.result.verdict.metrics.trimmed);
  CHECK(sums.at("trimmed") > 0);
  // A frame that came into a switch left it, was dropped there, or waits: no more left than came.
  CHECK(sums.at("rx") >= sums.at("tx"));
  for (const auto& line : series.lines()) {
    CHECK(line.values.size() == series.steps());
    if (line.row->kind == telemetry::MetricKind::kGauge) continue;
    CHECK(std::is_sorted(line.values.begin(), line.values.end()));
    CHECK(line.values.back() > 0);
  }
  CHECK(drops(sums) > 0);
}

TEST_CASE("the deepest queue of the series is the verdict's, and hosts' losses are their events") {
  const CountedRun counted;
  const telemetry::CounterSeries series = recorded_counters(counted.run, FabricTime::from_us(10));
  uint64_t deepest = 0, deeper_now = 0;
  for (const auto& line : series.lines()) {
    const uint64_t most = *std::max_element(line.values.begin(), line.values.end());
    if (line.row->word == "data_depth_max_bytes") deepest = std::max(deepest, most);
    if (line.row->word == "data_depth_bytes") deeper_now = std::max(deeper_now, most);
  }
  REQUIRE(counted.result.verdict.metrics.deepest.has_value());
  CHECK(deepest == counted.result.verdict.metrics.deepest->size.value);
  CHECK(deeper_now > 0);
  CHECK(deeper_now <= deepest);
  const Sums sums = last_values(series);
  CHECK(sums.at("losses_detected") > 0);
  CHECK(sums.at("retransmissions") == counted.result.verdict.metrics.retransmitted);
}

TEST_CASE("with captures of switches the series has pauses: frames, and how long ports stood") {
  test::TemporaryRuns runs;
  ScenarioOverrides overrides;
  overrides.captures = CaptureScope::kAll;
  const RunResult result = runs.run(load_scenario("pfc-deadlock", overrides));
  const RecordedRun run = read_run(result.folder.path);
  const Sums sums = last_values(recorded_counters(run, FabricTime::from_us(50)));
  CHECK(sums.at("xoff_sent") > 0);
  CHECK(sums.at("xon_sent") > 0);
  CHECK(sums.at("xoff_received") > 0);
  CHECK(sums.at("xoff_received") <= sums.at("xoff_sent"));
  CHECK(sums.at("paused_ps") > 0);
}

TEST_CASE("a mark counts at the port that set it, once") {
  const CountedRun counted{.runs = {}, .scenario = kRoceIncast};
  const Sums sums = last_values(recorded_counters(counted.run, FabricTime::from_us(10)));
  // Each queue pair's receiver answers a mark with a notification, at most one in an interval.
  CHECK(counted.result.verdict.metrics.cnps > 0);
  CHECK(sums.at("ecn_marked") >= counted.result.verdict.metrics.cnps);
  CHECK(sums.at("ecn_marked") < sums.at("tx_packets"));
}

TEST_CASE("a port that is dark counts nothing until it is lit again") {
  const CountedRun counted;
  const RecordedRun& run = counted.run;
  const telemetry::CounterSeries series = recorded_counters(run, FabricTime::from_us(10));
  const Topology& topology = run.scenario.topology;
  const PortRef dark = topology.port(topology.find_port("h1:p0").value()).peer;
  size_t found = 0;
  for (const auto& line : series.lines()) {
    if (line.port != dark || line.row->word != "rx") continue;
    ++found;
    CHECK(line.values[4] > line.values[3]);
    CHECK(line.values[5] == line.values[7]);  // from 50 us until 70 us
    CHECK(line.values[10] > line.values[7]);
  }
  CHECK(found == 1);
}

TEST_CASE("a step that is no time, or too short for the run, is refused") {
  const CountedRun counted;
  const RecordedRun& run = counted.run;
  CHECK_THROWS_AS(recorded_counters(run, FabricTime()), InputError);
  CHECK_THROWS_AS(recorded_counters(run, FabricTime::from_ns(1)), InputError);
}

}  // namespace
}  // namespace mrclab::lab
