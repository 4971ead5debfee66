#pragma once
// When the operations of a job (not its messages) began and ended, and since when each has had all that it needs from
// other ranks.

#include <cstdint>
#include <string>
#include <vector>

#include "job/plan/planned_job.h"
#include "job/run/job_program.h"
#include "job/run/op_times.h"

namespace mrclab::job {

inline constexpr uint32_t kNoInstance = 0xFFFF'FFFF;

/// Of one operation of the job. Instants that never came are never().
struct OpSpan {
  FabricTime begin = FabricTime::never();
  FabricTime end = FabricTime::never();
  /// Of a receive: its send has begun, too; of a collective: all ranks of the group have; of others: begin. At most end.
  FabricTime active = FabricTime::never();
  uint32_t last_rank = 0;           ///< whose beginning `active` is
  uint32_t instance = kNoInstance;  ///< of a collective: in OpSpans::collectives
};

/// One collective, of all ranks of its group.
struct CollectiveSpan {
  uint32_t op = 0;    ///< one of its operations, the first of the job
  FabricTime joined;  ///< all ranks have begun; never(): they have not
  FabricTime end;     ///< of the last rank; never(): one has not ended
  uint32_t last_rank = 0;
};

struct OpSpans {
  std::vector<OpSpan> ops;  ///< by operation of the job
  std::vector<CollectiveSpan> collectives;
  FabricTime horizon;  ///< the last instant at which anything began or ended
};

/// `program` is made of `plan.graph`, `times` are by operation of program.graph().
OpSpans op_spans(const PlannedJob& plan, const JobProgram& program, const OpTimes& times);

/// The word that carries to another rank that an operation has ended (graph/message_graph.h), which is no part of it.
bool is_notice(const Op& message);

/// The group of what an operation exchanges: its label's; without one the group of a collective, "messages" for a send
/// or receive. Empty for computing.
std::string exchange_group(const PlannedJob& plan, uint32_t op);
/// The same of a message, by its place in program.graph(): words are of group "words".
std::string message_group(const PlannedJob& plan, const JobProgram& program, uint32_t message);

/// Does the operation of the job compute: take its rank's lane and time?
bool computes(const Op& op);
/// Is it a collective within a node (plan/node_time.h): time without messages, in no lane?
bool is_within_node(const Op& op);
/// Does it compute nothing and take time or messages?
inline bool exchanges(const Op& op) { return op.kind != OpKind::kCompute || is_within_node(op); }

}  // namespace mrclab::job
