#include "lab/serve/session_verdict.h"

#include <optional>

#include "analysis/analyze.h"
#include "analysis/report/run_story.h"
#include "lab/console/interrupt.h"
#include "lab/run/run_inputs.h"
#include "lab/serve/lesson.h"
#include "lab/sim/simulation.h"

namespace mrclab::lab {
namespace {

using nlohmann::json;

json checks_json(const analysis::Verdict& verdict) {
  // The verdict's own words, so that page and verdict.json never differ.
  return json::parse(analysis::to_json(verdict)).at("checks");
}

}  // namespace

json verdict_of(Scenario scenario, const FabricSession::GoOn& go_on) {
  const Topology& topology = scenario.topology;
  // Trims are seen at switches: the story tells of them.
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
  }
  evidence.finish();
  const analysis::RunInputs inputs = run_inputs(scenario, "sim", std::move(outcome));
  const analysis::Analysis judged = analysis::judge(inputs, evidence);
  const std::vector<analysis::StoryLine> lines =
      analysis::tell_story({topology, evidence, judged.measurements, inputs.faults,
                            judged.verdict.faults, inputs.queue_pairs});
  json story = json::array();
  for (const analysis::StoryLine& line : lines) {
    story.push_back({{"t_ps", line.t.ps()}, {"kind", line.kind}, {"text", line.text}});
  }
  return {{"result", json::parse(analysis::to_json(judged.verdict)).at("result")},
          {"checks", checks_json(judged.verdict)},
          {"story", std::move(story)}};
}

json verdict_of(const std::string& scenario_yaml, const std::string& expect,
                const FabricSession::GoOn& go_on) {
  std::optional<Scenario> scenario;
  try {
    scenario = with_expectations(scenario_yaml, expect);
  } catch (const InputError& error) {
    json check{{"name", "expect"}, {"result", "fail"}, {"text", error.what()}};
    return {
        {"result", "fail"}, {"checks", json::array({std::move(check)})}, {"story", json::array()}};
  }
  return verdict_of(std::move(*scenario), go_on);
}

json verdict_of(const FabricSession& session, const std::string& expect,
                const FabricSession::GoOn& go_on) {
  const std::string yaml = session.yaml();
  if (!expect.empty()) return verdict_of(yaml, expect, go_on);
  return verdict_of(parse_scenario(read_yaml_text(yaml, "session")), go_on);
}

}  // namespace mrclab::lab
