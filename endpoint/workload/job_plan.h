#pragma once
// A job as hosts run it: what all of them share. A pair of ranks of which one sends to the other has a connection, unless
// they are on one host.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/base/units.h"
#include "job/plan/planned_job.h"
#include "job/run/job_program.h"
#include "job/serve/serve_plan.h"

namespace mrclab::endpoint {

/// Ranks of which one sends to the other.
struct JobPair {
  uint32_t from = 0, to = 0;
  uint32_t slot = 0;  ///< in a pair of hosts: the place of the sending rank among its host's ranks
  Bytes largest;      ///< message between them
  uint64_t messages = 0;  ///< at least 1
};

struct JobPlan {
  /// Throws InputError where the job becomes more messages than job/graph/message_graph.h allows.
  explicit JobPlan(job::PlannedJob job);
  explicit JobPlan(job::PlannedService service);

  job::PlannedJob planned;
  std::optional<job::ServePlan> serve;  ///< of a service
  job::JobProgram program;
  std::vector<JobPair> pairs;  ///< ascending: by `from`, then by `to`

  /// In which step an operation of `program` is.
  uint32_t step_of(uint32_t op) const { return planned.step_of[program.messages().origin[op]]; }
};

/// Where the messages of one queue pair of a job go: a ring of slots at the receiver, and as many to send from. A message
/// is in as many slots as it needs, one after the other, each a Write-with-Immediate.
///
/// A slot is free as soon as its write is acknowledged: the receiver compares what is in it at the instant of its arrival,
/// for the lab and not for the job (job_inbox.h), so that nobody reads it later. The job itself is taken to have room for
/// all that is sent to it, as a library that sends without asking (eager) does: no credits hold a sender up that
/// the job's own operations do not.
class JobLayout {
 public:
  /// `in_flight`: bytes of one queue pair that the path has room for.
  JobLayout(const JobPair& pair, Bytes in_flight) {
    const uint64_t most = std::max(kSlotBytes, in_flight.value / (kMaxSlots - 1));
    slot_ = round_up(std::min(std::max<uint64_t>(pair.largest.value, 1), most));
    const uint64_t parts = (std::max<uint64_t>(pair.largest.value, 1) + slot_ - 1) / slot_;
    slots_ = static_cast<uint32_t>(
        parts >= kMaxSlots ? kMaxSlots : std::min<uint64_t>(kMaxSlots, parts * pair.messages));
  }

  uint32_t slots() const { return slots_; }
  uint64_t slot_bytes() const { return slot_; }
  /// Of one queue pair.
  uint64_t ring_bytes() const { return slot_ * slots_; }
  /// Where the `number`-th part of all messages of queue pair `queue` lies.
  uint64_t offset(uint32_t queue, uint64_t number) const {
    return queue * ring_bytes() + number % slots_ * slot_;
  }
  /// A message of no bytes goes as one byte: something has to arrive.
  static uint64_t length_of(uint64_t bytes) { return std::max<uint64_t>(bytes, 1); }
  uint64_t parts_of(uint64_t bytes) const { return (length_of(bytes) + slot_ - 1) / slot_; }
  uint64_t part_bytes(uint64_t bytes, uint64_t part) const {
    return std::min(slot_, length_of(bytes) - part * slot_);
  }

 private:
  static constexpr uint64_t kSlotBytes = 256 * 1024;
  /// Half of MAX_WIMM's default, as each part has an immediate.
  static constexpr uint64_t kMaxSlots = 16;
  static constexpr uint64_t round_up(uint64_t bytes) { return (bytes + 7) / 8 * 8; }

  uint64_t slot_ = 0;
  uint32_t slots_ = 0;
};

}  // namespace mrclab::endpoint
