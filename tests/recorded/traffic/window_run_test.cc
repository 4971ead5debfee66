// What hosts report of their windows, from whole runs: in the events, in the tables, on the page.

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "analysis/history/event_history.h"
#include "analysis/measure/window_flows.h"
#include "netio/system/file_descriptor.h"
#include "recorded/folder/run_manifest.h"
#include "recorded/traffic/traffic_input.h"
#include "recorded/traffic/traffic_report.h"
#include "tests/lab/support/temporary_runs.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

/// Seven hosts meet in front of one: the first packets are trimmed there.
const std::string kMeeting = R"(
name: meeting
fabric: octet
seed: 5
workload:
  - incast: {from: "h[1-7]", to: h0, load: 100%, message: 64KiB}
end: 100us
expect: []
)";

Scenario meeting(const std::string& more = "") {
  return parse_scenario(read_yaml_text(kMeeting + more, "f.yaml"), {}, {});
}

std::vector<TrafficTable> tables_of(const std::vector<std::string>& sources,
                                    TrafficWords words = {}) {
  words.sources = sources;
  const TrafficRequest request = traffic_request(words);
  return traffic_tables(analysis::analyze_traffic(request.input), request.context);
}

const TrafficTable& table_named(const std::vector<TrafficTable>& tables, std::string_view name) {
  const auto found = std::find_if(tables.begin(), tables.end(),
                                  [&](const TrafficTable& table) { return table.name == name; });
  REQUIRE(found != tables.end());
  return *found;
}

bool has_note(const TrafficTable& table, std::string_view part) {
  return std::any_of(table.notes.begin(), table.notes.end(),
                     [&](const std::string& note) { return note.find(part) != std::string::npos; });
}

/// Its events without windows, as a run of a version that reported none had.
void forget_windows(const fs::path& run) {
  std::string kept;
  std::ifstream in(run / "events.jsonl");
  for (std::string line; std::getline(in, line);) {
    if (line.find("\"kind\":\"window\"") == std::string::npos) kept += line + "\n";
  }
  in.close();
  std::ofstream(run / "events.jsonl") << kept;
  write_manifest(run);
}

TEST_CASE(
    "in an incast windows fall, and hosts say that the last hop's trims and the receiver did it") {
  const test::TemporaryRuns runs;
  const Scenario scenario = meeting();
  const RunResult run = runs.run(scenario);
  REQUIRE(run.verdict.metrics.trimmed > 0);
  analysis::EventHistory events(scenario.topology);
  REQUIRE(events.add_file(run.folder.path / "events.jsonl"));
  events.finish();
  CHECK(events.malformed() == 0);
  const auto flows = analysis::window_flows(scenario.topology, events.windows());
  REQUIRE(flows.size() == 7);
  uint64_t trims = 0;
  for (const analysis::WindowFlow& flow : flows) {
    CAPTURE(flow.host);
    CHECK(flow.peer == 0);
    CHECK(flow.least * 4 < flow.most);
    for (const uint32_t place : flow.news) {
      const WindowRecord& said = events.windows()[place].said;
      CHECK(said.window.value <= said.largest.value_or(Bytes{}).value);
    }
    CHECK(flow.delay_most > *flow.target);
    const auto cuts = [&](WindowCut cause) { return flow.cuts[static_cast<size_t>(cause)].times; };
    CHECK(cuts(WindowCut::kLastHopTrims) > 0);
    CHECK(cuts(WindowCut::kPenalty) > 0);
    CHECK(cuts(WindowCut::kTrims) == 0);
    CHECK(cuts(WindowCut::kMarks) == 0);  // a last hop marks nothing
    trims += cuts(WindowCut::kLastHopTrims);
    const FabricTime first = events.windows()[flow.news.front()].said.t;
    const FabricTime last = events.windows()[flow.news.back()].said.t;
    const auto round_trips = static_cast<size_t>((last - first) / scenario.topology.base_rtt + 1);
    CHECK(flow.news.size() <= 2 * round_trips);
    CHECK(flow.news.size() >= 5);
  }
  // Each trim cuts once, and the last ones are not reported before the run ends.
  CHECK(trims <= run.verdict.metrics.trimmed);
  CHECK(trims * 10 > run.verdict.metrics.trimmed * 5);
}

TEST_CASE("with spines that mark, marks are what cuts by UEC's letter") {
  const test::TemporaryRuns runs;
  const Scenario scenario = parse_scenario(
      read_yaml_text(
          "name: spines\n"
          "fabric: {name: f, planes: 2, t0: 2, t1: 1, hosts_per_t0: 4, host_rate: 100Gb/s}\n"
          "transport: {nscc_rules: uec}\n"
          "workload:\n  - permutation: {hosts: all, load: 100%, message: 64KiB, shift: 4}\n"
          "end: 200us\nexpect: []\n",
          "f.yaml"),
      {}, {});
  const RunResult run = runs.run(scenario);
  analysis::EventHistory events(scenario.topology);
  REQUIRE(events.add_file(run.folder.path / "events.jsonl"));
  events.finish();
  std::map<size_t, uint64_t> cuts;
  uint64_t marked_late = 0;
  for (const analysis::WindowFlow& flow :
       analysis::window_flows(scenario.topology, events.windows())) {
    for (size_t i = 0; i < flow.cuts.size(); ++i) cuts[i] += flow.cuts[i].times;
    marked_late += flow.answers[static_cast<size_t>(WindowQuadrant::kMarkedLate)];
  }
  CHECK(cuts[static_cast<size_t>(WindowCut::kMarks)] > 0);
  CHECK(cuts[static_cast<size_t>(WindowCut::kLastHopTrims)] == 0);
  CHECK(marked_late > 0);
}

