#pragma once
// What the launcher of a job notes when an attempt ends: who reported it, which hosts are lost, and how the job goes on.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fabric/base/units.h"
#include "job/plan/job_spec.h"

namespace mrclab::job {

/// The reason of ranks that the launcher ended, as others had an error or a host was silent.
inline constexpr const char* kEndedByLauncher = "ended by the job's launcher";

/// Instants are in fabric time, hosts are numbers.
struct JobTurn {
  uint32_t attempt = 0;  ///< that ended
  uint32_t reporter =
      0;  ///< the host whose report came first, or that did not answer when it was asked
  FabricTime reported = FabricTime::never();
  FabricTime ended = FabricTime::never();  ///< every host has answered, or is taken as lost
  std::vector<uint32_t> lost;              ///< hosts
  uint32_t next = 0;                       ///< the attempt in which the job goes on; 0: it has none
  FabricTime begun = FabricTime::never();  ///< all its ranks were ready, and told to begin
  uint32_t from_step = 0;                  ///< where they begin
  std::vector<uint32_t> hosts;             ///< of `next`, by rank
  std::string gave_up;                     ///< why there is none
  bool operator==(const JobTurn&) const = default;
};

/// What happened to the hosts of a job so far: the launcher sends it on, and every host places the ranks by it alike.
struct JobLosses {
  std::map<uint32_t, uint32_t>
      replaced;                ///< rank by the spare that has it, a place in OnError::spares
  std::set<uint32_t> dropped;  ///< replicas that left

  /// By rank.
  std::vector<uint32_t> hosts(const JobSpec& spec) const;
};

}  // namespace mrclab::job
