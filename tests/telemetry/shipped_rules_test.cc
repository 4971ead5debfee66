// The rules for Prometheus and the dashboard for Grafana that are shipped name metrics that there are.

#include <doctest/doctest.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "telemetry/counter_table.h"
#include "telemetry/sai_numbers.h"

namespace mrclab::telemetry {
namespace {

std::string shipped(const char* file) {
  std::ifstream in(std::string(MRCLAB_SOURCE_DIR) + "/telemetry/" + file);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Names of metrics that `mrclab metrics` and `mrclab drill` have.
std::set<std::string> known_names() {
  std::set<std::string> names{
      "mrclab_fabric_time_seconds",        "mrclab_port_up",
      "mrclab_port_rate_bytes_per_second", "node_infiniband_state_id",
      "node_infiniband_physical_state_id", "node_infiniband_link_downed_total"};
  for (const CounterRow& row : counter_rows()) {
    names.insert(std::string(row.family) + (row.kind == MetricKind::kCounter ? "_total" : ""));
    if (!row.node_exporter.empty())
      names.insert("node_infiniband_" + std::string(row.node_exporter));
    if (const auto sai = sai_number(row.sonic)) {
      names.insert("sai_counter_type_" + std::to_string(sai->object_type) + "_stat_" +
                   std::to_string(sai->statistic));
    }
  }
  return names;
}

void check_names(const std::string& text) {
  static const std::set<std::string> known = known_names();
  static const std::regex name("(mrclab|node_infiniband|sai_counter_type)_[a-z0-9_]+");
  for (auto at = std::sregex_iterator(text.begin(), text.end(), name); at != std::sregex_iterator();
       ++at) {
    CAPTURE(at->str());
    CHECK(known.contains(at->str()));
  }
}

TEST_CASE("each metric of the shipped alert rules is one that is exported") {
  const std::string text = shipped("prometheus/mrclab-rules.yml");
  CHECK(text.find("alert: PortDown") != std::string::npos);
  check_names(text);
}

TEST_CASE(
    "the shipped dashboard is one of Grafana's, and each expression names metrics that are exported") {
  const auto board = nlohmann::json::parse(shipped("grafana/mrclab-fabric.json"));
  CHECK(board.at("schemaVersion").get<int>() >= 30);
  CHECK(board.at("templating").at("list").at(0).at("type") == "datasource");
  std::set<int> ids;
  for (const auto& panel : board.at("panels")) {
    CHECK(ids.insert(panel.at("id").get<int>()).second);
    const auto& place = panel.at("gridPos");
    CHECK(place.at("x").get<int>() + place.at("w").get<int>() <= 24);
    CHECK_FALSE(panel.at("targets").empty());
    for (const auto& target : panel.at("targets"))
      check_names(target.at("expr").get<std::string>());
  }
  CHECK(ids.size() >= 8);
}

}  // namespace
}  // namespace mrclab::telemetry
