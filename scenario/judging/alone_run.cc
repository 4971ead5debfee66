#include "scenario/judging/alone_run.h"

#include <map>
#include <memory>

#include "fabric/node/no_observer.h"
#include "scenario/judging/job_results.h"
#include "scenario/simulation/simulation.h"

namespace mrclab::lab {
namespace {

/// Everything but the n-th job begins when the run is over.
Scenario with_job_alone(const Scenario& scenario, size_t job) {
  Scenario alone = scenario;
  alone.payload_elided = true;  // the history is the same, and less is computed
  size_t number = 0;
  for (endpoint::WorkloadSpec& spec : alone.workload) {
    if (std::holds_alternative<endpoint::JobWorkload>(spec) && number++ == job) continue;
    std::visit([&](auto& any) { any.at = scenario.stop(); }, spec);
  }
  return alone;
}

}  // namespace

analysis::AloneRun alone_of(const Scenario& scenario, IsInterrupted interrupted) {
  if (scenario.timing != TimingMode::kCarried || !scenario.programs.empty()) return {};
  auto known =
      std::make_shared<std::map<size_t, analysis::JobResult>>();  // of copies of the function
  return [&scenario, interrupted = std::move(interrupted), known](size_t job) {
    if (const auto found = known->find(job); found != known->end()) return found->second;
    const Scenario alone = with_job_alone(scenario, job);
    NoObserver observer;
    Simulation simulation(alone, 1, [&](NodeId) -> NodeObserver& { return observer; });
    const auto ended = [&] { return interrupted && interrupted(); };
    simulation.run([&](FabricTime) { return !ended(); });
    if (ended()) throw Interrupted("interrupted");
    return known->emplace(job, job_results(alone, simulation.jobs()).at(job)).first->second;
  };
}

}  // namespace mrclab::lab
