#pragma once
// What a program in a host needs so that it uses our verbs: one rule for `exec`, `shell`, the `exec:` of a scenario and the
// simulated world.
//
//   LD_LIBRARY_PATH     begins with the folder of our libibverbs.so.1 and libmrc.so
//   LD_PRELOAD          held: begins with libmrclab-held.so
//   MRCLAB_VERBS        the socket of the host's daemon
//   MRCLAB_MGMT         the host's own management address, MRCLAB_MGMT_<host> of every host
//   MRCLAB_PROGRAM      held: the file name of the program that is held; a shell around it is not
//   MRCLAB_VERBS_SEND   "emulated", where that was asked for

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/topology/topology.h"

namespace mrclab::lab {

using Environment = std::vector<std::pair<std::string, std::string>>;

struct RdmaProgram {
  uint32_t host = 0;
  bool held = false;
  std::string program = {};    ///< MRCLAB_PROGRAM; empty: whichever of the command's comes first
  bool send_emulated = false;  ///< SEND by Write-with-Immediate, on MRC
  /// MRCLAB_VERBS; empty: as in every host of a live lab.
  std::filesystem::path socket = {};
};

/// Beside this program: rdma/, if it has libibverbs.so.1. Empty where it was not built.
std::optional<std::filesystem::path> rdma_libraries();
/// Why there is none, and what builds it.
inline constexpr const char* kNoRdmaLibraries =
    "found no RDMA libraries beside this program: expected rdma/libibverbs.so.1, which `ninja mrclab-rdma` "
    "builds where libibverbs-dev is installed";

inline constexpr const char* kNoHeldLibrary =
    "found no libmrclab-held.so among the RDMA libraries: expected what `ninja mrclab-rdma` builds";

/// The variables, to be added to the environment that there is: paths of the user's stay behind ours. Throws InputError where
/// a held program's library is missing.
Environment rdma_environment(const Topology& topology, const RdmaProgram& program,
                             const std::filesystem::path& libraries);

/// The file name of the program that a command line for sh -c is about, behind env, timeout, sh -c and their like: what
/// /proc/<pid>/exe will name. Empty if that cannot be told, as of a shell's pipeline.
std::string program_of_line(const std::string& line);

/// What this process becomes has its addresses always at the same places (ADDR_NO_RANDOMIZE): part of what a held program
/// prints. Throws SystemError.
void fix_addresses();

}  // namespace mrclab::lab
