#include "live/bringup/lab_record.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "fabric/text/input_file.h"
#include "fabric/text/json_text.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"
#include "netio/kernel/namespace.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/fresh_file.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kMaxLabName = 32;
constexpr size_t kMaxRecordBytes = 1 << 20;

[[noreturn]] void throw_errno(const std::string& attempt) {
  const int error = errno;
  throw netio::SystemError(
      attempt, error,
      error == EROFS ? "labs are recorded there: mount /run so that it can be written" : "");
}

std::string read_small_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return read_at_most(in, kMaxRecordBytes);
}

/// The folder of a lab until its record is in it.
fs::path unborn(const LabPaths& paths, const std::string& lab) {
  return paths.run_root / ("." + lab + "." + std::to_string(::getpid()));
}

json to_json(const LabRecord& record) {
  return json{{"lab", record.lab},
              {"fabric", record.fabric},
              {"instance", record.instance},
              {"boot", record.boot},
              {"owner",
               {{"pid", record.owner.pid},
                {"start_time", record.owner.start_time},
                {"program", record.owner.program}}},
              {"nodes", record.nodes}};
}

LabRecord from_json(const json& value) {
  LabRecord record;
  record.lab = value.at("lab").get<std::string>();
  record.fabric = value.at("fabric").get<std::string>();
  record.instance = value.at("instance").get<uint64_t>();
  record.boot = value.at("boot").get<std::string>();
  record.owner = {value.at("owner").at("pid").get<pid_t>(),
                  value.at("owner").at("start_time").get<uint64_t>(),
                  value.at("owner").at("program").get<std::string>()};
  record.nodes = value.at("nodes").get<std::vector<std::string>>();
  record.fabric = visible(record.fabric);
  for (std::string& node : record.nodes) node = visible(node);
  return record;
}

std::string why_taken(const LabPaths& paths, const std::string& lab) {
  const std::optional<LabRecord> record = read_record(paths, lab);
  const std::string down = "'mrclab down " + lab + "'";
  if (record && record->boot == boot_id() && is_running(record->owner)) {
    return "lab '" + lab + "' is up already (process " + std::to_string(record->owner.pid) +
           "); take it down with " + down + " or choose another --name";
  }
  return "lab '" + lab + "' was left behind by a process that died; " + down + " removes it";
}

/// A number of /proc/<pid>/stat, counted from 1 and behind the third; empty for a zombie or no process.
std::optional<uint64_t> stat_number(pid_t pid, int wanted) {
  const std::string stat = read_small_file("/proc/" + std::to_string(pid) + "/stat");
  const size_t behind_name = stat.rfind(')');  // the name itself may contain anything
  if (behind_name == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(behind_name + 1));
  std::string field;
  fields >> field;  // field 3, the state
  if (field == "Z" || field == "X") return std::nullopt;
  for (int number = 4; number <= wanted; ++number) fields >> field;
  uint64_t value = 0;
  for (const char digit : field) {
    if (digit < '0' || digit > '9') return std::nullopt;
    value = value * 10 + static_cast<uint64_t>(digit - '0');
  }
  return value;
}

/// By one write, so that it is there whole or not at all.
void append_line(const fs::path& file, const std::string& text) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd < 0) throw_errno("open " + file.string());
  const std::string line = text + "\n";
  const ssize_t written = ::write(fd, line.data(), line.size());
  const int error = written < 0 ? errno : ENOSPC;
  ::close(fd);
  if (written != static_cast<ssize_t>(line.size())) {
    errno = error;
    throw_errno("write " + file.string());
  }
}

struct NamespaceMark {
  std::string boot;
  uint64_t cookie = 0;
  std::string name;
};

fs::path namespaces_file(const LabPaths& paths, std::string_view lab) {
  return paths.lab_directory(lab) / "namespaces";
}

/// Lines that name no namespace of the lab are left out, whoever wrote them.
std::vector<NamespaceMark> recorded_namespaces(const LabPaths& paths, std::string_view lab) {
  std::istringstream in(read_small_file(namespaces_file(paths, lab)));
  std::vector<NamespaceMark> marks;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    NamespaceMark mark;
    const bool whole = bool(fields >> mark.boot >> mark.cookie >> mark.name);
    if (whole && mark.cookie != 0 && mark.name.starts_with(namespace_name(lab, "")) &&
        mark.name.find('/') == std::string::npos) {
      marks.push_back(std::move(mark));
    }
  }
  return marks;
}

}  // namespace

std::optional<uint64_t> process_start_time(pid_t pid) { return stat_number(pid, 22); }

bool is_exiting(pid_t pid) {
  constexpr uint64_t kExiting = 4;  // PF_EXITING of include/linux/sched.h
  return (stat_number(pid, 9).value_or(0) & kExiting) != 0;
}

ProcessMark mark_of(pid_t pid, std::string program) {
  return {pid, process_start_time(pid).value_or(0), std::move(program)};
}

bool is_running(const ProcessMark& mark) {
  return mark.pid > 0 && mark.start_time != 0 && process_start_time(mark.pid) == mark.start_time;
}

std::string boot_id() {
  std::string id = read_small_file("/proc/sys/kernel/random/boot_id");
  while (!id.empty() && id.back() == '\n') id.pop_back();
  return id;
}

uint64_t random_instance() {
  std::random_device device;
  uint64_t instance = 0;
  while (static_cast<uint32_t>(instance) == 0) {
    instance = uint64_t{device()} << 32 | device();
  }
  return instance;
}

