#include "job/plan/model_shape.h"

#include <algorithm>

#include "fabric/text/input_error.h"
#include "fabric/text/yaml.h"

namespace mrclab::job {
namespace {

constexpr uint64_t kFp8Group =
    128;  ///< values that share a scale of 4 bytes (DeepSeek-V3 section 3.3.2)
constexpr uint64_t kScaleBytes = 4;

}  // namespace

const std::vector<ModelShape>& model_shapes() {
  static const std::vector<ModelShape> kShapes{{.name = "llama3-8b",
                                                .layers = 32,
                                                .hidden = 4096,
                                                .ffn = 14336,
                                                .heads = 32,
                                                .kv_heads = 8,
                                                .head_size = 128,
                                                .vocabulary = 128256,
                                                .sequence = 8192,
                                                .ffn_matrices = 3},
                                               {.name = "llama3-70b",
                                                .layers = 80,
                                                .hidden = 8192,
                                                .ffn = 28672,
                                                .heads = 64,
                                                .kv_heads = 8,
                                                .head_size = 128,
                                                .vocabulary = 128256,
                                                .sequence = 8192,
                                                .ffn_matrices = 3},
                                               {.name = "llama3-405b",
                                                .layers = 126,
                                                .hidden = 16384,
                                                .ffn = 53248,
                                                .heads = 128,
                                                .kv_heads = 8,
                                                .head_size = 128,
                                                .vocabulary = 128256,
                                                .sequence = 8192,
                                                .ffn_matrices = 3},
                                               {.name = "gpt3-175b",
                                                .layers = 96,
                                                .hidden = 12288,
                                                .ffn = 49152,
                                                .heads = 96,
                                                .kv_heads = 96,
                                                .head_size = 128,
                                                .vocabulary = 50257,
                                                .sequence = 2048,
                                                .ffn_matrices = 2},
                                               {.name = "mixtral-8x7b",
                                                .layers = 32,
                                                .hidden = 4096,
                                                .ffn = 14336,
                                                .heads = 32,
                                                .kv_heads = 8,
                                                .head_size = 128,
                                                .vocabulary = 32000,
                                                .sequence = 32768,
                                                .ffn_matrices = 3,
                                                .experts = 8,
                                                .top_k = 2,
                                                .expert_ffn = 14336},
                                               {.name = "deepseek-v3",
                                                .layers = 61,
                                                .hidden = 7168,
                                                .ffn = 18432,
                                                .heads = 128,
                                                .kv_heads = 128,
                                                .head_size = 128,
                                                .vocabulary = 129280,
                                                .sequence = 4096,
                                                .ffn_matrices = 3,
                                                .experts = 256,
                                                .top_k = 8,
                                                .expert_ffn = 2048,
                                                .shared_experts = 1,
                                                .dense_layers = 3,
                                                .query_rank = 1536,
                                                .kv_rank = 512,
                                                .rope_size = 64},
                                               {.name = "qwen3-235b",
                                                .layers = 94,
                                                .hidden = 4096,
                                                .ffn = 12288,
                                                .heads = 64,
                                                .kv_heads = 4,
                                                .head_size = 128,
                                                .vocabulary = 151936,
                                                .sequence = 4096,
                                                .ffn_matrices = 3,
                                                .experts = 128,
                                                .top_k = 8,
                                                .expert_ffn = 1536}};
  return kShapes;
}

const ModelShape& model_shape(const std::string& name) {
  std::vector<std::string> names;
  for (const ModelShape& shape : model_shapes()) {
    if (shape.name == name) return shape;
    names.emplace_back(shape.name);
  }
  throw InputError("the model " + in_quotes(name) + ": expected " + one_of(name, names));
}

uint64_t attention_parameters(const ModelShape& shape) {
  const uint64_t hidden = shape.hidden, all_heads = uint64_t{shape.heads} * shape.head_size;
  if (shape.kv_rank == 0) {
    return 2 * hidden * all_heads + 2 * hidden * shape.kv_heads * shape.head_size;
  }
  const uint64_t with_rope = uint64_t{shape.heads} * (shape.head_size + shape.rope_size);
  const uint64_t queries = hidden * shape.query_rank + shape.query_rank * with_rope;
  const uint64_t keys = hidden * (shape.kv_rank + shape.rope_size) + shape.kv_rank * 2 * all_heads;
  return queries + keys + hidden * all_heads;
}

uint64_t expert_parameters(const ModelShape& shape) {
  return uint64_t{shape.experts} * shape.ffn_matrices * shape.hidden * shape.expert_ffn;
}

uint64_t layer_parameters(const ModelShape& shape) {
  const uint64_t matrices = uint64_t{shape.ffn_matrices} * shape.hidden;
  if (shape.experts == 0) return attention_parameters(shape) + matrices * shape.ffn;
  // What routes tokens is not counted: hidden * experts.
  return attention_parameters(shape) + matrices * shape.expert_ffn * shape.shared_experts;
}

namespace {

/// Of the layers alone that have no experts in a model that has some, and of the embeddings.
uint64_t parameters_beside(const ModelShape& shape) {
  const uint64_t embeddings = 2 * uint64_t{shape.vocabulary} * shape.hidden;
  const uint64_t more = uint64_t{shape.ffn_matrices} * shape.hidden * shape.ffn;
  const uint64_t shared =
      uint64_t{shape.ffn_matrices} * shape.hidden * shape.expert_ffn * shape.shared_experts;
  return embeddings + shape.dense_layers * (more - std::min(more, shared));
}

}  // namespace

uint64_t parameters(const ModelShape& shape) {
  return shape.layers * layer_parameters(shape) + parameters_beside(shape) +
         (shape.layers - shape.dense_layers) * expert_parameters(shape);
}

uint64_t active_parameters(const ModelShape& shape) {
  const uint64_t used =
      shape.experts == 0 ? 0 : expert_parameters(shape) / shape.experts * shape.top_k;
  return shape.layers * layer_parameters(shape) + parameters_beside(shape) +
         (shape.layers - shape.dense_layers) * used;
}

ModelLayout ModelLayout::of(const JobGroups& groups) {
  return {groups.size_of("tp"), groups.size_of("cp"), groups.size_of("ep"), groups.size_of("pp"),
          groups.size_of("dp")};
}

LayerCost layer_cost(const ModelShape& shape, const ModelSpec& spec, const ModelLayout& layout) {
  const uint64_t sequence = spec.sequence == 0 ? shape.sequence : spec.sequence;
  const uint64_t tokens = std::max<uint64_t>(1, sequence * spec.batch / layout.cp);
  const uint64_t activations = kParameterBytes * tokens * shape.hidden;
  LayerCost cost;
  cost.forward_flops = 2 * (active_parameters(shape) / shape.layers / layout.tp) * tokens;
  if (layout.tp > 1) cost.tensor_bytes = activations;
  if (layout.cp > 1) {
    const uint64_t kept = shape.kv_rank > 0
                              ? shape.kv_rank + shape.rope_size
                              : 2 * uint64_t{shape.kv_heads} * shape.head_size / layout.tp;
    cost.context_bytes = kParameterBytes * tokens * layout.cp * kept;
  }
  if (layout.pp > 1) cost.boundary_bytes = activations / layout.tp;
  if (shape.experts > 0 && layout.ep > 1) {
    const uint64_t routed = tokens * shape.top_k / layout.tp;
    const uint64_t narrow = shape.hidden + shape.hidden / kFp8Group * kScaleBytes;
    cost.combine_bytes = routed * shape.hidden * kParameterBytes;
    cost.dispatch_bytes = spec.fp8_dispatch ? routed * narrow : cost.combine_bytes;
  }
  const uint64_t dense = shape.layers * layer_parameters(shape) + parameters_beside(shape);
  cost.dense_parameters = dense / shape.layers / layout.tp;
  cost.expert_parameters = (shape.layers - shape.dense_layers) * expert_parameters(shape) /
                           shape.layers / layout.tp / layout.ep;
  return cost;
}

}  // namespace mrclab::job
