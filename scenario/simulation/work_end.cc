#include "scenario/simulation/work_end.h"

#include "fabric/node/no_observer.h"
#include "fabric/text/counted_noun.h"
#include "scenario/simulation/simulation.h"

namespace mrclab::lab {
std::optional<FabricTime> end_of_work(const Scenario& scenario, const SimWorld::GoOn& go_on) {
  Scenario quick = scenario;
  quick.payload_elided = true;  // the history is the same, and less is computed
  NoObserver observer;
  Simulation simulation(quick, 1, [&](NodeId) -> NodeObserver& { return observer; });
  const FabricTime period = scenario.work_check_period();
  for (FabricTime at = period; at <= scenario.stop(); at += period) {
    if (simulation.run(go_on, at) < at) return std::nullopt;
    if (simulation.work_ended()) return at;
  }
  return std::nullopt;
}

Scenario with_open_end(Scenario scenario) {
  if (scenario.work_ended) scenario.until.reset();
  scenario.work_ended = false;
  return scenario;
}

Scenario ended_with_work(const Scenario& scenario, const SimWorld::GoOn& go_on) {
  Scenario ended = with_open_end(scenario);
  if (!scenario.ends_with_work) return ended;
  if (const auto at = end_of_work(ended, go_on)) {
    ended.until = at;
    ended.work_ended = true;
  }
  return ended;
}

std::string end_note(const Scenario& scenario, size_t faults_not_reached) {
  if (!scenario.ends_with_work || (scenario.until && !scenario.work_ended)) return "";
  if (!scenario.work_ended) {
    return "ended at " + to_string(scenario.end) +
           ", the longest that it may take: not all work had ended";
  }
  std::string text = "ended at " + to_string(scenario.stop()) +
                     ", as all work that ends by itself had ended; it could have taken " +
                     to_string(scenario.end);
  if (faults_not_reached > 0) {
    text += ", with " + counted_noun(faults_not_reached, "fault") + " more";
  }
  return text;
}

}  // namespace mrclab::lab
