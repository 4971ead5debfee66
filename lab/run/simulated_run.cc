#include "lab/run/simulated_run.h"

#include <algorithm>
#include <deque>
#include <memory>
#include <stdexcept>
#include <thread>

#include "lab/run/held_simulation.h"
#include "lab/run/sim_records.h"
#include "lab/run/watched_node.h"
#include "scenario/simulation/simulation.h"
#include "scenario/spec/transport_fit.h"

namespace mrclab::lab {
namespace {

constexpr size_t kLargeFabric = 500;  // nodes
/// Questions to the simulator, each some 20 ms after the one before: the time that an interrupting
/// caller waits.
constexpr int kLastQuestions = 5;

/// Nodes record transmissions that end a little later than `reached`, the instant at which the world was to
/// stop. It goes on until then, if it comes there soon (a frame may take very long on a slow wire).
void end_with_records(Simulation& simulation, FabricTime reached, SimRecords& records,
                      const SimOptions& options, WorldOutcome& outcome) {
  const FabricTime last = latest_of_ranks(options.ranks, std::max(reached, records.last()));
  records.set_end(last);
  if (options.evidence != nullptr) options.evidence->end_early(last, "the run was interrupted");
  int asked = 0;
  reached = simulation.run([&asked](FabricTime) { return ++asked < kLastQuestions; }, last);
  outcome.interrupted_at = reached;
  outcome.judgeable = reached == last;
}

}  // namespace

bool is_looked_at(const Scenario& scenario, uint64_t history_bytes) {
  return scenario.captures != CaptureScope::kNone || history_bytes > 0 || !scenario.expect.empty();
}

bool is_watched_by_threads(const Scenario& scenario) {
  return scenario.captures == CaptureScope::kNone && !scenario.topology.lossless.pfc &&
         !uses_roce(scenario);
}

uint32_t default_threads(const Scenario& scenario, uint64_t history_bytes) {
  const bool large = scenario.topology.nodes.size() >= kLargeFabric;
  const bool apart = !is_looked_at(scenario, history_bytes) ||
                     (is_watched_by_threads(scenario) && history_bytes == 0);
  return large && apart && std::thread::hardware_concurrency() > 1 ? 2 : 1;
}

WorldOutcome run_simulated(const Scenario& scenario, const RunFolder& folder,
                           const SimOptions& options,
                           const std::function<bool(FabricTime)>& go_on) {
  if (options.evidence && options.ranks) {
    throw std::logic_error("nodes are watched by one process");
  }
  std::optional<SimRecords> records;
  std::deque<WatchedNode> watched, also_watched;
  std::shared_ptr<Simulation> simulation;
  WorldOutcome outcome;
  run_on_all_ranks(options.ranks, [&] {
    records.emplace(scenario, folder,
                    SimRecords::Options{options.threads, options.ranks, options.capture_bytes,
                                        options.history_bytes});
    const auto observer_of = [&](NodeId node) -> NodeObserver& {
      if (options.evidence == nullptr) return records->recorder(node);
      const uint32_t part = SimWorld::shard_of(scenario.topology, node, options.threads);
      NodeObserver& kept =
          watched.emplace_back(records->recorder(node), options.evidence->observer(node, part));
      return options.observer ? also_watched.emplace_back(kept, options.observer(node)) : kept;
    };
    // A program's memory is none of the simulator's, which could lend it to frames.
    const auto observed = scenario.captures == CaptureScope::kNone && !has_held_programs(scenario)
                              ? Simulation::Observed::kHeaders
                              : Simulation::Observed::kWholeFrames;
    simulation = std::make_shared<Simulation>(scenario, options.threads, observer_of, options.ranks,
                                              observed);
  });
  std::optional<HeldSimulation> held;
  if (has_held_programs(scenario)) held.emplace(scenario, *simulation, folder.path, go_on);
  run_on_all_ranks(options.ranks, [&] {
    const auto step = [&](FabricTime now) { return held ? held->step(now) : !go_on || go_on(now); };
    FabricTime reached = simulation->run(step, options.until);
    if (reached < std::min(options.until, scenario.stop())) {
      end_with_records(*simulation, reached, *records, options, outcome);
      reached = *outcome.interrupted_at;
      outcome.memory = simulation;
    }
    if (held) held->finish(outcome);
    outcome.hosts = simulation->hosts();
    outcome.jobs = simulation->jobs();
    outcome.history = records->streams();
    outcome.capture_records = records->capture_records();
    records->close(reached);
    if (options.at_end) options.at_end(*simulation, outcome);
  });
  return outcome;
}

}  // namespace mrclab::lab
