#pragma once
// What one twin's run came to, as its process returns it to the one that compares them.

#include <optional>
#include <string>
#include <vector>

#include "fabric/base/units.h"
#include "job/measure/intervals.h"
#include "lab/twin/attribution.h"
#include "lab/twin/twin_losses.h"
#include "lab/twin/twin_steps.h"

namespace mrclab::lab {

/// The digest of all packet records before an instant.
struct PrefixDigest {
  FabricTime until;
  std::string sha256;
  bool operator==(const PrefixDigest&) const = default;
};

/// When the operations of a job began and ended, by operation of its graph.
struct JobSpans {
  size_t work = 0;                 ///< the job's place in TwinMeasure::works
  std::vector<job::Interval> ops;  ///< in fabric time; never(): not. Empty: see kMaxTwinSpans
  bool operator==(const JobSpans&) const = default;
};
/// Operations of all jobs together; of more none is measured (our choice: some megabytes for each run).
inline constexpr size_t kMaxTwinSpans = 50'000;

struct TwinMeasure {
  FaultSet set = kNoFaults;
  std::optional<FabricTime>
      done;         ///< when its last piece of work had ended; empty: not all had by the end
  Bytes delivered;  ///< new payload that hosts had in their memory at the end
  uint32_t qps_failed = 0;
  std::string died;  ///< of a job that died: which, and why; empty: none did
  std::vector<WorkSteps> works;
  std::vector<JobSpans> jobs;          ///< of jobs, in the order of the workload
  std::vector<PrefixDigest> prefixes;  ///< ascending
  std::string history_sha256;
  std::vector<FaultToll> tolls;  ///< by fault; of the run with all faults alone
  std::string folder;            ///< its run folder; empty: none was asked for
  bool operator==(const TwinMeasure&) const = default;
};

std::string to_text(const TwinMeasure& measure);
/// The inverse. Throws InputError for any other text.
TwinMeasure measure_of_text(const std::string& text);

}  // namespace mrclab::lab
