#pragma once
// What a run of a job came to, as plain values: lab/ measures them from the times that the ranks
// report, and the judge reads nothing else of the job.
// Instants are of the run. Ranks and steps count from 0.

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/measure/serve_result.h"
#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab::analysis {

/// Time that went to the exchanges of one group.
struct GroupTime {
  std::string group;  ///< "dp", "tp", "all"
  FabricTime time;
};

/// A step of all ranks: from the end of those before it to the end of its last operation. `compute`, `exposed` and
/// `bubble` are means over the ranks, and sum to time().
struct JobStep {
  FabricTime begin;
  FabricTime end = FabricTime::never();  ///< never: it is open
  FabricTime compute;
  FabricTime exposed;  ///< nothing was computed, and data of the rank's own was under way
  FabricTime bubble;   ///< neither
  std::vector<GroupTime> exposed_by = {};  ///< where two groups exchange at once, both have it
  FabricTime ideal;                        ///< on a network without loss or queues; zero: not known
  uint32_t slowest = 0;                    ///< the rank that computed longest for it
  FabricTime slowest_compute, median_compute;         ///< over the ranks that compute for it
  std::optional<uint32_t> waited_for = std::nullopt;  ///< the rank that others waited for longest
  FabricTime waited;                                  ///< by all of them together
  uint64_t bytes = 0;                                 ///< that its messages carry
  std::optional<uint64_t> lost = std::nullopt;  ///< packets of the job, meanwhile; empty: not known
  std::vector<uint32_t> faults = {};  ///< those that were on, by their place in the schedule

  bool ended() const { return end != FabricTime::never(); }
  FabricTime time() const { return end - begin; }  ///< Only where ended().
};

/// What the end of the job waited for, taken together: parts sum to the time of the whole.
struct JobPathPart {
  std::string what;  ///< "compute", "exchange dp", "wait for rank 3", "idle"
  FabricTime time;
};

struct JobDeath {
  uint32_t rank = 0;
  std::string reason;  ///< "Retry Counter Exceeded"
  FabricTime at;
};

/// An attempt of a job that ended with an error, and how it went on.
struct JobTurn {
  JobDeath death;                              ///< the first of the attempt
  FabricTime reported = FabricTime::never();   ///< to the job's launcher
  FabricTime all_ended = FabricTime::never();  ///< every host has answered the launcher, or is lost
  std::vector<std::string> lost;               ///< hosts
  FabricTime begun = FabricTime::never();      ///< the next attempt; never: there is none
  uint32_t from_step = 0, ranks = 0;           ///< of the attempt that the launcher began
  std::string gave_up;                         ///< why there is none, where that is known
  // What it cost, where the job went on.
  uint32_t steps_repeated = 0;  ///< had ended, and were run once more
  FabricTime time_lost;         ///< from the end of the last step that counts until it went on
  FabricTime rank_time_lost;    ///< the same of all ranks together

  bool went_on() const { return begun != FabricTime::never(); }
};

inline constexpr size_t kMaxJobOps = 20'000;  ///< that are drawn of a job

/// An operation of a rank, to be drawn.
struct JobOp {
  uint32_t rank = 0;
  uint32_t step = 0;
  FabricTime begin, end;  ///< end never: it did not
  std::string group;      ///< empty: it computed
};

struct JobResult {
  std::string name;
  std::vector<std::string> ranks;   ///< the host of each
  std::vector<std::string> groups;  ///< between whose ranks anything is exchanged
  /// Its queue pairs' ends, as (host number, queue pair).
  std::vector<std::pair<uint32_t, Qpn>> queue_pairs;
  uint32_t planned = 0;        ///< steps
  uint32_t warmup = 0;         ///< the first steps, which averages leave out
  std::vector<JobStep> steps;  ///< those that have begun
  FabricTime begin;
  std::optional<FabricTime> done = std::nullopt;  ///< its last operation ended; empty: it did not
  FabricTime ideal;                               ///< from begin to end; zero: not known
  std::vector<JobPathPart> path;
  std::optional<JobDeath> died = std::nullopt;  ///< and did not go on
  std::vector<JobTurn> turns = {};              ///< attempts that ended with an error
  std::vector<std::string> notes = {};          ///< what was made of it beside what its entry says
  std::string missing;          ///< why the times of some rank are not known; empty: they are
  std::vector<JobOp> ops = {};  ///< at most kMaxJobOps
  uint64_t ops_left_out = 0;    ///< beyond these
  std::optional<ServeResult> serve = std::nullopt;  ///< of a service

  size_t steps_done() const {
    return static_cast<size_t>(
        std::count_if(steps.begin(), steps.end(), [](const JobStep& s) { return s.ended(); }));
  }
  /// "h3 (rank 3)"
  std::string rank_name(uint32_t rank) const {
    const std::string number = "rank " + std::to_string(rank);
    return rank < ranks.size() ? ranks[rank] + " (" + number + ")" : number;
  }
};

}  // namespace mrclab::analysis
