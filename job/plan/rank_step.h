#pragma once
// One step of one rank: its phases as operations, in the order in which the rank issues them.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "job/plan/job_groups.h"
#include "job/plan/job_spec.h"
#include "job/plan/phase_order.h"
#include "job/plan/planned_job.h"

namespace mrclab::job {

/// What all steps of all ranks share.
struct StepPlan {
  const JobSpec& spec;
  const std::vector<Phase>& phases;
  const PhaseOrder& order;
  JobGroups& groups;
  uint64_t seed = 0;
  std::vector<uint32_t>
      parts_of;  ///< by phase: pieces that its computing is cut into, for what goes beside it
  std::vector<bool> is_passed_on;  ///< by phase: sent from stage to stage, for the next one's pass
  /// What a phase of each micro-batch states is divided by, in each of a rank's virtual stages: their number, or 1 where it
  /// states one of them.
  uint32_t divisor = 1;
};

class RankStep {
 public:
  /// The step's operations begin behind `before`, the end of the rank's step before; none: at once.
  RankStep(StepPlan& plan, PlannedJob& job, uint32_t rank, uint32_t step,
           std::vector<Dependency> before);

  /// Adds them all; the operation that ends the step, behind all others of it.
  uint32_t add();

 private:
  using Waits = std::vector<Dependency>;
  /// A phase, or what a micro-batch made of it.
  struct Done {
    Waits waits;                ///< what it waited for
    Waits ends;                 ///< what whoever waits for it waits for
    std::vector<Waits> pieces;  ///< of computing: the end of each
  };

  uint32_t add_checkpoint(uint32_t behind);
  void add_once(const std::vector<size_t>& phases);
  void add_turns();
  void add_turn(const PassTurn& turn);

  /// A micro-batch in one of the rank's virtual stages.
  struct Unit {
    uint32_t microbatch = 0, chunk = 0;
  };
  /// Units of a phase by the order in which they come in its pass: by chunk, and in it by micro-batch.
  uint32_t key_of(size_t phase, const Unit& unit) const;
  bool is_last(size_t phase, const Unit& unit) const;
  uint32_t divisor_of(size_t phase) const {
    return plan_.phases[phase].each_microbatch ? plan_.divisor : 1;
  }
  Waits waits_of(size_t phase, const Waits& gate, const Unit& unit) const;
  const Done& done(size_t phase, const Unit& unit) const;
  const Done& last_done(size_t phase) const;  ///< of the unit that came last
  void add_phase(size_t phase, const Waits& gate, const Unit& unit);
  void add_work(const ComputeWork& work, size_t phase, Done& made, const Unit& unit);
  void add_work(const ExchangeWork& work, size_t phase, Done& made, const Unit& unit);
  void add_work(const SendWork& work, size_t phase, Done& made, const Unit& unit);
  /// One piece of a collective of these ranks.
  Waits add_exchange(const ExchangeWork& work, size_t phase, const std::vector<uint32_t>& ranks,
                     uint64_t bytes, const Waits& waits, const Unit& unit);
  Waits add_sends(const SendWork& work, size_t phase, const Waits& waits, const Unit& unit);
  Waits add_receives(const SendWork& work, size_t phase, const Waits& waits, const Unit& unit);
  /// Its end of each of the phase's messages, where the rank has that neighbour.
  Waits add_messages(OpKind kind, const SendWork& work, size_t phase, const Waits& waits,
                     const Unit& unit);
  /// Whom a message of a virtual stage goes to, or comes from: the chain of all of them goes round the ranks.
  uint32_t peer_in_chain(OpKind kind, const SendWork& work, size_t phase, uint32_t chunk) const;
  uint32_t add_op(Op op, size_t label, Waits waits);
  uint64_t scaled(Bytes size) const;

  StepPlan& plan_;
  PlannedJob& job_;
  const uint32_t rank_, step_;
  const Waits before_;
  uint32_t computed_ = 0;  ///< operations, for the draws of their jitter
  Waits gate_;             ///< the end of the pass before
  std::map<std::string, Waits>
      lane_ends_;  ///< by group: a rank's collectives of one follow each other
  std::vector<std::map<uint32_t, Done>> done_;  ///< by phase and key_of(), 0 for what comes once
};

/// Is the job saved at the end of this step?
inline bool is_saved(const JobSpec& spec, uint32_t step) {
  return spec.checkpoint && (step + 1) % spec.checkpoint->every == 0;
}

/// The neighbours of a rank in its group; kAnyPeer: none.
struct Neighbours {
  uint32_t to = kAnyPeer, from = kAnyPeer;
};
Neighbours neighbours_of(const NamedGroups& groups, uint32_t rank, Direction direction);

}  // namespace mrclab::job
