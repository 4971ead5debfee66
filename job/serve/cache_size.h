#pragma once
// What a token leaves in the cache of keys and values, and what it sends to experts, by model.

#include <cstdint>

#include "job/plan/model_shape.h"
#include "job/serve/serve_spec.h"

namespace mrclab::job {

/// Bytes of one token in one layer: keys and values of all kv heads, 2 * kv_heads * head_size values; of multi-head latent
/// attention the compressed vector and the part with the position, kv_rank + rope_size values (DeepSeek-V2,
/// arXiv 2405.04434, section 2.1). A value has 2 bytes, or 1 in FP8. Of all layers: Llama 3 70B 320 KiB.
uint64_t cache_bytes(const ModelShape& shape, const ServeModel& model);

/// Bytes of the vector of an all-to-all in which `tokens` of a rank go to their experts, top_k each: 2 a value, or in FP8 1
/// and a scale of 4 for each 128 (DeepEP, low_latency_dispatch).
uint64_t dispatch_bytes(const ModelShape& shape, const ServeModel& model, uint64_t tokens);
/// And back, always in BF16 (DeepEP, low_latency_combine).
uint64_t combine_bytes(const ModelShape& shape, uint64_t tokens);

/// `time` of the service as a run has it: by spec.scale, and by the share of layers that it runs.
FabricTime compressed(const ServeSpec& spec, FabricTime time);
/// How many times as long the service takes.
double compression(const ServeSpec& spec);

}  // namespace mrclab::job
