#pragma once
// Which host each rank of a job is on, from the files that launchers take.
//
//   hostfile  Open MPI's: "HOST [slots=N] [max_slots=N]" a line; ranks fill the slots of one host after the other. A host
//             that has several lines has the slots of all of them, in the place of its first. Without slots a line is one
//             rank (Open MPI counts cores, which a lab does not have).
//   rankfile  Open MPI's: "rank R=HOST slot=S" a line, in any order; each of 0 to the last rank once
//   slurm     a hostlist a line, "n[1-3,07-09],gpu-a[0-1]x[2]", a rank for each host that it names, also again (as
//             SLURM_HOSTFILE has them); or variables of a job, SLURM_JOB_NODELIST=... and SLURM_TASKS_PER_NODE=2(x3),1,
//             whose ranks fill one host after the other
//
// Anything behind a # is a comment. Errors name file and line, and nothing that stands there: whoever is shown the error
// need not be somebody who may read the file.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mrclab::job {

enum class HostFileFormat : uint8_t { kHostfile, kRankfile, kSlurm };

inline constexpr size_t kMaxHostFileBytes = size_t{1} << 20;  ///< our choice
inline constexpr size_t kMaxHostName = 253;                   ///< RFC 1035: 255 octets

/// The host that a file gives a rank, and the number of the line that does.
struct PlacedRank {
  std::string host;
  uint32_t line = 0;
  bool operator==(const PlacedRank&) const = default;
};

/// By rank. `name` stands in messages. Throws InputError for a file of another form, without ranks, or with more than
/// kMaxRanks.
std::vector<PlacedRank> read_host_file(std::string_view text, HostFileFormat format,
                                       const std::string& name);

}  // namespace mrclab::job
