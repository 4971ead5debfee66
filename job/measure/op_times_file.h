#pragma once
// The times of one rank's operations as a file, which the rank writes when its run ends and which the judge reads: binary,
// because a job has millions of them.
//
//   8 bytes  "mrcopt01"              8  fingerprint of the job
//   4        rank                    8  the job's start, in fabric time
//   4        operations              8  when the rank died, or never
//   2        length of the reason, and the reason
//   24 each  begin, end (never: 2^63 - 1), begun_by, ended_by (none: 2^32 - 1), by place in JobProgram::ops_of()
//   4        CRC-32 of all before
//
// In network byte order, times in picoseconds. Those of operations count from the job's start.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "job/run/job_program.h"
#include "job/run/op_times.h"

namespace mrclab::job {

/// What a rank leaves behind.
struct RankTimes {
  uint32_t rank = 0;
  FabricTime origin;                         ///< when the job started, in fabric time
  OpTimes times;                             ///< by place in JobProgram::ops_of(rank)
  FabricTime died_at = FabricTime::never();  ///< in fabric time; never: it lived to the run's end
  std::string died;  ///< why: "queue pair 0x12 to h3: Retry Counter Exceeded"
};

inline constexpr size_t kMaxDeathText = 1024;  ///< bytes of a reason; a longer one is cut

/// The same for every program of the same job: times of another job are refused by it.
uint64_t fingerprint_of(const OpGraph& graph);

/// `rank.times` has as many elements as the rank has operations.
std::string op_times_bytes(const RankTimes& rank, const JobProgram& program);
/// Throws InputError, which begins with `name`, for what is cut, damaged, of another job, or cannot have happened: an
/// end before its begin, an operation begun by one that is later or of another rank.
RankTimes parse_op_times(std::string_view bytes, const std::string& name,
                         const JobProgram& program);

/// Writes and reads a whole file. Both throw InputError where it cannot be opened, written or read.
void write_op_times(const std::filesystem::path& file, const RankTimes& rank,
                    const JobProgram& program);
RankTimes read_op_times(const std::filesystem::path& file, const JobProgram& program);

/// The times of all ranks by operation of program.graph(), counted from the earliest start. A rank without an element
/// of `ranks` has never begun. Throws InputError for a rank twice.
OpTimes joined_times(std::span<const RankTimes> ranks, const JobProgram& program);

}  // namespace mrclab::job
