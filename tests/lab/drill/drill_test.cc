// A drill without promtool: what is read of rules, what promtool is given, and what its answer says.

#include "lab/drill/drill.h"

#include <doctest/doctest.h>

#include <fstream>

#include "fabric/text/input_error.h"
#include "tests/lab/support/temporary_runs.h"

namespace mrclab::lab {
namespace {

RuleFile rules_of(const std::string& text) {
  const test::TemporaryRuns folder;
  const auto file = folder.options(World::kSim).runs_root / "rules.yml";
  std::ofstream(file) << text;
  return read_rule_file(file);
}

const std::string kRules = R"(groups:
- name: g
  rules:
  - alert: PortDown  # a comment
    expr: mrclab_port_up == 0
    for: 30s
  - {alert: "Lossy", expr: 'rate(mrclab_port_receive_errors_total{plane="0"}[1m30s]) > 0', for: 500ms}
  # - alert: Not this one
  - record: x
    expr: sum(rate(mrclab_port_transmit_packets_total[5m]))
)";

TEST_CASE("of a rule file a drill reads alerts, words, and how long its rules remember") {
  const RuleFile rules = rules_of(kRules);
  CHECK(rules.alerts == std::vector<std::string>{"PortDown", "Lossy"});
  CHECK(rules.words.contains("mrclab_port_receive_errors_total"));
  CHECK(rules.words.contains("mrclab_port_up"));
  CHECK(rules.memory_seconds == 330);
  for (const char* bad : {"", "groups: []\n", "alerts: 7\n", "\x01\xff\n"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(rules_of(bad), InputError);
  }
  CHECK_THROWS_AS(read_rule_file("/nowhere/rules.yml"), std::exception);
}

TEST_CASE("promtool's answer is read: which alert fires at which steps, whatever its labels hold") {
  const std::string answer = R"(  FAILED:
    expr: "ALERTS{alertstate=\"firing\"}", time: 15s,
        exp: nil
        got: {alertname="A", alertstate="firing", node="h0", port="1"} 1E+00, {alertname="B", alertstate="firing", text="a \"b\", {c}"} 1E+00
    expr: "ALERTS{alertstate=\"firing\"}", time: 30s,
        exp: nil
        got: {alertname="A", alertstate="firing", node="h0", port="1"} 1E+00
    expr: "ALERTS{alertstate=\"firing\"}", time: 1m,
        exp: nil
        got: {alertname="A", alertstate="firing", node="h0", port="1"} 1E+00
)";
  const auto spans = alert_spans(answer, 5, 15'000);
  REQUIRE(spans.size() == 3);
  CHECK(spans[0].labels == AlertLabels{{"alertname", "A"}, {"node", "h0"}, {"port", "1"}});
  CHECK(spans[0].from == 1);
  CHECK(spans[0].until == 3);
  CHECK_FALSE(spans[0].open);
  CHECK(spans[1].labels.at("text") == "a \"b\", {c}");
  CHECK(spans[2].from == 4);
  CHECK(spans[2].open);
  CHECK(alert_spans("  SUCCESS\n", 5, 15'000).empty());
  const std::string head = "expr: \"x\", time: 15s,\n got: ";
  for (const char* bad : {"A", "{a", "{a=b} 1", "{a=\"b} 1"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(alert_spans(head + bad + "\n", 5, 15'000), InputError);
  }
}

TEST_CASE("promtool is given equal values as one word, and too many steps are refused") {
  DrillData data;
  data.steps = 6;
  data.series.push_back({"x{node=\"h0\"}", {0, 0, 0, 2.5, 2.5, 7}});
  const std::string test = drill_test(rules_of(kRules), data, 15'000);
  CHECK(test.find("values: \"0+0x2 2.5+0x1 7\"") != std::string::npos);
  CHECK(test.find("eval_time: 75000ms") != std::string::npos);
  data.steps = kMaxDrillSteps + 1;
  CHECK_THROWS_AS(drill_test(rules_of(kRules), data, 15'000), InputError);
}

TEST_CASE(
    "rules get the series that they name, zeros included, of hosts under node_exporter's names") {
  test::TemporaryRuns runs;
  const RunResult result = runs.run(parse_scenario(read_yaml_text(R"(
name: drilled
fabric: pair
workload:
  - permutation: {hosts: all, load: 20%, message: 64KiB}
faults:
  - {at: 50us, port_down: {port: "h1:p0", for: 30us}}
end: 120us
)",
                                                                  "drilled.yaml")));
  const DrillData data =
      drill_series(read_run(result.folder.path), FabricTime::from_us(15),
                   {"node_infiniband_state_id", "node_infiniband_link_downed_total",
                    "mrclab_port_trimmed_packets_total",
                    "node_infiniband_port_data_received_bytes_total", "mrclab_no_such_total"});
  CHECK(data.steps == 9);
  CHECK(data.unknown == std::set<std::string>{"mrclab_no_such_total"});
  size_t down = 0, zeros = 0;
  for (const DrillSeries& series : data.series) {
    if (series.name.find("state_id") != std::string::npos &&
        series.name.find("node=\"h1\"") != std::string::npos &&
        series.name.find("port=\"1\"") != std::string::npos) {
      ++down;
      CHECK(series.values == std::vector<double>{4, 4, 4, 4, 1, 1, 4, 4, 4});
    }
    if (series.name.starts_with("mrclab_port_trimmed")) zeros += series.values.back() == 0;
  }
  CHECK(down == 1);
  CHECK(zeros > 4);
}

}  // namespace
}  // namespace mrclab::lab
