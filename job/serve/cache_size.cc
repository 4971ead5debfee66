#include "job/serve/cache_size.h"

namespace mrclab::job {
namespace {

constexpr uint64_t kDispatchGroup = 128, kDispatchScale = 4;

}  // namespace

uint64_t cache_bytes(const ModelShape& shape, const ServeModel& model) {
  const uint64_t values = shape.kv_rank > 0 ? shape.kv_rank + shape.rope_size
                                            : 2 * uint64_t{shape.kv_heads} * shape.head_size;
  return values * (model.fp8_cache ? 1 : kParameterBytes);
}

uint64_t dispatch_bytes(const ModelShape& shape, const ServeModel& model, uint64_t tokens) {
  if (!model.fp8_dispatch) return combine_bytes(shape, tokens);
  return tokens * shape.top_k * (shape.hidden + shape.hidden / kDispatchGroup * kDispatchScale);
}

uint64_t combine_bytes(const ModelShape& shape, uint64_t tokens) {
  return tokens * shape.top_k * shape.hidden * kParameterBytes;
}

FabricTime compressed(const ServeSpec& spec, FabricTime time) {
  __extension__ using Wide = __int128;
  const uint32_t layers = model_shape(spec.model.preset).layers;
  return FabricTime::from_ps(
      static_cast<int64_t>(Wide{time.ps()} * spec.model.blocks / (Wide{layers} * spec.scale)));
}

double compression(const ServeSpec& spec) {
  const double layers = model_shape(spec.model.preset).layers;
  return layers / spec.model.blocks * spec.scale;
}

}  // namespace mrclab::job
