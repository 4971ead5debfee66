#include "lab/run_folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <vector>

#include "netio/file_descriptor.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

constexpr const char* kUnjudged = "UNJUDGED";

/// Fabric time of an event line, which starts with {"t_ps":<number>.
int64_t time_of(const std::string& line) {
  const size_t colon = line.find(':');
  return colon == std::string::npos ? 0 : std::strtoll(line.c_str() + colon + 1, nullptr, 10);
}

/// Its node, which is the second string of it.
std::string_view node_of(const std::string& line) {
  constexpr std::string_view kKey = "\"node\":\"";
  const size_t key = line.find(kKey);
  if (key == std::string::npos) return {};
  const size_t begin = key + kKey.size();
  return std::string_view(line).substr(begin, line.find('"', begin) - begin);
}

void point_latest(const fs::path& root, const std::string& target) {
  std::error_code ignored;  // a filesystem without links still gets its run
  const fs::path temporary = root / (".latest-" + std::to_string(::getpid()));
  fs::create_symlink(target, temporary, ignored);
  if (!ignored) fs::rename(temporary, root / "latest", ignored);
}

}  // namespace

RunFolder make_run_folder(const fs::path& root, const std::string& name) {
  fs::create_directories(root);
  const std::string stamp = fmt::format("{:%Y%m%d-%H%M%S}", fmt::gmtime(std::time(nullptr)));
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::string leaf = stamp + "-" + name + (attempt == 0 ? "" : fmt::format(".{}", attempt));
    if (!fs::create_directory(root / leaf)) continue;  // another run of the same second has it
    const RunFolder folder{root / leaf};
    for (const char* sub : {"captures", "history", "reports", "events", "logs"}) {
      fs::create_directory(folder.path / sub);
    }
    mark_unjudged(folder, "It goes on, or its process was killed.");
    return folder;
  }
  throw fs::filesystem_error("too many runs in one second", root,
                             std::make_error_code(std::errc::file_exists));
}

void mark_unjudged(const RunFolder& folder, const std::string& why) {
  std::ofstream(folder.path / kUnjudged) << "This run has no verdict. " << why << "\n";
}

void mark_judged(const RunFolder& folder) {
  std::error_code ignored;  // the verdict is there, whatever else the folder says
  fs::remove(folder.path / kUnjudged, ignored);
  point_latest(folder.path.parent_path(), folder.path.filename());
}

uint64_t folder_bytes(const RunFolder& folder) {
  uint64_t bytes = 0;
  std::error_code gone;  // a file that is just renamed or removed
  for (fs::recursive_directory_iterator at(folder.path, gone), end; at != end; at.increment(gone)) {
    std::error_code none;
    const uintmax_t size = at->is_regular_file(none) ? at->file_size(none) : 0;
    if (!none) bytes += size;
  }
  return bytes;
}

void merge_events(const RunFolder& folder) {
  std::vector<std::string> lines;
  const fs::path parts = folder.path / "events";
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(parts)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) lines.push_back(std::move(line));
  }
  // By node as well: then the order does not tell which nodes shared a process or a thread.
  std::stable_sort(lines.begin(), lines.end(), [](const std::string& a, const std::string& b) {
    const int64_t time_a = time_of(a), time_b = time_of(b);
    return time_a != time_b ? time_a < time_b : node_of(a) < node_of(b);
  });
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  netio::write_file(folder.path / "events.jsonl", text);
  fs::remove_all(parts);
}

void give_to_invoking_user(const RunFolder& folder) {
  const char* uid = std::getenv("SUDO_UID");
  const char* gid = std::getenv("SUDO_GID");
  if (uid == nullptr || gid == nullptr || ::geteuid() != 0) return;
  const auto owner = static_cast<uid_t>(std::strtoul(uid, nullptr, 10));
  const auto group = static_cast<gid_t>(std::strtoul(gid, nullptr, 10));
  const auto give = [&](const fs::path& path) {
    // Only a convenience: what cannot be given away stays root's.
    [[maybe_unused]] const int done = ::lchown(path.c_str(), owner, group);
  };
  give(folder.path.parent_path());
  give(folder.path.parent_path() / "latest");
  give(folder.path);
  for (const auto& entry : fs::recursive_directory_iterator(folder.path)) give(entry.path());
}

}  // namespace mrclab::lab
