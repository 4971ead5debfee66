// The two feeds of the judge: files that a run leaves, and nodes that are watched while it runs.

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <nlohmann/json.hpp>

#include "analysis/judge/analyze.h"
#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "endpoint/plan/connection_plan.h"
#include "lab/run/scenario_run.h"
#include "lab/run/simulated_run.h"
#include "scenario/judging/run_inputs.h"
#include "scenario/simulation/host_report.h"
#include "sim/sim_world.h"
#include "switchd/switch_node.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/lab/support/written_run.h"

namespace mrclab::lab {
namespace {

/// A link dies and comes back, another wire loses frames: losses, probes, retransmissions. Wires are
/// short, so that 20 RTT of baseline are, too.
constexpr const char* kStory =
    "name: feeds\n"
    "fabric: {name: f, planes: 2, t0: 2, t1: 2, hosts_per_t0: 2, propagation: 50ns, "
    "switch_latency: 100ns, host_latency: 100ns}\n"
    "end: 600us\n"
    "workload:\n  - permutation: {hosts: all, load: 40%, message: 4000B, shift: 2}\n"
    "faults:\n"
    "  - {at: 150us, link_down: {link: \"p0.t0-0:u1\", for: 20us}}\n"
    "  - {at: 160us, wire_loss: {link: \"h1:p1\", direction: up, loss: 5%, for: 20us}}\n"
    "expect: [steady, safety, liveness: {within: 150rtt}, no_qp_error,\n"
    "  goodput: {from: 300us, at_least: 95%, host: h1}, losses_per_qp: {at_most: 100},\n"
    "  affected_qps: {at_least: 10%}, samples: {from: 10us, every: 10us, min_over_mean: 20%}]\n";

Scenario story() { return parse_scenario(read_yaml_text(kStory, "f.yaml"), {}, {}); }

using Tamper = std::function<bool(NodeId, const PacketRecord&)>;

/// Hands on what `drops` does not take away.
class Tampering : public NodeObserver {
 public:
  Tampering(NodeObserver& to, NodeId node, const Tamper& drops)
      : to_(to), node_(node), drops_(drops) {}
  void packet(const PacketRecord& record) override {
    if (!drops_(node_, record)) to_.packet(record);
  }
  void event(const EventRecord& record) override { to_.event(record); }
  void window(const WindowRecord& record) override { to_.window(record); }

