#pragma once
// Which packets a fault took from which queue pairs, in the run with all faults: those that were lost on its wires while
// it lasted (analysis/verdict/story_losses.h), and the answers to them (answer_losses.h), for which their sender waits as
// long as for a packet.

#include <string>
#include <vector>

#include "analysis/history/fault_span.h"
#include "analysis/history/packet_history.h"
#include "lab/twin/frame_watch.h"
#include "lab/twin/twin_steps.h"
#include "scenario/spec/queue_pairs.h"

namespace mrclab::lab {

/// Packets of one queue pair, and SACKs, NACKs, ACKs and probes of it.
struct QueuePairLosses {
  uint32_t from = 0, to = 0;  ///< host numbers, of data
  Qpn qp;                     ///< of the receiver, as its packets name it
  uint64_t packets = 0, answers = 0;
  bool operator==(const QueuePairLosses&) const = default;
};

/// What was lost while a step went on.
struct StepLosses {
  size_t work = 0, step = 0;  ///< places in the list of works, and among its steps
  uint64_t packets = 0, answers = 0, queue_pairs = 0;
  bool operator==(const StepLosses&) const = default;
};

struct FaultToll {
  uint64_t packets = 0, answers = 0, queue_pairs = 0;
  std::vector<QueuePairLosses> most;  ///< at most kMaxListed, those that lost most first
  std::vector<StepLosses> by_step;    ///< at most kMaxListed, in the order of works and steps
  static constexpr size_t kMaxListed = 64;
  bool operator==(const FaultToll&) const = default;
};

/// What a run lost.
struct RunLosses {
  const analysis::PacketHistory& packets;
  const std::vector<LostAnswer>& answers;
  const std::vector<QueuePairEnd>& queue_pairs;  ///< of the scenario
};

/// By group of faults, each by its places in `faults`. `works` are those of the same run. Of a run with more losses than
/// kMaxLossesTold the first ones count, of answers the first FrameWatch::kMaxSeen.
std::vector<FaultToll> fault_tolls(const Topology& topology, const RunLosses& run,
                                   const std::vector<analysis::FaultSpan>& faults,
                                   const std::vector<std::vector<size_t>>& groups,
                                   const std::vector<WorkSteps>& works);

}  // namespace mrclab::lab
