#include "lab/ranks/join_ranks.h"

#include <dlfcn.h>
#include <stdlib.h>

#include <filesystem>
#include <stdexcept>
#include <string>

namespace mrclab::lab {
namespace {

/// MPI takes 20 ms to load and much of the system with it, so it is in a module that is opened only
/// by a process that mpirun has started.
constexpr const char* kModule = "mrclab-mpi.so";

/// Variables in which Open MPI's mpirun, MPICH's mpiexec and `srun --mpi` pass the number of processes. Slurm sets
/// its count in every job, also where one process runs alone, so it counts only beside PMIX_RANK, which srun sets.
constexpr const char* kCounts[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"};
constexpr const char* kSlurmsCount = "SLURM_NTASKS";

bool is_one_of_many() {
  for (const char* name : kCounts) {
    const char* count = ::getenv(name);
    if (count != nullptr) return std::string(count) != "1";
  }
  const char* const tasks = ::getenv(kSlurmsCount);
  return ::getenv("PMIX_RANK") != nullptr && tasks != nullptr && std::string(tasks) != "1";
}

}  // namespace

std::unique_ptr<RankLink> join_ranks() {
  if (!is_one_of_many()) return nullptr;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  const std::filesystem::path module = program.parent_path() / kModule;
  if (!std::filesystem::exists(module)) {
    throw std::runtime_error(
        "it was started by mpirun, but this build has no MPI: install libopenmpi-dev and "
        "openmpi-bin, and build it again");
  }
  // RTLD_GLOBAL: the components that Open MPI opens find its symbols there.
  void* const opened = ::dlopen(module.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (opened == nullptr) throw std::runtime_error(std::string("cannot use MPI: ") + ::dlerror());
  using Open = RankLink* (*)();
  const auto open = reinterpret_cast<Open>(::dlsym(opened, "mrclab_open_mpi_ranks"));
  if (open == nullptr) throw std::runtime_error(std::string("cannot use MPI: ") + ::dlerror());
  std::unique_ptr<RankLink> ranks(open());
  // Each would be rank 0 of its own, and all would run the same.
  if (ranks->count() == 1) {
    throw std::runtime_error(
        "it was started as one of several processes, but not by the mpirun of the MPI that it was "
        "built with");
  }
  return ranks;
}

}  // namespace mrclab::lab
