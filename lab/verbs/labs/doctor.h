#pragma once
// `doctor`: tries what the lab needs of a machine, in a child process inside namespaces of its own,
// and prints the cure for what is missing. Nothing is left behind.

#include <string>
#include <string_view>
#include <vector>

namespace mrclab::lab {

struct Diagnosis {
  enum class Finding { kOk, kMissing, kLimited };  ///< limited: works, but less well
  std::string what;
  Finding finding = Finding::kOk;
  std::string detail;  ///< what was found
  std::string advice;  ///< what to do, empty when ok
};

/// Everything, in the order of its importance.
std::vector<Diagnosis> examine_machine();

/// Prints one line for each diagnosis, and a summary. 0: all that is needed is there; 2: it takes
/// root to look; 3: something is missing.
int doctor_command(bool as_json);
/// The summary. `all_there`: nothing that is needed is missing; `limited`:
/// how many findings limit labs.
std::string_view doctor_summary(bool all_there, size_t limited);

}  // namespace mrclab::lab
