#pragma once
// The judge's inputs beside captures: the hosts' own reports and the
// timing of the run. Both go into the verdict; the judge checks the hosts' reports against the captures.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab::analysis {

/// One host's account of the writes of one of its queue pairs. Messages that are neither completed
/// nor failed are still on their way.
struct QueueReport {
  Qpn qp;
  Qpn remote;                 ///< where its data goes
  uint32_t peer = 0;          ///< host number
  uint64_t posted = 0;        ///< messages that were accepted
  uint64_t completed = 0;     ///< reported as done
  uint64_t failed = 0;        ///< reported as failed
  uint64_t out_of_order = 0;  ///< reported in another order than that of posting
  bool in_error = false;
};

/// One end of a connection, by the plan of the run: which names of queue pairs belong together.
struct QueuePairName {
  uint32_t host = 0;  ///< host number
  Qpn qp;
  uint32_t peer = 0;  ///< host number
  Qpn remote;         ///< the peer's queue pair: destination QPN in packets of `host`
  bool roce = false;  ///< RC's, which keeps to one path; else MRC's
};

/// Memory that peers may write to.
struct MemoryRegion {
  uint32_t host = 0;  ///< host number
  uint32_t rkey = 0;
  uint64_t va = 0;
  Bytes size;
};

/// One host's report at the end of a run.
struct HostReport {
  std::string host;  ///< "h3"
  uint32_t qps = 0;  ///< with those that have ended
  uint32_t qps_in_error = 0;
  uint64_t bytes_verified = 0;     ///< bytes that arrived here and were compared with what is right
  uint64_t bytes_wrong = 0;        ///< verified bytes that differ from what is right
  uint64_t access_violations = 0;  ///< writes refused by rkey or bounds, which must not happen
  std::string error;               ///< first error in words, if any
  uint64_t bytes_placed = 0;       ///< payload that it counts as new in its memory
  std::vector<QueueReport> queues = {};
};

struct HostReports {
  std::vector<HostReport> hosts;
};

/// Carried: the packets carry fabric time, exact. Wall: kernel timestamps decide, honest but not
/// exact.
enum class TimingMode : uint8_t { kCarried, kWall };

/// How the pace of a live run was at one instant, and why. `lab_ns` counts from the start of time.
struct PacePoint {
  FabricTime t;
  int64_t lab_ns = 0;
  double dilation = 0;              ///< achieved since the point before; 0: no process moved on
  std::optional<int64_t> slack_ns;  ///< least since the point before; empty: no frame came
  std::string slack_of;             ///< the process that had it
  int64_t behind_ns = 0;            ///< fabric time from the slowest process to the clock
  std::string slowest, waited_for;  ///< that process, and the one that kept it waiting
};

/// The timing block of verdict.json.
struct TimingReport {
  TimingMode mode = TimingMode::kCarried;
  bool faithful = true;
  uint64_t late_frames = 0;
  uint64_t gaps = 0;
  int64_t min_slack_ns = 0;  ///< lab nanoseconds between arrival in the process and need
  double dilation_min = 0, dilation_mean = 0, dilation_max = 0;  ///< lab seconds per fabric second
  /// Jumps of the clock over stretches in which nothing happened.
  uint64_t jumps = 0;
  /// Times that the clock began to wait for the slowest process.
  uint64_t holds = 0;
  std::vector<PacePoint> pace;       ///< over fabric time; empty in the simulated world
  std::vector<std::string> reasons;  ///< when not faithful: which process and why
  /// Events that make a run inconclusive in either mode: acts on the lab that are not in its
  /// scenario, and processes without a report. Each of them is among the reasons as well.
  std::vector<std::string> disturbances = {};

  /// Can the run be judged? It must be undisturbed, and in carried time also faithful.
  bool sound() const { return disturbances.empty() && (mode == TimingMode::kWall || faithful); }
};

}  // namespace mrclab::analysis
