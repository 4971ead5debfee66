// Reports of daemons, with each of their keys taken away, renamed and spoilt: no number of a
// verdict is ever made up.

#include "live/world/process_reports.h"
#include "scenario/simulation/host_report.h"

#include <doctest/doctest.h>

#include <deque>

#include "analysis/checks/checks.h"
#include "fabric/history/report_json.h"
#include "lab/run/watched_run.h"
#include "netio/system/file_descriptor.h"
#include "scenario/judging/world_outcome.h"
#include "scenario/simulation/simulation.h"
#include "tests/lab/support/evidence_cuts.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/checked.h"

using namespace mrclab;
using namespace mrclab::lab;
using nlohmann::json;

namespace {

Scenario reported_scenario() {
  return parse_scenario(read_yaml_text(R"(
name: reported
fabric: pair
workload:
  - all_reduce: {hosts: all, size: 64KiB, until: end}
end: 20us
)",
                                       "reported.yaml"));
}

class Deaf : public NodeObserver {
 public:
  void packet(const PacketRecord&) override {}
  void event(const EventRecord&) override {}
};

/// The report of the daemon of all hosts, and the plan that it belongs to.
struct Reported {
  Scenario scenario = reported_scenario();
  ProcessPlan plan = plan_processes(scenario.topology, false, 1);
  uint32_t process = 0;
  json report;

  Reported() {
    Deaf deaf;
    Simulation simulation(scenario, 1, [&](NodeId) -> NodeObserver& { return deaf; });
    simulation.run([](FabricTime) { return true; });
    netio::ProcessReport values;
    values.process = plan.processes.at(process).name;
    values.history = "h0:p0/in 0 " + std::string(64, 'a') + "\n";
    values.gaps = {{"h0:p0->p0.t0-0:d0", 7}};
    values.failed_send_reasons = {"no reason"};
    values.min_slack_ns = 12;
    for (uint32_t h = 0; h < scenario.topology.host_count(); ++h) {
      const NodeSite& site = scenario.topology.node(scenario.topology.host(h));
      endpoint::HostAccount account = simulation.account(h);
      account.stats.qp_errors.push_back({"Retry Counter Exceeded", 1});
      account.work.push_back({});
      account.work.back().record_piece(FabricTime::from_ns(1), FabricTime::from_ns(2));
      values.nodes[site.name] = report_to_json(account);
    }
    report = report_to_json(values);
  }

  std::string error_of(const json& changed) const {
    try {
      read_process_report(changed, scenario.topology, plan, process);
    } catch (const ReportError& error) {
      return error.what();
    }
    return "no error";
  }
};

}  // namespace

TEST_CASE("a daemon's report reads back whole") {
  const Reported reported;
  const ReadReport read =
      read_process_report(reported.report, reported.scenario.topology, reported.plan, 0);
  CHECK(report_to_json(read.report) == reported.report);
  REQUIRE(read.hosts.size() == reported.scenario.topology.host_count());
  for (const auto& [number, account] : read.hosts) {
    const std::string& name =
        reported.scenario.topology.node(reported.scenario.topology.host(number)).name;
    CHECK(report_to_json(account) == reported.report.at("nodes").at(name));
    CHECK(account.stats.bytes_verified > 0);
    CHECK(host_report(name, account).bytes_placed == account.stats.goodput_bytes());
    CHECK(host_report(name, account).error == "Retry Counter Exceeded");
  }
}

TEST_CASE(
    "a key that a report lacks, renames or has twice over is an error that names process and key") {
  const Reported reported;
  const std::vector<json::json_pointer> keys = test::keys_of(reported.report);
  REQUIRE(keys.size() > 150);
  for (const json::json_pointer& key : keys) {
    CAPTURE(key.to_string());
    json without = reported.report;
    without[key.parent_pointer()].erase(key.back());
    const std::string missing = reported.error_of(without);
    CHECK(missing.find("the report of hosts-0: ") == 0);
    CHECK(missing.find("found no \"" + key.back() + "\"") != std::string::npos);
    json renamed = without;
    renamed[key.parent_pointer()][key.back() + "_"] = reported.report[key];
    CHECK(reported.error_of(renamed).find("found no \"" + key.back() + "\"") != std::string::npos);
    json more = reported.report;
    more[key.parent_pointer()]["another"] = 1;
    CHECK(reported.error_of(more) != "no error");
    json spoilt = reported.report;
    spoilt[key] = nullptr;
    CHECK(reported.error_of(spoilt) != "no error");
  }
}

TEST_CASE("a report of another process, or of other nodes, is refused") {
  const Reported reported;
  json other = reported.report;
  other["process"] = "hosts-1";
  CHECK(reported.error_of(other).find("expected \"hosts-0\"") != std::string::npos);
  json history = reported.report;
  history["history"] = "not one";
  CHECK(reported.error_of(history).find("history: ") != std::string::npos);
}

TEST_CASE("a process without a whole report leaves no verdict but inconclusive, and says why") {
  const Reported reported;
  const test::TemporaryRuns runs;
  const std::string whole = sealed_report(reported.report);
  const ProcessPlan plan{{reported.plan.processes.front()}, reported.plan.process_of_node};
  const auto outcome = [&] {
    WorldOutcome result;
    add_process_reports(result, reported.scenario, plan, runs.path());
    result.timing.faithful = result.timing.reasons.empty();
    return result;
  };
  std::vector<analysis::CheckResult> passes(1);
  passes.front() = test::with_result(passes.front(), analysis::Result::kPass);
  const auto said = [&](analysis::TimingMode mode) {
    analysis::TimingReport timing = outcome().timing;
    timing.mode = mode;
    CHECK(analysis::overall_result(passes, timing) == analysis::Result::kInconclusive);
    REQUIRE(timing.disturbances.size() == 1);
    return timing.disturbances.front();
  };
  for (const analysis::TimingMode mode :
       {analysis::TimingMode::kCarried, analysis::TimingMode::kWall}) {
    const auto file = runs.path() / "hosts-0.json";
    std::filesystem::remove(file);
    CHECK(said(mode) == "the report of hosts-0: it left none");
    for (const size_t size : {size_t{0}, size_t{1}, whole.size() / 2, whole.size() - 2}) {
      netio::write_file(file, whole.substr(0, size));
      CHECK(said(mode) == "the report of hosts-0: it is no JSON, or not all of it");
    }
    std::string changed = whole;  // into a number that a report could have
    const size_t count = changed.find("\"bytes_verified\": ") + 18;
    changed[count] = changed[count] == '9' ? '8' : '9';
    netio::write_file(file, changed);
    CHECK(said(mode) == "the report of hosts-0: it was cut or changed since it was written");
    netio::write_file(file, reported.report.dump());
    CHECK(said(mode) == "the report of hosts-0: found no \"crc32\"");
    netio::write_file(file, "[" + whole + "]");
    CHECK(said(mode).find("expected an object") != std::string::npos);
    netio::write_file(file, whole);
    CHECK(outcome().timing.disturbances.empty());
    CHECK(outcome().hosts.hosts.size() == reported.scenario.topology.host_count());
  }
}
