#pragma once
// Held programs in the simulated world: each is an application of its simulated host (verbs/server/held), and a process
// of this machine, in a network of its own in which all hosts have their management addresses. The simulator's thread
// stands still while a program computes.
//
//   HeldSimulation held(scenario, simulation, {...});   // before time starts: the programs are started, and wait
//   simulation.run([&](FabricTime now) { return held.step(now) && ...; });
//   outcome.programs = held.finish(outcome);
//
// One thread and one process simulate: a program is awaited in the middle of its host's event. Needs root, for
// namespaces. What it starts ends with it, or with this process, whatever ends that.

#include <filesystem>
#include <functional>
#include <memory>
#include <vector>

#include "fabric/base/units.h"
#include "lab/run/exec_workload.h"
#include "netio/kernel/namespace.h"
#include "netio/system/scratch_folder.h"
#include "scenario/judging/world_outcome.h"
#include "scenario/simulation/simulation.h"
#include "scenario/spec/scenario_value.h"
#include "verbs/server/held/held_hosts.h"
#include "verbs/server/held/held_world.h"

namespace mrclab::lab {

/// Does any program of it run at fabric time?
bool has_held_programs(const Scenario& scenario);
/// Its held programs as their hosts hear of them: their sockets are in `nodes`/<host>/run.
std::vector<verbs::DeclaredProgram> declared_programs(const Scenario& scenario,
                                                      const std::filesystem::path& nodes);

/// Throws InputError where hosts could not be told of each other in time: the wires are too long.
void check_held_fabric(const Scenario& scenario);

class HeldSimulation {
 public:
  /// Asked every few milliseconds while a program is awaited; false: the run is given up.
  using GoOn = std::function<bool(FabricTime now)>;
  /// All outlive it. `run_folder` gets the programs' output, in logs/; empty: nobody reads it. Throws SystemError.
  HeldSimulation(const Scenario& scenario, Simulation& simulation,
                 const std::filesystem::path& run_folder, GoOn go_on);
  ~HeldSimulation();
  HeldSimulation(const HeldSimulation&) = delete;
  HeldSimulation& operator=(const HeldSimulation&) = delete;

  /// To be called between two windows: takes what programs print. False as soon as the run is given up.
  bool step(FabricTime now);
  /// Ends all programs. A program that was not held is a disturbance of the run.
  void finish(WorldOutcome& outcome);

 private:
  const Scenario& scenario_;
  Simulation& simulation_;
  GoOn go_on_;
  netio::ScratchFolder folder_{
      "mrclab-held-"};  ///< sockets: a run folder's path may be too long for one
  netio::NetworkNamespace network_;
  verbs::HeldHosts hosts_;
  std::unique_ptr<ExecPrograms> programs_;
};

/// Adds what held programs that could not be held do to a run's timing.
void add_not_held(WorldOutcome& outcome, const Scenario& scenario,
                  const std::vector<verbs::HeldReport>& reports);

}  // namespace mrclab::lab
