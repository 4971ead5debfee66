#pragma once
// Workloads of SimAI and AICB (the text format of ASTRA-sim 1.0): one line a layer with computing and communication of its
// forward pass, of the gradients of its input and of its weights.
//
//   HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 1 pp: 1 ga: 1 all_gpus: 16
//   2
//   name -1  fwd-ns COMM bytes  input-ns COMM bytes  weight-ns COMM bytes  update-ns
//
// COMM is NONE, or ALLREDUCE, ALLGATHER, REDUCESCATTER, ALLTOALL, each with _EP or _DP_EP for another group than its
// column's: tensor-parallel forward and for gradients of the input, data-parallel for those of weights. One step goes
// as ASTRA-sim goes: forward layer by layer, each waiting for its communication; backward from the last layer, where the
// communication of weights goes on beside what follows, until the same layer's next forward pass needs it.

#include <string>
#include <string_view>

#include "job/import/trace.h"

namespace mrclab::job {

/// `name` stands in messages. Throws InputError. `options.ranks`, else the file's all_gpus, says how many ranks there are.
Trace read_simai(std::string_view text, const std::string& name, const TraceOptions& options);

}  // namespace mrclab::job
