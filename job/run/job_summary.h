#pragma once
// What a job computes and exchanges, and how long it takes on an ideal network.

#include <map>
#include <string>
#include <vector>

#include "job/graph/op_graph.h"
#include "job/run/ideal_run.h"

namespace mrclab::job {

/// Equal collectives, or messages between ranks, together.
struct ExchangeCount {
  std::string what;    ///< "all_reduce of 2 ranks", "messages"
  uint64_t count = 0;  ///< collectives, each counted once for all its ranks; messages
  uint64_t bytes = 0;  ///< of their vectors together; of messages what is sent
};

/// Collectives whose time on an ideal network is more than a tenth the way that their rounds take one after the other,
/// which no rate makes shorter and no scale shrinks: what they show of a fabric's rate is little.
struct LatencyBound {
  std::string what;  ///< "all_reduce of 4 ranks, 65536 B"
  uint64_t count = 0;
  uint32_t rounds = 0;  ///< that wait for each other
  double share = 0;     ///< of its time, from 0 to 1
};
inline constexpr double kLatencyBoundShare = 0.1;
inline constexpr size_t kMaxLatencyBound = 4;  ///< lines, the largest shares first

struct JobSummary {
  uint32_t ranks = 0;
  uint64_t operations = 0, messages = 0;  ///< of the job; those that collectives become counted in
  FabricTime most_computing, least_computing;  ///< of a rank
  uint64_t most_sent = 0;                      ///< bytes of a rank, to other hosts
  std::vector<ExchangeCount> exchanges;        ///< the most bytes first
  std::vector<LatencyBound> latency_bound;     ///< at most kMaxLatencyBound
  IdealNetwork network;
  FabricTime ideal;                           ///< to the end of the last operation
  FabricTime computing, exchanging, waiting;  ///< the critical path in parts, which sum to `ideal`
};

/// `job` has passed check_graph(). Throws InputError where its messages are too many.
JobSummary summary_of(const OpGraph& job, const IdealNetwork& network, const RankSites& sites = {});
std::string to_text(const JobSummary& summary);

}  // namespace mrclab::job
