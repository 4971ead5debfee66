#pragma once
// The phases of a training step of a model, for a job that names one in place of phases.
//
//   once             params: all-gather of what a stage computes with (ZeRO; not of DDP)
//   each micro-batch f0, f1 ...: forward through a layer, with what tensor, context and expert parallelism exchange;
//                    acts: to the next stage; b1, b0 ...: backward, twice as long; acts-back: to the stage before
//   once             g1, g0 ...: gradients of a layer, as soon as its last micro-batch is through
//
// With `zero: parameters` (ZeRO-3, FSDP) no rank has a whole layer of its own: f0-gather, b0-gather ... all-gather it before
// each pass, `prefetch` layers ahead of the one that computes, and b0-scatter ... reduce-scatter its gradients behind each
// backward pass, beside what comes next.
//
// A stage runs `blocks` of its layers, each with the sizes and the times of one; the note states how many it has. Of
// several virtual stages a rank each runs its share of `blocks`, and the phases are those of one.

#include <string>
#include <vector>

#include "job/plan/job_spec.h"

namespace mrclab::job {

struct ModelPhases {
  std::vector<Phase> phases;
  std::vector<std::string> notes;
};

/// Throws InputError where the model does not fit the groups.
ModelPhases model_phases(const JobSpec& spec);

}  // namespace mrclab::job
