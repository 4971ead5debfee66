#pragma once
// A job on a network without loss, queues or limits but a rank's own rate: the roofline.

#include "job/run/job_program.h"
#include "job/run/op_times.h"

namespace mrclab::job {

struct IdealNetwork {
  BitRate
      rate;  ///< of a rank, out; messages leave one after the other in the order in which they may
  FabricTime latency;  ///< one way
};

/// When each operation began and ended. A send ends when its acknowledgement is back.
OpTimes ideal_times(const JobProgram& program, const IdealNetwork& network);

}  // namespace mrclab::job
