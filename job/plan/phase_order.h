#pragma once
// The order of a step's phases in a rank: what a phase waits for, and in which order micro-batches pass a stage.

#include <cstdint>
#include <string>
#include <vector>

#include "job/plan/job_spec.h"

namespace mrclab::job {

/// Of one phase, by indices of phases.
struct PhaseWaits {
  static constexpr size_t kNone = SIZE_MAX;
  std::vector<size_t> after;
  size_t beside = kNone, with = kNone;
  bool begins_pass = false;  ///< nothing of its pass of the micro-batch comes before it
  bool ends_pass = false;    ///< the next pass in the stage waits for it
};

/// Throws InputError where a phase names one that does not exist, phases wait for each other in a circle, or a phase of
/// each micro-batch waits for what comes after all of them.
class PhaseOrder {
 public:
  explicit PhaseOrder(const std::vector<Phase>& phases);

  const PhaseWaits& waits(size_t phase) const { return waits_[phase]; }
  /// Those of once a step, before the micro-batches and after them; those of each micro-batch, by its pass.
  const std::vector<size_t>& before() const { return before_; }
  const std::vector<size_t>& behind() const { return behind_; }
  const std::vector<size_t>& in(Pass pass) const {
    return pass == Pass::kForward ? forward_ : backward_;
  }

 private:
  size_t named(size_t phase, const std::string& name) const;
  void find_waits(size_t phase);
  std::vector<size_t> predecessors(size_t phase) const;
  std::vector<size_t> sorted() const;
  void sort_into_parts();
  void mark_ends_of_passes();

  const std::vector<Phase>& phases_;
  std::vector<PhaseWaits> waits_;
  std::vector<size_t> before_, behind_, forward_, backward_;
};

/// A pass of a micro-batch through a stage, or through one of the stage's virtual ones.
struct PassTurn {
  Pass pass = Pass::kForward;
  uint32_t microbatch = 0;
  uint32_t chunk = 0;  ///< virtual stage of the rank: pp * chunk + stage of all of them
  auto operator<=>(const PassTurn&) const = default;
};

/// One forward, one backward (PipeDream-Flush; Narayanan et al., SC 21, section 2.2): `stages - 1 - stage` forward passes,
/// then one of each in turn, then the backward passes that are left.
std::vector<PassTurn> one_forward_one_backward(uint32_t stage, uint32_t stages,
                                               uint32_t microbatches);

/// The same with `chunks` virtual stages a rank, which take the micro-batches in turns of `stages` of them (Narayanan et al.,
/// section 2.2, and Megatron-LM's schedules.py, which warms up with 2 (stages - 1 - stage) + (chunks - 1) stages passes). A
/// multiple of `stages` micro-batches; one chunk is one_forward_one_backward().
std::vector<PassTurn> interleaved_turns(uint32_t stage, uint32_t stages, uint32_t microbatches,
                                        uint32_t chunks);

}  // namespace mrclab::job
