#pragma once
// What NCCL writes with NCCL_DEBUG=INFO and NCCL_DEBUG_SUBSYS=INIT,GRAPH,COLL, of one process or of several behind each
// other. A line is "HOST:PID:TID [DEVICE] NCCL INFO text"; others of a job's log are skipped.
//
//   comm 0x55d4 rank 3 nranks 8 cudaDev 3 busId 1b000 commId 0x9c1f - Init COMPLETE
//   Channel 00/02 : 0 1 2 3 4 5 6 7                  the ring of a communicator, by its rank 0
//   Channel 00/0 : 3[3] -> 4[0] [send] via NET/IB/0/GDRDMA        likewise via P2P/IPC or SHM
//   Ring 00 : 2 -> 3 -> 4, and Trees [0] 4/-1/-1->3->2
//   2 coll channels, ...
//   AllReduce: opCount 1f sendbuff 0x7f recvbuff 0x7f count 4096 datatype 7 op 0 root 0 comm 0x55d4 [nranks=8] stream 0x5
//
// A device of a process is a rank of the job: its number is the one in the largest communicator. The log has no times: an
// exchange waits for the one before it in its rank. Counts of all_gather, reduce_scatter and all_to_all are of one rank's
// part, and become what OpGraph counts.

#include <string>
#include <string_view>
#include <vector>

#include "job/import/measured_job.h"

namespace mrclab::job {

/// Does it look like such a log?
bool is_nccl_log(std::string_view text);

struct NcclLog {
  std::vector<MeasuredRank> ranks;  ///< in order
  /// What the log has beside exchanges: rings, trees, channels, hosts, and by what way ranks are connected.
  std::vector<std::string> notes;
};
/// Throws InputError, which begins with `name`:line.
NcclLog read_nccl_log(std::string_view text, const std::string& name);

}  // namespace mrclab::job
