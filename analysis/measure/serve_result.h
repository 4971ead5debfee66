#pragma once
// What a service made of its requests in a run, as plain values: lab/ measures them from the times that the ranks report.
// Instants are of the run.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::analysis {

/// A request, from its arrival to the last token of its answer. What has not come by the run's end is never().
struct ServedRequest {
  FabricTime arrival;
  uint32_t input = 0, output = 0;  ///< tokens of the prompt, and of the whole answer
  uint32_t prefill_rank = 0, decode_rank = 0;
  uint64_t cache_bytes = 0;                   ///< of keys and values, from one to the other
  FabricTime computed = FabricTime::never();  ///< its prompt is
  FabricTime cached = FabricTime::never();    ///< its cache is in the decode rank
  FabricTime first_token = FabricTime::never();
  FabricTime last_token = FabricTime::never();
  uint32_t tokens = 0;  ///< that have come
  /// Of the time to the first token: the cache's way behind the end of the prompt, and the exchanges of the first iteration.
  /// Of the time of each token behind it: what their iterations did not compute. Zero until they have come.
  FabricTime fabric_ttft, fabric_tpot;

  bool begun() const { return first_token != FabricTime::never(); }
  bool served() const { return last_token != FabricTime::never(); }
  FabricTime ttft() const { return first_token - arrival; }  ///< Only where begun().
  /// The mean of the tokens behind the first; zero of an answer of one token. Only where served().
  FabricTime tpot() const {
    return output > 1 ? (last_token - first_token) / (int64_t{output} - 1) : FabricTime::zero();
  }
};

/// How long messages of one kind took: from when a rank posts one to when it is whole at the other.
struct MessageSpread {
  std::string group;               ///< "kv", "ep"
  uint64_t count = 0, open = 0;    ///< of those that were posted
  uint64_t bytes = 0;              ///< of those that arrived
  FabricTime p50, p99, p999, max;  ///< of those that arrived, by nearest rank
};

struct RequestObjective {
  FabricTime ttft, tpot;
};

struct ServeResult {
  std::vector<ServedRequest> requests;  ///< by arrival
  uint32_t prefill_ranks = 0, decode_ranks = 0;
  std::optional<RequestObjective> objective = std::nullopt;
  std::vector<MessageSpread> messages;
  double compression = 1;  ///< the service itself takes so many times as long
  FabricTime end;          ///< of the run: what is open has taken the time until then

  size_t served() const {
    return static_cast<size_t>(std::count_if(requests.begin(), requests.end(),
                                             [](const ServedRequest& r) { return r.served(); }));
  }
};

}  // namespace mrclab::analysis
