#include "recorded/folder/run_folder.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <vector>

#include "console/progress.h"
#include "fabric/history/evidence_seal.h"
#include "fabric/text/line_file.h"
#include "fabric/text/yaml.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

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

/// Adds the lines of a process's log, without its seal. Returns the seal if it fits the lines.
std::optional<EvidenceSeal> read_part(const fs::path& file, std::vector<std::string>& lines) try {
  std::optional<EvidenceSeal> seal;
  uint32_t before = 0;
  LineFile part(file);
  for (std::string line; part.next(line);) {
    seal.reset();  // it was not the last line
    if (is_seal_line(line)) {
      seal = parse_seal_line(line, before);
    } else {
      lines.push_back(line);
    }
    before = checksum(checksum(before, line), "\n");
  }
  return seal;
} catch (const InputError&) {
  return std::nullopt;  // what is behind a line without end is missing, as behind any other cut
}

/// The seal for all parts together. It names the nodes of which anything is known, and the instant
/// up to which all of them are complete.
EvidenceSeal seal_of(const SealedSpans& parts, uint64_t lines) {
  EvidenceSeal seal;
  seal.records = lines;
  for (const NodeId node : parts.nodes()) {
    const FabricTime until = parts.complete_until(node);
    if (until == FabricTime::zero()) continue;
    seal.nodes.push_back(node);
    seal.until = std::min(seal.until, until);
  }
  return seal;
}

}  // namespace

fs::path default_runs() {
  constexpr const char* kHere = "runs";
  std::error_code none;  // a folder that cannot be searched counts as one that cannot be written
  if (::access(fs::exists(kHere, none) ? kHere : ".", W_OK) == 0) return kHere;
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return fs::path(value == nullptr ? "" : value);
  };
  // The XDG base directory specification: a path that is not absolute is ignored.
  if (fs::path state = variable("XDG_STATE_HOME"); state.is_absolute()) {
    return state / "mrclab/runs";
  }
  const fs::path home = variable("HOME");
  return home.is_absolute() ? home / ".local/state/mrclab/runs" : fs::path(kHere);
}

fs::path named_run(const fs::path& word) {
  if (word != "latest") return word;
  fs::path latest = default_runs() / "latest";
  std::error_code none;
  return fs::exists(latest, none) ? latest : fs::path("runs/latest");
}

RunFolder make_run_folder(const fs::path& root, const std::string& name) {
  const netio::OutputFolder parent = netio::OutputFolder::make(root);
  const std::string stamp = fmt::format("{:%Y%m%d-%H%M%S}", fmt::gmtime(std::time(nullptr)));
  for (int attempt = 0; attempt < 1000; ++attempt) {
    const std::string leaf = stamp + "-" + name + (attempt == 0 ? "" : fmt::format(".{}", attempt));
    auto made = parent.make_new(leaf);
    if (!made) continue;  // another run of the same second has it
    for (const char* sub : {"captures", "history", "reports", "events", "logs"}) {
      made->make_new(sub);
    }
    RunFolder folder{root / leaf, std::make_shared<const netio::OutputFolder>(std::move(*made))};
    // Written first: on a disk that is full later this text stands.
    mark_unjudged(folder, "It goes on, was killed, or found no room on the disk.");
    return folder;
  }
  throw netio::OutputError("make a run folder in " + root.string(), EEXIST,
                           "too many runs in one second");
}

void mark_unjudged(const RunFolder& folder, const std::string& why) {
  try {
    netio::write_file(folder.path / kUnjudgedFile, "This run has no verdict. " + why + "\n");
  } catch (const netio::SystemError&) {  // a full disk: the reason is reported elsewhere
  }
}

void mark_judged(const RunFolder& folder) {
  std::error_code ignored;  // the verdict is there, even beside this file
  fs::remove((folder.made ? folder.made->held() : folder.path) / kUnjudgedFile, ignored);
  try {  // a file system without links still gets its run
    const fs::path root = folder.path.parent_path();
    netio::OutputFolder::open(root).point_link("latest", folder.path.filename().string());
  } catch (const netio::SystemError&) {
  }
}

uint64_t folder_bytes(const RunFolder& folder) {
  uint64_t bytes = 0;
  std::error_code gone;  // a file may be renamed or removed meanwhile
  for (fs::recursive_directory_iterator at(folder.path, gone), end; at != end; at.increment(gone)) {
    std::error_code none;
    const uintmax_t size = at->is_regular_file(none) ? at->file_size(none) : 0;
    if (!none) bytes += size;
  }
  return bytes;
}

std::string evidence_text(const fs::path& run) {
  return byte_text(folder_bytes({named_run(run)})) + " of evidence";
}

void merge_events(const RunFolder& folder) {
  std::vector<std::string> lines;
  SealedSpans sealed;
  const fs::path parts = folder.path / "events";
  std::vector<fs::path> files;
  std::error_code gone;  // then no file has the events of any node, which its reader will find
  for (const auto& entry : fs::directory_iterator(parts, gone)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    if (const auto seal = read_part(file, lines)) sealed.add_seal(*seal, file.filename().string());
  }
  // By node as well: then the order does not depend on which nodes shared a process or a thread.
  std::stable_sort(lines.begin(), lines.end(), [](const std::string& a, const std::string& b) {
    const int64_t time_a = time_of(a), time_b = time_of(b);
    return time_a != time_b ? time_a < time_b : node_of(a) < node_of(b);
  });
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  const FabricTime last =
      lines.empty() ? FabricTime::zero() : FabricTime::from_ps(time_of(lines.back()));
  text += seal_line(seal_of(sealed, lines.size()), last, checksum(0, text)) + '\n';
  netio::write_file(folder.path / "events.jsonl", text);
  fs::remove_all(folder.made ? folder.made->held() / "events" : parts);
}

void give_to_invoking_user(const RunFolder& folder) {
  const auto caller = netio::calling_user();
  if (caller && folder.made) folder.made->give_to(*caller);
}

void write_history(std::vector<HistoryStream> streams, const RunFolder& folder) {
  std::sort(streams.begin(), streams.end(),
            [](const HistoryStream& a, const HistoryStream& b) { return a.name < b.name; });
  netio::write_file(folder.path / "history.txt", history_to_text(streams));
}

}  // namespace mrclab::lab
