#pragma once
// Models as their configuration files have them, and what follows from their shapes. Bytes and tokens are of one
// micro-batch in one rank; a parameter has 2 bytes (BF16) but in gradients, which are summed in FP32.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "job/plan/job_groups.h"
#include "job/plan/job_spec.h"

namespace mrclab::job {

inline constexpr uint64_t kParameterBytes = 2;  ///< and of an activation: BF16

struct ModelShape {
  std::string_view name;
  uint32_t layers, hidden, ffn, heads, kv_heads, head_size, vocabulary, sequence;
  uint32_t ffn_matrices;  ///< 3: gated (SwiGLU); 2: GPT-3's
  // Of mixtures of experts; 0 experts: none.
  uint32_t experts = 0, top_k = 0, expert_ffn = 0, shared_experts = 0;
  uint32_t dense_layers = 0;  ///< the first ones, without experts
  /// Of multi-head latent attention: the ranks of the queries' and of the keys' and values' projections, and the size of
  /// the part that carries positions; 0: none.
  uint32_t query_rank = 0, kv_rank = 0, rope_size = 0;
};

/// Of the published configurations (Llama 3: arXiv 2407.21783 table 3; GPT-3: arXiv 2005.14165 table 2.1; Mixtral,
/// DeepSeek-V3 and Qwen3: their config.json). The first of them is the smallest.
const std::vector<ModelShape>& model_shapes();
/// Throws InputError for a name that is none.
const ModelShape& model_shape(const std::string& name);

/// Parameters of a layer, without its experts, and of its experts together; of the embeddings, in and out.
uint64_t attention_parameters(const ModelShape& shape);
uint64_t expert_parameters(const ModelShape& shape);
uint64_t layer_parameters(const ModelShape& shape);
/// Of the whole model, experts included.
uint64_t parameters(const ModelShape& shape);
/// Of those the ones that a token goes through.
uint64_t active_parameters(const ModelShape& shape);

/// How a model lies on the ranks of a job.
struct ModelLayout {
  uint32_t tp = 1, cp = 1, ep = 1, pp = 1, dp = 1;
  static ModelLayout of(const JobGroups& groups);
};

/// What a rank computes and exchanges for one layer and micro-batch. Sizes are those of nccl-tests.
struct LayerCost {
  uint64_t forward_flops =
      0;  ///< 2 for each parameter and token; backward twice of it (Kaplan et al., 2020: 6 P T)
  uint64_t tensor_bytes = 0;  ///< of each of the two all-reduces of a pass: 2 b s h (Megatron-LM)
  uint64_t context_bytes =
      0;  ///< all-gather of keys and values of all cp ranks: 2 * 2 b s kv_heads d (Llama 3)
  uint64_t dispatch_bytes =
      0;  ///< tokens to experts: T k h, and in FP8 a scale for each 128 (DeepEP)
  uint64_t combine_bytes = 0;   ///< and back: 2 T k h
  uint64_t boundary_bytes = 0;  ///< between stages: 2 b s h / tp, with sequence parallelism
  uint64_t dense_parameters = 0,
           expert_parameters = 0;  ///< of the rank's shard, embeddings spread over all layers
};
LayerCost layer_cost(const ModelShape& shape, const ModelSpec& spec, const ModelLayout& layout);

}  // namespace mrclab::job