 private:
  NodeObserver& to_;
  NodeId node_;
  const Tamper& drops_;
};

analysis::Verdict watched(const Scenario& scenario, const Tamper& drops) {
  const Topology& topology = scenario.topology;
  analysis::Evidence evidence(topology, scenario.schedule, scenario.stop());
  std::deque<Tampering> observers;
  for (const NodeSite& site : topology.nodes) {
    observers.emplace_back(evidence.observer(site.id), site.id, drops);
  }
  endpoint::HostConfig config;
  config.transport = endpoint::make_profile(scenario.transport, topology);
  config.workloads = scenario.workload;
  config.end = scenario.end;
  SimWorld world(
      topology, {.seed = scenario.seed, .schedule = scenario.schedule},
      [&](const NodeEnvironment& environment) -> std::unique_ptr<Node> {
        if (topology.node(environment.self).role == NodeRole::kHost) {
          return std::make_unique<endpoint::HostNode>(environment, config);
        }
        return std::make_unique<switchd::SwitchNode>(environment);
      },
      [&](NodeId node) -> NodeObserver& { return observers[node.value]; });
  world.run_until(scenario.stop());
  WorldOutcome outcome;
  for (uint32_t host = 0; host < topology.host_count(); ++host) {
    const NodeId id = topology.host(host);
    outcome.hosts.hosts.push_back(host_report(
        topology.node(id).name, dynamic_cast<const endpoint::HostNode&>(world.node(id)).account()));
  }
  evidence.finish();
  return analysis::judge(run_inputs(scenario, "sim", std::move(outcome)), evidence).verdict;
}

const analysis::CheckResult& check_named(const analysis::Verdict& verdict, std::string_view name) {
  const auto found =
      std::find_if(verdict.checks.begin(), verdict.checks.end(),
                   [&](const analysis::CheckResult& check) { return check.name == name; });
  REQUIRE(found != verdict.checks.end());
  return *found;
}

TEST_CASE("files and watched nodes give the same verdict, and it is a pass") {
  const test::TemporaryRuns runs;
  const Scenario scenario = story();
  const test::WrittenRun written = test::write_run(scenario, runs.path());
  const analysis::Verdict from_files = test::judge_files(written.inputs());
  const analysis::Verdict from_nodes = watched(scenario, [](auto&&...) { return false; });
  for (const analysis::CheckResult& check : from_files.checks) {
    INFO(check.name, ": ", check.note);
    CHECK(check.result == analysis::Result::kPass);
  }
  auto a = nlohmann::json::parse(analysis::to_json(from_files));
  auto b = nlohmann::json::parse(analysis::to_json(from_nodes));
  CHECK(a["checks"] == b["checks"]);
  CHECK(a["faults"] == b["faults"]);
  CHECK(a["result"] == b["result"]);
  for (const char* count : {"delivered", "retransmitted", "lost", "goodput_bps"}) {
    CHECK(a["metrics"][count] == b["metrics"][count]);
  }
  CHECK(from_nodes.metrics.lost > 0);  // or the story proves less than it claims
  CHECK(from_nodes.metrics.retransmitted > 0);
}

TEST_CASE("one record too few of a wire, a switch or a drop, and the packets do not add up") {
  const Scenario scenario = story();
  struct Row {
    const char* what;
    std::function<bool(const NodeSite&, const PacketRecord&)> matches;
  };
  const std::vector<Row> rows{
      {"an arrival at a switch",
       [](const NodeSite& site, const PacketRecord& r) {
         return site.role == NodeRole::kT1 && r.direction == Direction::kIngress;
       }},
      {"a departure from a switch",
       [](const NodeSite& site, const PacketRecord& r) {
         return site.role == NodeRole::kT0 && r.direction == Direction::kEgress;
       }},
      {"an arrival at a host",
       [](const NodeSite& site, const PacketRecord& r) {
         return site.role == NodeRole::kHost && r.direction == Direction::kIngress;
       }},
      {"a drop",
       [](const NodeSite&, const PacketRecord& r) { return r.event == PacketEvent::kDropped; }}};
  for (const Row& row : rows) {
    CAPTURE(row.what);
    bool taken = false;
    const analysis::Verdict verdict = watched(scenario, [&](NodeId node, const PacketRecord& r) {
      if (taken || !row.matches(scenario.topology.node(node), r)) return false;
      return taken = true;
    });
    REQUIRE(taken);
    CHECK(check_named(verdict, "accounted").result == analysis::Result::kFail);
  }
}

TEST_CASE("a simulated run is judged alike with files of any size, and with none") {
  const test::TemporaryRuns runs;
  Scenario scenario = story();
  const auto judged = [&](uint64_t history_bytes) {
    RunOptions options = runs.options(World::kSim);
    options.history_bytes = history_bytes;
    return run_scenario(scenario, options).verdict;
  };
  const analysis::Verdict with_files = judged(64 << 20);
  const analysis::Verdict short_records = judged(64 << 10);
  scenario.captures = CaptureScope::kNone;
  const analysis::Verdict without = judged(0);
  CHECK(with_files.result == analysis::Result::kPass);
  for (const analysis::Verdict* verdict : {&short_records, &without}) {
    CHECK(verdict->notes.empty());
    CHECK(verdict->metrics.history_sha256 == with_files.metrics.history_sha256);
    REQUIRE(verdict->checks.size() == with_files.checks.size());
    for (size_t i = 0; i < verdict->checks.size(); ++i) {
      const analysis::CheckResult &a = with_files.checks[i], &b = verdict->checks[i];
      INFO(a.about, ": ", b.note);
      CHECK(a.result == b.result);
      CHECK(a.measured == b.measured);
      CHECK(a.note == b.note);
    }
  }
}

}  // namespace
}  // namespace mrclab::lab
