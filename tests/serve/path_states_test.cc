// The report and the live page show an entropy value in the same state at any instant: the judge's.

#include "analysis/measure/path_states.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analysis/history/evidence.h"
#include "analysis/judge/analyze.h"
#include "fabric/topology/path.h"
#include "lab/chaos/chaos_scenario.h"
#include "scenario/judging/run_inputs.h"
#include "scenario/simulation/simulation.h"
#include "session/looks/path_use.h"
#include "session/simulated_branch.h"
#include "tests/support/nightly.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

constexpr uint64_t kSeeds = 20, kSample = 4;
constexpr int kInstants = 100;

/// A cell by host, queue pair and path, in another state than GOOD.
using Shown = std::map<std::string, std::string>;

std::string cell_name(const std::string& host, uint64_t qp, const std::string& path) {
  return fmt::format("{} {:#x} {}", host, qp, path);
}

/// What the report's script shows at an instant: the changes one after another, and nothing else.
Shown of_report(const json& evs, double us) {
  std::map<std::pair<size_t, size_t>, std::string> cells;
  for (const json& change : evs.at("changes")) {
    if (change[0].get<double>() > us) break;
    cells[{change[1], change[2]}] = evs.at("states")[change[3].get<size_t>()];
  }
  Shown shown;
  for (const auto& [cell, state] : cells) {
    const json& row = evs.at("rows")[cell.first];
    const std::string path = evs.at("columns")[cell.second].at("path");
    if (row.at("local").get<bool>() != path.ends_with("/-") || state == "good") continue;
    shown[cell_name(row.at("host"), std::stoull(row.at("qp").get<std::string>(), nullptr, 16),
                    path)] = state;
  }
  return shown;
}

/// What the live page shows at an instant: what the server's answer names, a plane for all of its paths.
Shown of_live_page(const json& evs, const json& out) {
  Shown shown;
  for (const json& row : evs.at("rows")) {
    const uint64_t qp = std::stoull(row.at("qp").get<std::string>(), nullptr, 16);
    for (const json& column : evs.at("columns")) {
      const std::string path = column.at("path");
      if (row.at("local").get<bool>() != path.ends_with("/-")) continue;
      for (const json& entry : out) {
        const std::string name = entry[2];
        const bool of_it = name == path || name == path.substr(0, path.find('/'));
        if (fmt::format("h{}", entry[0].get<uint32_t>()) != row.at("host") || entry[1] != qp ||
            !of_it)
          continue;
        shown[cell_name(row.at("host"), qp, path)] = entry[3];
      }
    }
  }
  return shown;
}

std::string text_of(const Shown& shown) {
  std::string text;
  for (const auto& [cell, state] : shown) text += cell + ": " + state + "\n";
  return text;
}

json evs_of_report(const Scenario& scenario) {
  analysis::Evidence evidence(scenario.topology, scenario.schedule, scenario.stop(),
                              watched_at_switches(scenario));
  WorldOutcome outcome;
  {
    Simulation simulation(scenario, 1,
                          [&](NodeId node) -> NodeObserver& { return evidence.observer(node); });
    simulation.run();
    outcome.hosts = simulation.hosts();
  }
  evidence.finish();
  const auto inputs = run_inputs(scenario, "sim", std::move(outcome));
  return json::parse(analysis::analyze(inputs, evidence).picture).at("evs");
}

}  // namespace

TEST_CASE("the report and the live page show the same states of entropy values, whatever fails" *
          doctest::test_suite(test::kWholeRun)) {
  uint64_t differing = 0, shown = 0, planes = 0;
  for (uint64_t seed = 1; seed <= (test::nightly() ? kSeeds : kSample); ++seed) {
    CAPTURE(seed);
    const Scenario scenario = chaos_scenario(load_chaos_base("octet"), seed).scenario;
    const json evs = evs_of_report(scenario);
    if (evs.at("left_out") != 0 || evs.at("rows_left_out") != 0) continue;
    SimulatedBranch branch(scenario);
    branch.reach(scenario.stop());
    for (int i = 1; i <= kInstants; ++i) {
      const FabricTime at = scenario.stop() / kInstants * i;
      const Shown report = of_report(evs, at.us());
      const json out = paths_out(branch.recording(), scenario.topology, at);
      const Shown live = of_live_page(evs, out);
      shown += report.size();
      for (const json& entry : out)
        planes += entry[2].get<std::string>().find('/') == std::string::npos ? 1 : 0;
      if (report == live) continue;
      if (++differing == 1)
        FAIL_CHECK("at ", at.us(), " us the report has\n", text_of(report), "and the page\n",
                   text_of(live));
    }
  }
  CHECK(differing == 0);
  CHECK(shown > 100);
  CHECK(planes > 0);
}

TEST_CASE("a value is good again when its plane is, unless the operator denies it") {
  analysis::PathStates states;
  const EntropyValue value = ev_of({2, 1}), denied = ev_of({2, 2});
  const auto key = [](EntropyValue ev) { return analysis::PathStates::Key{0, Qpn{7}, 2, ev}; };
  const auto say = [&](std::optional<EntropyValue> ev, analysis::PathWord word) {
    analysis::PathNews news;
    news.qp = Qpn{7};
    news.plane = 2;
    news.ev = ev;
    news.word = word;
    news.usable = word == analysis::PathWord::kGood || word == analysis::PathWord::kPortUp;
    news.denied = word == analysis::PathWord::kDenied;
    states.take(news);
  };
  using analysis::PathWord;
  CHECK(states.word_of(key(value)) == PathWord::kGood);
  say(value, PathWord::kAssumedBad);
  say(denied, PathWord::kDenied);
  CHECK(states.word_of(key(value)) == PathWord::kAssumedBad);
  say(std::nullopt, PathWord::kPortDown);
  CHECK(states.word_of(key(value)) == PathWord::kPortDown);
  CHECK(states.word_of(key(ev_of({2, 3}))) == PathWord::kPortDown);
  say(std::nullopt, PathWord::kPortUp);
  CHECK(states.word_of(key(value)) == PathWord::kGood);
  CHECK(states.word_of(key(denied)) == PathWord::kDenied);
}

}  // namespace mrclab::lab
