#pragma once
// What one rank of a job receives from another: compares every byte at the instant of its arrival and hands the message
// to the rank (job_work.h).
//
// It is an application of its own, and does not stand still with its host: the comparison stands for the lab, and has to
// be over when the sender, which waits for the acknowledgement alone, writes to the slot again. JobWork hands the
// message to its rank when its host works again.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "endpoint/base/application.h"
#include "endpoint/workload/job_plan.h"
#include "endpoint/workload/job_work.h"

namespace mrclab::endpoint {

class JobInbox : public Application {
 public:
  struct Config {
    explicit Config(const JobLayout& where) : layout(where) {}
    std::shared_ptr<const JobPlan> plan;  ///< shared as in JobWork
    JobLayout layout;
    uint32_t from = 0, to = 0;  ///< ranks; of a later attempt the hosts' numbers
    std::string from_host;
    uint64_t seed = 0;  ///< as JobWork's
    std::vector<QpHandle> qps;
    ConstMemory memory;  ///< a ring for each queue pair
    std::vector<JobWork*>
        ranks;  ///< applications of the same host: one, or of a later attempt by slot
    std::shared_ptr<const std::vector<uint32_t>>
        slots;  ///< JobAttempt::slots; null in a first attempt
  };
  explicit JobInbox(Config config);

  void start(Verbs&) override {}
  void on_write_complete(Verbs&, QpHandle, uint64_t) override {}
  /// The immediate is the operation that sends: one part of its message.
  void on_receive_immediate(Verbs& verbs, QpHandle qp, uint32_t immediate) override;
  void on_wake(Verbs&) override {}
  bool stands_still() const override { return false; }
  void on_qp_error(Verbs& verbs, QpHandle qp, std::string_view reason) override;
  /// What it waits for, its rank does.
  bool finished() const override { return true; }

 private:
  struct Queue {
    uint64_t arrived = 0;      ///< parts
    uint32_t op = job::kNoOp;  ///< whose message is under way
    uint64_t part = 0;         ///< of it, that is next
  };
  bool is_from_peer(uint32_t op) const;
  /// Whose message it is.
  JobWork& receiver_of(uint32_t send) const;

  Config config_;
  std::vector<Queue> queues_;
};

}  // namespace mrclab::endpoint