TEST_CASE("analyze has the windows of a run as tables of 80 columns, and all numbers as JSON") {
  const test::TemporaryRuns runs;
  const RunResult run = runs.run(meeting());
  const std::vector<TrafficTable> tables = tables_of({run.folder.path.string()});
  for (const char* name : {"windows", "window_cuts", "window_records"}) {
    const TrafficTable& table = table_named(tables, name);
    CHECK(table.title.find("hosts reported") != std::string::npos);
    const std::string text = to_text(table, 1'000);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(line.size() <= 80);
    }
  }
  const nlohmann::json json = to_json(tables);
  REQUIRE(json.at("windows").size() == 7);
  const nlohmann::json& row = json.at("windows")[0];
  CHECK(row.at("flow").get<std::string>().ends_with(">h0"));
  CHECK(row.at("least_bytes") < row.at("most_bytes"));
  CHECK(row.at("delay_most_ns") > row.at("target_ns"));
  const nlohmann::json& cuts = json.at("window_cuts")[0];
  CHECK(cuts.at("trimmed_last_hop_cuts") > 0);
  CHECK(cuts.at("marked_cuts") == 0);
  double shares = 0;
  for (const char* quadrant : {"clear", "late", "marked", "marked_late"}) {
    shares += cuts.at(std::string(quadrant) + "_share").get<double>();
  }
  CHECK(shares == doctest::Approx(1));
  CHECK(json.at("window_records").size() > 7 * 5);
}

TEST_CASE("analyze shows the windows of the hosts and the time that were asked for") {
  const test::TemporaryRuns runs;
  const std::string run = runs.run(meeting()).folder.path.string();
  TrafficWords words;
  words.between = {"h0", "h3"};
  words.from = "20us";
  words.until = "60us";
  const nlohmann::json json = to_json(tables_of({run}, words));
  REQUIRE(json.at("windows").size() == 1);
  CHECK(json.at("windows")[0].at("flow") == "h3>h0");
  for (const nlohmann::json& row : json.at("window_records")) {
    CHECK(row.at("t_ns") >= 20'000);
    CHECK(row.at("t_ns") < 60'000);
  }
}

TEST_CASE("where hosts said nothing the tables say so, and show no zero") {
  const test::TemporaryRuns runs;
  const fs::path run = runs.run(meeting()).folder.path;
  const std::vector<TrafficTable> foreign = tables_of({(run / "captures" / "sim.pcapng").string()});
  for (const char* name : {"windows", "window_cuts", "window_records"}) {
    CHECK(table_named(foreign, name).rows.empty());
    CHECK(has_note(table_named(foreign, name), "known of a run only"));
  }
  forget_windows(run);
  const std::vector<TrafficTable> silent = tables_of({run.string()});
  CHECK(table_named(silent, "windows").rows.empty());
  CHECK(has_note(table_named(silent, "windows"), "did not report their windows"));
  fs::remove(run / "events.jsonl");
  write_manifest(run);
  const std::vector<TrafficTable> absent = tables_of({run.string()});
  CHECK(table_named(absent, "windows").rows.empty());
  CHECK(has_note(table_named(absent, "windows"), "has no events.jsonl"));
}

TEST_CASE(
    "what is watched in memory is what the files say, and the page shows it as the hosts' word") {
  const test::TemporaryRuns runs;
  const Scenario scenario = meeting();
  const fs::path run = runs.run(scenario).folder.path;
  analysis::EventHistory events(scenario.topology);
  REQUIRE(events.add_file(run / "events.jsonl"));
  events.finish();
  const std::string page = netio::read_file(run / "report.html", size_t{1} << 26);
  CHECK(page.find("Windows, as hosts reported them") != std::string::npos);
  const std::string open = "id=\"data\">";
  const size_t begin = page.find(open) + open.size();
  const auto data =
      nlohmann::json::parse(page.substr(begin, page.find("</script>", begin) - begin));
  const nlohmann::json& windows = data.at("picture").at("windows");
  CHECK(windows.at("heard") == true);
  REQUIRE(windows.at("flows").size() == 7);
  size_t points = 0;
  for (const nlohmann::json& flow : windows.at("flows")) points += flow.at("points").size();
  CHECK(points == events.windows().size());
}

}  // namespace
}  // namespace mrclab::lab
