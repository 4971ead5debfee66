#pragma once
// The `serve:` entry of a scenario's workload as a value. Read and written by serve_keys.h, made into a job by plan_serve.h.
//
//   - serve:
//       name: chat
//       model: {preset: mixtral-8x7b, blocks: 2}
//       prefill: {hosts: "h[0-3]", token: 100us}             # a rank needs so long for a token of a prompt
//       decode: {hosts: "h[4-7]", step: 20ms, batch: 16, ep: 4}
//       requests: {rate: 8/s, count: 32, input: 1024, output: 16}
//       kv: layers                                           # of each layer as soon as it is computed; or: whole
//       scale: 1/20
//       objective: {ttft: 450ms, tpot: 40ms}
//
// Times, rates and bytes are those of the service. A run has them all compressed alike, by `scale` and by the layers that
// are left out (ServeSpec::compressed()), requests' arrivals among them, so that loads stay what they are.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::job {

inline constexpr uint32_t kMaxRequests = 100'000;
inline constexpr uint32_t kMaxTokens = 2'097'152;  ///< of a prompt, or of an answer
inline constexpr uint32_t kMaxServeBatch = 4096;
inline constexpr uint32_t kMaxSpareIterations = 10'000;
inline constexpr uint32_t kMaxServeScale = 1'000'000;
inline constexpr uint64_t kMaxMilliRate =
    1'000'000'000;  ///< requests in 1,000 s: a million a second

/// Files of requests to services of others (request_trace.h).
enum class RequestFormat : uint8_t { kAzure, kMooncake, kBurstGpt, kVidur };

/// Requests as a Poisson process has them, all alike or drawn.
struct DrawnRequests {
  uint64_t milli_rate = 0;  ///< requests in 1,000 s
  uint32_t count = 0;
  uint32_t input = 1024;  ///< tokens of a prompt, on average
  uint32_t output = 16;   ///< tokens of an answer, the first among them, on average
  /// Each prompt and answer is longer or shorter by up to this, evenly.
  Probability spread;
  bool operator==(const DrawnRequests&) const = default;
};

/// Requests of a file, from its first on.
struct TracedRequests {
  std::string file;  ///< absolute, or as the process finds it
  std::optional<RequestFormat> format;
  uint32_t at_most = 1000;      ///< requests
  uint32_t faster = 1;          ///< they come so many times as fast as in the file
  uint32_t input_at_most = 0;   ///< tokens; longer prompts are cut; 0: none is
  uint32_t output_at_most = 0;  ///< likewise
  bool operator==(const TracedRequests&) const = default;
};

/// What of the model decides about sizes.
struct ServeModel {
  std::string preset;         ///< plan/model_shape.h
  uint32_t blocks = 2;        ///< layers that are run; the rest is left out
  bool fp8_cache = false;     ///< keys and values have one byte, not two
  bool fp8_dispatch = false;  ///< tokens go to experts in 8 bits
  bool operator==(const ServeModel&) const = default;
};

struct PrefillPool {
  std::vector<uint32_t> hosts;  ///< host numbers
  FabricTime token;             ///< that a rank computes for one token of a prompt, all layers
  bool operator==(const PrefillPool&) const = default;
};

struct DecodePool {
  std::vector<uint32_t> hosts;
  FabricTime step;  ///< that a rank computes for one token of all requests of its batch, all layers
  uint32_t batch = 16;  ///< requests of a rank at once
  uint32_t ep = 1;      ///< ranks that share the experts; 1: each has all of them
  uint32_t spare = 32;  ///< iterations beyond those that are needed without a fault
  bool operator==(const DecodePool&) const = default;
};

/// A request is within it when it keeps both.
struct ServeObjective {
  FabricTime ttft;  ///< time to the first token, from the request's arrival
  FabricTime tpot;  ///< mean time of each token behind the first
  bool operator==(const ServeObjective&) const = default;
};

struct ServeSpec {
  std::string name = "serve";
  ServeModel model;
  PrefillPool prefill;
  DecodePool decode;
  std::optional<DrawnRequests> drawn;  ///< one of these two
  std::optional<TracedRequests> traced;
  bool kv_by_layer = true;
  uint32_t scale = 1;
  Probability jitter;  ///< of each computation: longer or shorter by up to this
  std::optional<ServeObjective> objective;
  bool operator==(const ServeSpec&) const = default;

  uint32_t ranks() const {
    return static_cast<uint32_t>(prefill.hosts.size() + decode.hosts.size());
  }
  /// Rank 0 is the first of prefill; those of decode follow.
  std::vector<uint32_t> hosts() const {
    std::vector<uint32_t> all = prefill.hosts;
    all.insert(all.end(), decode.hosts.begin(), decode.hosts.end());
    return all;
  }
};

}  // namespace mrclab::job
