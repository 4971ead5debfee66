// Clean-up from the record: declared in bring_up.h. Order: processes, namespaces, files, and the
// record last, so that a clean-up that dies half-way can be repeated.

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "fabric/text/yaml.h"
#include "live/bringup/bring_up.h"
#include "live/bringup/process_scan.h"
#include "netio/kernel/namespace.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNamespacePrefix = "mrclab-";
/// A lab's owner tears its lab down itself when asked to; octet takes well under a second.
constexpr std::chrono::milliseconds kOwnerGrace{5000};

std::set<ino_t> inodes_of(const std::vector<std::string>& namespaces) {
  std::set<ino_t> inodes;
  for (const std::string& name : namespaces) {
    struct stat info {};
    const fs::path path = fs::path(netio::kNamespaceDirectory) / name;
    // On the file system itself (not mounted over) it is a left-over name, not a namespace.
    struct stat parent {};
    if (::stat(path.c_str(), &info) != 0 || ::stat(path.parent_path().c_str(), &parent) != 0) {
      continue;
    }
    if (info.st_dev != parent.st_dev) inodes.insert(info.st_ino);
  }
  return inodes;
}

void end_processes(const LabProcesses& processes, CleanUpReport& report) {
  for (const ProcessMark& mark : find_processes(processes)) {
    std::string problem;
    if (end_process(mark, std::chrono::milliseconds(0), problem)) ++report.processes;
    if (!problem.empty()) report.problems.push_back(problem);
  }
}

void remove_namespaces(const std::vector<std::string>& names, CleanUpReport& report) {
  for (const std::string& name : names) {
    try {
      if (netio::remove_namespace(name)) ++report.namespaces;
    } catch (const netio::SystemError& error) {
      report.problems.push_back(netio::explain(error));
    }
  }
}

/// Everything but the record, then the record, then the folder.
void remove_files(const LabPaths& paths, std::string_view lab, CleanUpReport& report) {
  const fs::path directory = paths.lab_directory(lab);
  std::error_code error;
  if (!fs::exists(fs::symlink_status(directory, error))) return;
  if (!fs::is_directory(fs::symlink_status(directory, error))) {
    report.problems.push_back(directory.string() + " is not a folder; left alone");
    return;
  }
  std::vector<fs::path> entries;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().filename() != "record.json") entries.push_back(entry.path());
  }
  entries.push_back(directory / "record.json");
  entries.push_back(directory);
  for (const fs::path& entry : entries) {
    const std::uintmax_t removed = fs::remove_all(entry, error);
    if (error) {
      report.problems.push_back("remove " + entry.string() + ": " + error.message());
    } else {
      report.files += removed;
    }
  }
}

/// A clean-up that died at its very end leaves an empty folder; anything else is not ours.
void leave_or_forget(const fs::path& folder, CleanUpReport& report) {
  if (::rmdir(folder.c_str()) == 0) {
    ++report.files;
  } else if (errno != ENOENT) {
    report.left_alone.push_back(folder);
  }
}

void forget_empty_root(const LabPaths& paths) {
  ::rmdir(paths.run_root.c_str());  // fails, as it should, while there are other labs
}

void add(CleanUpReport& total, const CleanUpReport& part) {
  total.namespaces += part.namespaces;
  total.processes += part.processes;
  total.files += part.files;
  total.problems.insert(total.problems.end(), part.problems.begin(), part.problems.end());
  total.left_alone.insert(total.left_alone.end(), part.left_alone.begin(), part.left_alone.end());
}

}  // namespace

CleanUpReport clean_up(std::string_view lab, const LabPaths& paths) {
  require_lab_name(lab);
  CleanUpReport report;
  if (!is_marked(paths, lab)) {
    leave_or_forget(paths.lab_directory(lab), report);
    forget_empty_root(paths);
    return report;
  }
  const std::optional<LabRecord> record = read_record(paths, lab);
  const bool this_boot = !record || record->boot == boot_id();
  const size_t namespaces_before = own_namespaces(paths, lab).size();
  // The owner first: while it lives it may still be building, or restarting what dies. What it removes is counted.
  if (record && this_boot && record->owner.pid != ::getpid()) {
    std::string problem;
    if (end_process(record->owner, kOwnerGrace, problem)) ++report.processes;
    if (!problem.empty()) report.problems.push_back(problem);
  }
  const std::vector<std::string> names = own_namespaces(paths, lab);
  if (this_boot) {
    LabProcesses processes;
    processes.recorded = recorded_processes(paths, lab);
    if (record) processes.instance_variable = instance_variable(record->instance);
    processes.namespaces = inodes_of(names);
    end_processes(processes, report);
  }
  remove_namespaces(names, report);
  report.namespaces = namespaces_before - std::min(namespaces_before, names.size()) +
                      report.namespaces;  // the owner's, too
  if (report.problems.empty()) remove_files(paths, lab, report);
  forget_empty_root(paths);
  return report;
}

CleanUpReport clean_up_all(const LabPaths& paths) {
  CleanUpReport total;
  for (const std::string& lab : recorded_labs(paths)) {
    try {
      add(total, clean_up(lab, paths));
    } catch (const InputError&) {  // a folder that no lab of ours can have
      total.left_alone.push_back(paths.run_root / lab);
    }
  }
  remove_unborn(paths);
  for (const std::string& name : netio::list_namespaces(kNamespacePrefix)) {
    total.left_alone.push_back("namespace " + name);
  }
  forget_empty_root(paths);
  return total;
}

}  // namespace mrclab::lab
