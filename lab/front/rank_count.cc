#include "lab/front/rank_count.h"

#include <stdlib.h>

#include <string_view>

namespace mrclab::lab {
namespace {

/// How many processes Open MPI's mpirun, MPICH's mpiexec and `srun --mpi` say in what they start. Slurm sets
/// its count in every job, also where one process runs alone, so it counts only beside PMIX_RANK, which srun sets.
constexpr const char* kCounts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
constexpr const char* kSlurmsCount = "SLURM_NTASKS";

}  // namespace

bool is_one_of_many() {
  for (const char* name : kCounts) {
    const char* count = ::getenv(name);
    if (count != nullptr) return std::string_view(count) != "1";
  }
  const char* const tasks = ::getenv(kSlurmsCount);
  return ::getenv("PMIX_RANK") != nullptr && tasks != nullptr && std::string_view(tasks) != "1";
}

}  // namespace mrclab::lab
