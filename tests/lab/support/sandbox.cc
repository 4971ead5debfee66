#include "tests/lab/support/sandbox.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>

#include "netio/kernel/link.h"
#include "netio/kernel/namespace.h"
#include "netio/system/child_process.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using netio::check_system_call;

void add_files(std::vector<std::string>& lines, const fs::path& root) {
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(root, ignored), end; it != end; it.increment(ignored)) {
    lines.push_back("file " + it->path().string());
  }
}

void add_lines_with(std::vector<std::string>& lines, const std::string& what, const fs::path& file,
                    const std::string& needle) {
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) {
    // The socket table starts with an address and a reference count, which come and go.
    const size_t at = line.find(needle);
    if (at != std::string::npos) lines.push_back(what + line.substr(at));
  }
}

void add_processes(std::vector<std::string>& lines) {
  const fs::path own = fs::read_symlink("/proc/self/ns/mnt");
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc")) {
    const fs::path exe = fs::read_symlink(entry.path() / "exe", error).filename();
    if (error || !exe.string().starts_with("mrc")) continue;
    if (fs::read_symlink(entry.path() / "ns/mnt", error) != own || error) continue;
    lines.push_back("process " + exe.string() + " " + entry.path().filename().string());
  }
}

/// The number in /proc/self/mountinfo of the mount that a path lies on.
int mount_of(const fs::path& path) {
  const auto file = netio::FileDescriptor::open(path, O_PATH | O_DIRECTORY);
  std::ifstream in("/proc/self/fdinfo/" + std::to_string(file.get()));
  std::string key;
  for (int value = 0; in >> key >> value;) {
    if (key == "mnt_id:") return value;
  }
  throw std::runtime_error("no mount of " + path.string());
}

/// What is mounted on our own /run, or on that again. Under it lie copies of what the machine had
/// mounted on its /run when this namespace was made; they go when other people's labs go.
void add_mounts(std::vector<std::string>& lines) {
  std::map<int, std::pair<int, std::string>> mounts;  // by number: that of the parent, and the line
  std::ifstream in("/proc/self/mountinfo");
  for (std::string line; std::getline(in, line);) {
    std::istringstream fields(line);
    int number = 0, parent = 0;
    std::string device, root, place;
    fields >> number >> parent >> device >> root >> place;
    mounts[number] = {parent, "mount " + line.substr(line.find(" " + place + " "))};
  }
  const int own = mount_of("/run");
  for (const auto& [number, mount] : mounts) {
    int ancestor = number;
    for (size_t i = 0; ancestor != own && i < mounts.size(); ++i) {
      const auto found = mounts.find(ancestor);
      if (found == mounts.end()) break;
      ancestor = found->second.first;
    }
    if (ancestor == own) lines.push_back(mount.second);
  }
}

}  // namespace

void enter_sandbox() {
  static bool inside = false;
  if (inside) return;
  check_system_call("leave the mount namespace", ::unshare(CLONE_NEWNS));
  check_system_call("leave the network namespace", ::unshare(CLONE_NEWNET));
  check_system_call("make mounts private",
                    ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr));
  for (const char* folder : {"/run", "/dev/shm"}) {
    check_system_call(folder, ::mount("tmpfs", folder, "tmpfs", 0, "mode=755"));
  }
  check_system_call("make /run/netns", ::mkdir("/run/netns", 0755));
  // The first namespace makes /run/netns a mount point, for us as for `ip netns`; that one stays.
  netio::NetworkNamespace::create("first", {});
  inside = true;
}

std::vector<std::string> kernel_snapshot() {
  std::vector<std::string> lines;
  for (const std::string& name : netio::list_namespaces("")) lines.push_back("namespace " + name);
  netio::NamespaceNetlink here(netio::NetworkNamespace::current());
  for (const netio::LinkState& link : here.links()) lines.push_back("link " + link.name);
  add_files(lines, "/run");
  add_files(lines, "/dev/shm");
  add_mounts(lines);
  add_lines_with(lines, "socket ", "/proc/net/unix", "/run/mrclab");
  add_processes(lines);
  std::sort(lines.begin(), lines.end());
  return lines;
}

std::string difference(const std::vector<std::string>& before,
                       const std::vector<std::string>& after) {
  std::vector<std::string> gone, fresh;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(),
                      std::back_inserter(gone));
  std::set_difference(after.begin(), after.end(), before.begin(), before.end(),
                      std::back_inserter(fresh));
  std::string text;
  for (const std::string& line : gone) text += "- " + line + "\n";
  for (const std::string& line : fresh) text += "+ " + line + "\n";
  return text;
}

std::string program(const std::string& name) { return std::string(MRCLAB_BINARY_DIR "/") + name; }

namespace {

/// An empty file to print to. Process numbers repeat: a test in a sandbox has one of few, and shares this
/// folder with others.
std::string make_output_file() {
  std::string file = fs::temp_directory_path() / "mrclab-test-output-XXXXXX";
  netio::FileDescriptor(check_system_call("make a file", ::mkstemp(file.data())));
  return file;
}

std::string take_output(const std::string& file) {
  std::string output = netio::read_file(file, 64 << 20);
  fs::remove(file);
  return output;
}

/// Exit code, or 128 + signal. `output` ends with a line if it was killed after `patience`.
int run_to_end(const netio::ChildOptions& options, std::chrono::seconds patience,
               std::string& output) {
  netio::ChildProcess child = netio::ChildProcess::spawn(options);
  std::optional<netio::ExitStatus> status = child.wait(patience);
  if (!status) {
    status = child.stop(std::chrono::milliseconds(0));
    output = "\n(killed: it did not end)\n";
  }
  return status->signal_number != 0 ? 128 + status->signal_number : status->code;
}

}  // namespace

CommandResult run_command_line(const std::vector<std::string>& argv,
                               std::chrono::seconds patience) {
  netio::ChildOptions options;
  options.argv = argv;
  options.stdout_file = make_output_file();
  CommandResult result;
  std::string killed;
  result.code = run_to_end(options, patience, killed);
  result.output = take_output(options.stdout_file) + killed;
  return result;
}

CommandResult mrclab(std::vector<std::string> words) {
  words.insert(words.begin(), program("mrclab-cli"));
  return run_command_line(words);
}

namespace {

/// Every object that a verb prints names its schema.
void require_schema_of_ours(const nlohmann::json& document) {
  if (document.is_array()) {
    for (const auto& item : document) require_schema_of_ours(item);
    return;
  }
  if (!document.value("schema", "").starts_with("mrclab.")) {
    throw std::runtime_error("no schema of ours in " + document.dump());
  }
}

}  // namespace

nlohmann::json mrclab_json(std::vector<std::string> words, std::chrono::seconds patience) {
  words.insert(words.begin(), program("mrclab-cli"));
  netio::ChildOptions options;
  options.argv = std::move(words);
  options.stdout_file = make_output_file();
  options.stderr_file = make_output_file();
  std::string killed;
  const int code = run_to_end(options, patience, killed);
  const std::string output = take_output(options.stdout_file);
  const std::string errors = take_output(options.stderr_file) + killed;
  if (code != 0) {
    throw std::runtime_error("exit code " + std::to_string(code) + "\n" + output + errors);
  }
  nlohmann::json document = nlohmann::json::parse(output);
  require_schema_of_ours(document);
  return document;
}

}  // namespace mrclab::lab
