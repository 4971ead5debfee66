#pragma once
// Runs workloads to measure them: no scenario file, no captures, no verdict; what the applications
// measured comes back as numbers of fabric time.
//
// The simulator is the default, because a faithful live run gives the same numbers to the
// picosecond and takes longer. Live, the simulator runs first: it shows when the workloads have
// finished, and that is when the live run ends.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "endpoint/base/host_stats.h"
#include "endpoint/base/work_report.h"
#include "endpoint/options/transport_choice.h"
#include "endpoint/workload/workload_spec.h"
#include "fabric/topology/fabric_shape.h"
#include "fabric/topology/topology.h"
#include "lab/run/scenario_run.h"
#include "recorded/folder/run_folder.h"

namespace mrclab::lab {

struct PerfSetup {
  FabricShape shape;
  Topology topology;  ///< built from it
  uint64_t seed = 1;
  endpoint::TransportChoice transport;
  World world = World::kSim;
  std::filesystem::path out = default_runs();  ///< where run folders go; live only
  IsInterrupted interrupted = {};              ///< ends a live run
};

struct PerfOutcome {
  std::vector<endpoint::WorkReport> work;  ///< by host, then as the workloads stand
  uint64_t bytes_verified = 0;
  uint64_t bytes_wrong = 0;
  uint64_t retransmissions = 0;
  uint32_t qps_in_error = 0;
  std::string first_error;  ///< "h3: retry_exceeded to h5"; empty without
  FabricTime ended;
  bool finished = false;  ///< every application has done what it was asked for
  bool faithful = true;
  std::string folder;  ///< folder of a live run
};

/// Runs until all applications have finished, a queue pair fails, or `end`. Throws InputError for
/// workloads that do not fit the fabric, SystemError and Interrupted.
PerfOutcome run_perf(const PerfSetup& setup, const std::vector<endpoint::WorkloadSpec>& workloads,
                     FabricTime end = FabricTime::never());

}  // namespace mrclab::lab
