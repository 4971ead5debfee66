#pragma once
// Real programs under libmrclab-held.so against the reference server, in a network of their own.

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/verbs/held/reference_server.h"

namespace mrclab::test {

/// A network namespace in which every management address is this machine's. Ends with the object, or with the process.
class ManagementNamespace {
 public:
  ManagementNamespace();
  ~ManagementNamespace();
  ManagementNamespace(const ManagementNamespace&) = delete;
  ManagementNamespace& operator=(const ManagementNamespace&) = delete;
  /// The calling process (a forked one) moves there.
  void enter() const;

 private:
  pid_t keeper_;
};

/// Two processes that compute for as long as it lives: what is measured anywhere is disturbed.
class Load {
 public:
  Load();
  ~Load();
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;

 private:
  std::vector<pid_t> processes_;
};

/// Can the library replace a program's reads of the counter (held/tsc/replaced_reads.h)?
bool replaces_reads();
/// Does a program that reads the counter by itself see fabric time here?
bool clocks_are_held();

struct ProgramRun {
  std::vector<std::string> outputs, errors;  ///< one of each program
  std::vector<int> codes;                    ///< as a shell has them: 128 + signal
  bool served = false;
  std::string why, history;
  std::vector<std::string> not_held;
  uint64_t requests = 0;
};

struct RunOptions {
  std::vector<std::string> environment;  ///< "NAME=value"
  uint64_t count_every_ps = 0;           ///< of registered memory
  int patience_ms = 20'000;
  std::string declared;  ///< MRCLAB_PROGRAM
  ReferenceServer::Fault fault = ReferenceServer::Fault::kNone;
  uint64_t fault_from = 0;
};

/// Runs commands, one for each host from h0 on; program i connects to the server's door i.
ProgramRun run_programs(const std::vector<std::vector<std::string>>& commands,
                        const RunOptions& options = {});
/// Of this build: the library, or one of the programs.
std::string built(const std::string& name);

}  // namespace mrclab::test
