#pragma once
// Ownership: what a lab has in the kernel is written down before it is created, so that
// clean-up can remove what is ours and nothing else, without the topology file and after any crash.
//
//   /run/mrclab/<lab>/record.json   lab, instance, boot id, owner pid and start time, node names;
//                                   written once, atomically, before the first namespace
//   /run/mrclab/<lab>/namespaces    one line per namespace: boot id, the kernel's number of it
//                                   (NetworkNamespace::cookie), name; written before it has the name
//   /run/mrclab/<lab>/processes     one line per child process: pid, start time, program
//
// Everything else in a folder with one of the first two (control socket, clock page,
// configurations, hosts file) is ours too. A namespace is ours if it has the number that is written
// down: what others name as we would is theirs.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

namespace mrclab::lab {

/// Where records live. Passed in, so that a test can work on a tree of its own; all other callers
/// use the default.
struct LabPaths {
  std::filesystem::path run_root = "/run/mrclab";
  std::filesystem::path lab_directory(std::string_view lab) const { return run_root / lab; }
};

/// A process, distinct from a later one with the same pid: pid and start time (clock ticks
/// since boot, field 22 of /proc/<pid>/stat).
struct ProcessMark {
  pid_t pid = 0;
  uint64_t start_time = 0;
  std::string program;
  bool operator==(const ProcessMark&) const = default;
};

/// Start time of a running process; empty if there is none (or it is a zombie).
std::optional<uint64_t> process_start_time(pid_t pid);
/// Has the process died, though the kernel is still taking it apart? Its pipes may be closed by then, so
/// others notice its end before process_start_time() does.
bool is_exiting(pid_t pid);
ProcessMark mark_of(pid_t pid, std::string program);
/// Still the same process, and running?
bool is_running(const ProcessMark& mark);
std::string boot_id();
/// For LabRecord::instance; its low half is never 0.
uint64_t random_instance();

struct LabRecord {
  std::string lab;
  std::string fabric;     ///< the fabric's name, for `ls`
  uint64_t instance = 0;  ///< random: distinguishes two labs of the same name
  std::string boot;       ///< /proc/sys/kernel/random/boot_id
  ProcessMark owner;
  std::vector<std::string> nodes;
  bool operator==(const LabRecord&) const = default;
};

/// "mrclab-<lab>-<node>": also the name under /run/netns.
std::string namespace_name(std::string_view lab, std::string_view node);
/// A lab name is 1-32 characters of a-z, 0-9 and '_', starting with a letter: no '-' and no '.', so
/// that the names of two labs' namespaces can never run into each other. Throws InputError.
void require_lab_name(std::string_view lab);

/// Makes the lab's folder and writes its record, atomically: of two labs of the same name that
/// start at once exactly one gets it. Throws InputError if the lab is up already, or if there are
/// leftovers of one that crashed (the message has the cure).
void create_record(const LabPaths& paths, const LabRecord& record);
/// Until its record is whole a lab's folder is /run/mrclab/.<lab>.<pid>, so that the folder of a lab always has a
/// record and a second lab of that name is refused with the name of its holder. Removes the folders of processes that died
/// before.
void remove_unborn(const LabPaths& paths);
/// Empty if there is no record or it cannot be read as one.
std::optional<LabRecord> read_record(const LabPaths& paths, std::string_view lab);
/// Names of all labs with a folder, sorted.
std::vector<std::string> recorded_labs(const LabPaths& paths);
/// Adds a namespace, to be called before it has its name.
void record_namespace(const LabPaths& paths, std::string_view lab, const std::string& name,
                      uint64_t cookie);
/// The names that were recorded and are still those of this lab's namespaces, or are left of them
/// without a namespace. Throws SystemError.
std::vector<std::string> own_namespaces(const LabPaths& paths, std::string_view lab);
/// Has the folder been made by us: has it a record, or a list of namespaces?
bool is_marked(const LabPaths& paths, std::string_view lab);
/// Adds a child process, to be called as soon as its pid is known.
void record_process(const LabPaths& paths, std::string_view lab, const ProcessMark& process);
std::vector<ProcessMark> recorded_processes(const LabPaths& paths, std::string_view lab);

/// What every process of a lab has in its environment, so that it can be recognised even when its
/// parent died between starting it and writing it down: MRCLAB_INSTANCE=<16 hex digits>.
std::string instance_variable(uint64_t instance);

/// "up", "crashed" (its owner died) or "stale" (from before the last boot).
std::string state_of(const LabRecord& record);

}  // namespace mrclab::lab
