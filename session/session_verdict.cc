#include "session/session_verdict.h"

#include <optional>

#include "analysis/judge/analyze.h"
#include "analysis/verdict/run_story.h"
#include "console/interrupt.h"
#include "scenario/judging/run_inputs.h"
#include "scenario/simulation/simulation.h"
#include "scenario/simulation/work_end.h"
#include "session/lesson.h"
#include "session/simulated_branch.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

json checks_json(const analysis::Verdict& verdict) {
  // The verdict's own words, so that page and verdict.json never differ.
  return json::parse(analysis::to_json(verdict)).at("checks");
}

/// Everything inconclusive, as the world that is shown is not what was simulated. It has no story and no cost either.
void make_inconclusive(json& verdict, const std::string& why) {
  for (json& check : verdict["checks"]) {
    check["result"] = analysis::name_of(analysis::Result::kInconclusive);
    check["measured"] = nullptr;
    check["note"] = why;
    check.erase("where");
    check.erase("looked");
  }
  verdict["result"] = analysis::name_of(analysis::Result::kInconclusive);
  verdict["story"] = json::array();
  verdict["cost"] = nullptr;
  verdict["why"] = why;
}

/// Why the simulation of this scenario does not show what happened in the world of `branch`; empty: it does.
std::string why_not_shown(const Branch& branch, const Scenario& scenario,
                          const FabricSession::GoOn& go_on) {
  if (std::string why = branch.unsound(); !why.empty()) return why;
  SimulatedBranch twin(scenario);
  const FabricTime until = branch.history_until();
  twin.reach(until, go_on);
  if (twin.reached() < until) throw Interrupted("the judge was interrupted");
  const std::string here = branch.history_sha256(), there = twin.history_sha256();
  if (here == there) return {};
  return "the history of this world up to " + to_string(until) +
         " is not that of its simulation (" + here.substr(0, 12) + " here, " + there.substr(0, 12) +
         " simulated): something that is not in its scenario changed it";
}

}  // namespace

json verdict_of(Scenario as_played, const FabricSession::GoOn& go_on) {
  const Scenario scenario = ended_with_work(as_played, go_on);
  const Topology& topology = scenario.topology;
  // Trims are seen at switches: the story names them.
  analysis::Evidence evidence(topology, scenario.schedule, scenario.stop(),
                              analysis::Evidence::AtSwitches::kDropsAndTrims);
  WorldOutcome outcome;
  {
    Simulation simulation(scenario, 1,
                          [&](NodeId node) -> NodeObserver& { return evidence.observer(node); });
    bool ended = false;
    simulation.run([&](FabricTime now) {
      ended = ended || (go_on && !go_on(now));
      return !ended;
    });
    if (ended) throw Interrupted("the judge was interrupted");
    outcome.hosts = simulation.hosts();
    outcome.jobs = simulation.jobs();
  }
  evidence.finish();
  analysis::RunInputs inputs = run_inputs(scenario, "sim", std::move(outcome));
  inputs.state_cost = true;
  const analysis::Analysis judged = analysis::judge(inputs, evidence);
  const auto waits = analysis::waits_of(topology, evidence, judged.measurements.end);
  const std::vector<analysis::StoryLine> lines =
      analysis::write_story({topology, evidence, judged.measurements, inputs.faults,
                             judged.verdict.faults, inputs.queue_pairs, waits});
  json story = json::array();
  for (const analysis::StoryLine& line : lines) {
    story.push_back({{"t_ps", line.t.ps()}, {"kind", line.kind}, {"text", line.text}});
  }
  return {{"result", json::parse(analysis::to_json(judged.verdict)).at("result")},
          {"checks", checks_json(judged.verdict)},
          {"story", std::move(story)},
          {"cost", judged.verdict.cost ? json(analysis::to_string(*judged.verdict.cost)) : json()},
          {"world", "sim"},
          {"until_ps", scenario.stop().ps()},
          {"simulated", true},
          {"why", ""}};
}

json verdict_of(const std::string& scenario_yaml, const std::string& expect,
                const FabricSession::GoOn& go_on, FabricTime until) {
  std::optional<Scenario> scenario;
  try {
    scenario = with_expectations(scenario_yaml, expect);
  } catch (const InputError& error) {
    json check{{"name", "expect"}, {"result", "fail"}, {"text", error.what()}};
    return {{"result", "fail"},
            {"checks", json::array({std::move(check)})},
            {"story", json::array()},
            {"world", "sim"},
            {"until_ps", 0},
            {"simulated", true},
            {"why", ""}};
  }
  if (until < scenario->stop()) scenario->until = until;
  return verdict_of(std::move(*scenario), go_on);
}

json verdict_of(const FabricSession& session, const std::string& expect,
                const FabricSession::GoOn& go_on) {
  const Branch& branch = session.branch();
  const std::string yaml = session.yaml();
  if (branch.world() == BranchWorld::kSimulated) {
    if (!expect.empty()) return verdict_of(yaml, expect, go_on);
    return verdict_of(parse_scenario(read_yaml_text(yaml, "session")), go_on);
  }
  Scenario scenario = parse_scenario(read_yaml_text(yaml, "session"));
  const std::string why = why_not_shown(branch, scenario, go_on);
  // A world that goes on has no end yet.
  const FabricTime until = branch.history_until();
  json verdict;
  if (expect.empty()) {
    if (until < scenario.stop()) scenario.until = until;
    verdict = verdict_of(std::move(scenario), go_on);
  } else {
    verdict = verdict_of(yaml, expect, go_on, until);
  }
  verdict["world"] = name_of(branch.world());
  if (!why.empty()) make_inconclusive(verdict, why);
  return verdict;
}

}  // namespace mrclab::lab
