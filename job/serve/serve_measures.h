#pragma once
// When each request of a run had its tokens, and what of it was the fabric's.
//
//   computed      the prompt's last computation has ended
//   cached        all messages of its keys and values have arrived
//   first token   the end of the first iteration that begins in its decode rank when it is cached and the batch has room;
//                 of several that wait, in the order of their caches' arrival
//   last token    of the iteration as many further on as its answer has tokens behind the first
//
// ttft = queue + prompt + transfer + wait + iteration, which sum to it exactly; the fabric's part is transfer, and of the
// iteration what it did not compute. tpot is the mean of the tokens behind the first; the fabric's part what their iterations
// did not compute. Where layers go as soon as they are computed, what of the cache's way lies beside computing is in no part.

#include <cstdint>
#include <string>
#include <vector>

#include "job/measure/op_spans.h"
#include "job/run/job_program.h"
#include "job/run/op_times.h"
#include "job/serve/serve_plan.h"

namespace mrclab::job {

/// Instants count from the job's start; never(): not in this run.
struct RequestMeasure {
  FabricTime begun = FabricTime::never();  ///< its prompt
  FabricTime computed = FabricTime::never();
  FabricTime cached = FabricTime::never();
  FabricTime joined = FabricTime::never();  ///< its first iteration began
  FabricTime first_token = FabricTime::never();
  FabricTime last_token = FabricTime::never();
  uint32_t tokens = 0;         ///< that came
  FabricTime first_computing;  ///< of the first iteration in its rank
  FabricTime later_computing;  ///< of the iterations of the tokens behind it that came

  /// Only where first_token is known.
  FabricTime fabric_ttft() const {
    return cached - computed + first_token - joined - first_computing;
  }
  /// Only where last_token is known; zero of an answer of one token.
  FabricTime fabric_tpot() const {
    return tokens > 1 ? (last_token - first_token - later_computing) / (int64_t{tokens} - 1)
                      : FabricTime::zero();
  }
};

/// Messages of one kind: how long from when a rank posts one until it is whole at the other. Where its receiver took it up
/// only later, the acknowledgement's arrival counts, which is later than the message's by its way back.
struct MessageTimesOfGroup {
  std::string group;              ///< "kv", "ep"
  uint64_t open = 0;              ///< posted, and neither arrived nor acknowledged
  uint64_t bytes = 0;             ///< that arrived
  std::vector<FabricTime> times;  ///< of those that arrived, ascending
  /// By nearest rank; zero of none.
  FabricTime at_thousandth(size_t thousandths) const {
    if (times.empty()) return {};
    return times[(times.size() * thousandths + 999) / 1000 - 1];
  }
};

struct ServeMeasures {
  std::vector<RequestMeasure> requests;       ///< by ServePlan::requests
  std::vector<MessageTimesOfGroup> messages;  ///< in the order of PlannedJob::labels
};

/// `program` is made of `job.graph`, `times` are by operation of program.graph().
ServeMeasures measure_serve(const PlannedJob& job, const ServePlan& plan, const JobProgram& program,
                            const OpTimes& times);

}  // namespace mrclab::job
