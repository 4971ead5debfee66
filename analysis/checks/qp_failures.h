#pragma once
// Was the failure of a queue pair inevitable? Not while a path worked that it could have taken.
//
//   MRC   any path of the pair of hosts, there and back: it sprays over all of them
//   RC    the one that its packets show, with the T0's other choices while uplinks were down. Nor can it go
//         on if that path stood paused, or the receiver's NIC stood still: nothing else carries its packets
//
// A queue pair whose partner failed before has to fail as well.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "analysis/checks/judged_run.h"
#include "analysis/measure/outages.h"
#include "analysis/measure/pause_times.h"

namespace mrclab::analysis {

class QpFailureJudge {
 public:
  /// `run` outlives it.
  explicit QpFailureJudge(const JudgedRun& run);

  enum class Finding : uint8_t { kRightly, kWrongly, kUnknown };
  /// To be asked in order of time. kUnknown: no packet shows which transport it has.
  Finding find_reason(const QpFailure& failure);
  /// When its last retries began.
  FabricTime since(const QpFailure& failure) const;
  /// The one path that it had, if it is one of RC.
  std::optional<Path> flow_path(const QpFailure& failure) const;

 private:
  bool had_to(const QpFailure& failure, uint32_t peer) const;
  bool flow_was_dead(const QpFailure& failure, uint32_t peer, Path flow) const;
  bool stood_paused(uint32_t from, uint32_t to, Path flow, FabricTime since,
                    FabricTime until) const;

  const JudgedRun& run_;
  Outages outages_;
  PauseTimes pauses_;
  struct Remote {
    uint32_t peer;
    Qpn qp;
  };
  std::map<std::pair<uint32_t, Qpn>, Remote> remotes_;  // by host and queue pair
  std::map<std::tuple<uint32_t, uint32_t, Qpn>, EntropyValue>
      evs_;                                              // one entropy value that each flow used
  std::set<std::pair<uint32_t, uint32_t>> rightly_;      // host and peer: MRC
  std::set<std::pair<uint32_t, Qpn>> rightly_of_flows_;  // host and queue pair: RC
};

}  // namespace mrclab::analysis
