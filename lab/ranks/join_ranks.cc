#include "lab/ranks/join_ranks.h"

#include <dlfcn.h>

#include <filesystem>
#include <stdexcept>
#include <string>

#include "lab/front/rank_count.h"

namespace mrclab::lab {
namespace {

/// MPI takes 20 ms to load and much of the system with it, so it is in a module that is opened only
/// by a process that mpirun has started.
constexpr const char* kModule = "mrclab-mpi.so";

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