std::string namespace_name(std::string_view lab, std::string_view node) {
  return "mrclab-" + std::string(lab) + "-" + std::string(node);
}

void require_lab_name(std::string_view lab) {
  const auto allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  const bool good = !lab.empty() && lab.size() <= kMaxLabName && lab[0] >= 'a' && lab[0] <= 'z' &&
                    std::all_of(lab.begin(), lab.end(), allowed);
  if (good) return;
  std::string why;
  if (lab.find('-') != std::string_view::npos) {
    why = "; a '-' would run into the node's name in 'mrclab-<lab>-<node>'";
  }
  throw InputError("'" + std::string(lab) +
                   "' cannot be the name of a lab; expected 1 to 32 characters of a-z, 0-9 and "
                   "'_', starting with a letter" +
                   why);
}

void create_record(const LabPaths& paths, const LabRecord& record) {
  require_lab_name(record.lab);
  std::error_code ignored;
  fs::create_directories(paths.run_root.parent_path(), ignored);
  const fs::path directory = paths.lab_directory(record.lab), fresh = unborn(paths, record.lab);
  fs::remove_all(fresh, ignored);  // an earlier process with this pid may have left it
  // Twice, because a clean-up may take the empty root away between the two calls.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (::mkdir(paths.run_root.c_str(), 0755) != 0 && errno != EEXIST) {
      throw_errno("make folder " + paths.run_root.string());
    }
    if (::mkdir(fresh.c_str(), 0755) == 0) break;
    if (errno != ENOENT || attempt == 1) throw_errno("make folder " + fresh.string());
  }
  try {
    netio::write_file(fresh / "record.json", to_json(record).dump(1) + "\n");
    if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, directory.c_str(), RENAME_NOREPLACE) != 0) {
      if (errno == EEXIST) throw InputError(why_taken(paths, record.lab));
      throw_errno("make folder " + directory.string());
    }
  } catch (...) {
    fs::remove_all(fresh, ignored);
    throw;
  }
}

namespace {

/// Removes a folder if all that is in it is what create_record() makes there.
void remove_if_unborn(const fs::path& folder) {
  std::error_code ignored;
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename();
    const bool ours = name == "record.json" || name.starts_with(netio::kFreshFilePrefix);
    if (!ours || !entry.is_regular_file(ignored) || entry.is_symlink(ignored)) return;
    files.push_back(entry.path());
  }
  for (const fs::path& file : files) fs::remove(file, ignored);
  ::rmdir(folder.c_str());
}

}  // namespace

void remove_unborn(const LabPaths& paths) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(paths.run_root, ignored)) {
    const std::string name = entry.path().filename();
    const size_t dot = name.rfind('.');
    if (name.front() != '.' || dot == 0) continue;
    const pid_t maker = std::atoi(name.c_str() + dot + 1);
    const bool gone = !process_start_time(maker) || is_exiting(maker);
    if (maker > 0 && gone) remove_if_unborn(entry.path());
  }
}

std::optional<LabRecord> read_record(const LabPaths& paths, std::string_view lab) {
  const auto value = parse_json<json>(read_small_file(paths.lab_directory(lab) / "record.json"));
  if (value.is_discarded()) return std::nullopt;
  try {
    LabRecord record = from_json(value);
    if (record.lab != lab) return std::nullopt;
    return record;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::vector<std::string> recorded_labs(const LabPaths& paths) {
  std::vector<std::string> labs;
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(paths.run_root, ignored)) {
    const std::string name = entry.path().filename();
    if (name.front() != '.' && entry.is_directory(ignored)) labs.push_back(name);
  }
  std::sort(labs.begin(), labs.end());
  return labs;
}

void record_process(const LabPaths& paths, std::string_view lab, const ProcessMark& process) {
  append_line(paths.lab_directory(lab) / "processes", std::to_string(process.pid) + " " +
                                                          std::to_string(process.start_time) + " " +
                                                          process.program);
}

void record_namespace(const LabPaths& paths, std::string_view lab, const std::string& name,
                      uint64_t cookie) {
  append_line(namespaces_file(paths, lab), boot_id() + " " + std::to_string(cookie) + " " + name);
}

std::vector<std::string> own_namespaces(const LabPaths& paths, std::string_view lab) {
  std::set<std::string> names;
  for (const NamespaceMark& mark : recorded_namespaces(paths, lab)) {
    const std::optional<uint64_t> cookie = netio::cookie_of_name(mark.name);
    // Numbers begin anew when the machine boots, and no namespace outlives that.
    const bool same = cookie == mark.cookie && mark.boot == boot_id();
    if (cookie == 0 || same) names.insert(mark.name);
  }
  return {names.begin(), names.end()};
}

bool is_marked(const LabPaths& paths, std::string_view lab) {
  return read_record(paths, lab).has_value() || !recorded_namespaces(paths, lab).empty();
}

std::vector<ProcessMark> recorded_processes(const LabPaths& paths, std::string_view lab) {
  std::istringstream in(read_small_file(paths.lab_directory(lab) / "processes"));
  std::vector<ProcessMark> marks;
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    ProcessMark mark;
    if (fields >> mark.pid >> mark.start_time >> mark.program) marks.push_back(std::move(mark));
  }
  return marks;
}

std::string instance_variable(uint64_t instance) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "MRCLAB_INSTANCE=%016llx",
                static_cast<unsigned long long>(instance));
  return text.data();
}

std::string state_of(const LabRecord& record) {
  if (record.boot != boot_id()) return "stale";
  return is_running(record.owner) ? "up" : "crashed";
}

}  // namespace mrclab::lab
