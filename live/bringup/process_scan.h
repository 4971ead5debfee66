#pragma once
// Finds and ends processes of a lab that have no owner any more. Identity is checked on a pidfd, so
// a reused pid is never hit.

#include <sys/types.h>

#include <chrono>
#include <set>
#include <string>
#include <vector>

#include "live/bringup/lab_record.h"

namespace mrclab::lab {

/// The marks by which a process is known to belong to a lab.
struct LabProcesses {
  std::vector<ProcessMark> recorded;
  std::string instance_variable;  ///< "MRCLAB_INSTANCE=..."; empty if the record is lost
  std::set<ino_t> namespaces;     ///< inodes of the lab's network namespaces
};

/// Running processes that are recorded, or carry the instance in their environment, or run one of
/// our programs inside one of the lab's namespaces. Never this process itself.
std::vector<ProcessMark> find_processes(const LabProcesses& lab);

/// SIGTERM first if `grace` is positive, SIGKILL after it; returns when it is gone. False if it
/// was gone before, or is not ended by SIGKILL within some seconds (with the reason in `problem`).
bool end_process(const ProcessMark& mark, std::chrono::milliseconds grace, std::string& problem);

}  // namespace mrclab::lab
