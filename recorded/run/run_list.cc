#include "recorded/run/run_list.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "console/json_print.h"
#include "console/progress.h"
#include "fabric/text/counted_noun.h"
#include "fabric/text/json_text.h"
#include "fabric/text/visible_text.h"
#include "fabric/text/yaml.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/output_folder.h"
#include "recorded/folder/run_folder.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

constexpr size_t kListedVerdictMax = 64 << 20;
constexpr size_t kStamp = 15;  // 20261125-142546

/// "20261125-142546-name".
bool has_stamp(const std::string& name) {
  if (name.size() < kStamp + 2 || name[8] != '-' || name[kStamp] != '-') return false;
  return std::all_of(name.begin(), name.begin() + kStamp,
                     [](char c) { return c == '-' || (c >= '0' && c <= '9'); });
}

std::string stamp_of(const ListedRun& run) {
  return run.path.filename().string().substr(0, kStamp);
}

bool is_run(const fs::directory_entry& entry) {
  std::error_code error;
  return !entry.is_symlink(error) && entry.is_directory(error) &&
         has_stamp(entry.path().filename()) && fs::exists(entry.path() / "scenario.yaml", error);
}

ListedRun read_listed(const fs::path& path) {
  ListedRun run{path, "?", "?", folder_bytes({path})};
  std::error_code error;
  if (fs::exists(path / kUnjudgedFile, error)) {
    run.result = "unjudged";
    return run;
  }
  try {
    const auto verdict =
        require_json<nlohmann::json>(netio::read_file(path / "verdict.json", kListedVerdictMax));
    run.result = visible(verdict.at("result").get<std::string>());
    run.world = visible(verdict.at("world").get<std::string>());
  } catch (const std::exception&) {  // hostile, damaged or missing: shown as "?"
  }
  return run;
}

/// The stamp of a run as old as that.
std::string stamp_before(uint32_t days) {
  const auto then = std::chrono::system_clock::now() - std::chrono::hours(24) * days;
  return fmt::format("{:%Y%m%d-%H%M%S}", fmt::gmtime(std::chrono::system_clock::to_time_t(then)));
}

std::vector<ListedRun> chosen_runs(const std::vector<ListedRun>& runs,
                                   const RunListOptions& options) {
  std::vector<ListedRun> chosen;
  if (!options.keep && !options.older_days) return chosen;
  const std::string limit = options.older_days ? stamp_before(*options.older_days) : "";
  for (size_t i = options.keep.value_or(0); i < runs.size(); ++i) {
    if (!options.older_days || stamp_of(runs[i]) < limit) chosen.push_back(runs[i]);
  }
  return chosen;
}

uint64_t sum_of(const std::vector<ListedRun>& runs) {
  uint64_t bytes = 0;
  for (const ListedRun& run : runs) bytes += run.bytes;
  return bytes;
}

/// `latest` shall lead to a run that is there, or not be there.
void mend_latest(const fs::path& folder) {
  const fs::path latest = folder / "latest";
  std::error_code error;
  if (!fs::is_symlink(latest, error) || fs::exists(latest, error)) return;
  for (const ListedRun& run : list_runs(folder)) {
    if (run.result == "unjudged" || run.result == "?") continue;
    netio::OutputFolder::open(folder).point_link("latest", run.path.filename());
    return;
  }
  fs::remove(latest, error);
}

/// How many could not be deleted.
int erase_runs(const std::vector<ListedRun>& chosen, const fs::path& folder) {
  int left = 0;
  for (const ListedRun& run : chosen) {
    std::error_code error;
    // Root deletes nothing of users who did not call it.
    const bool trusted = netio::is_trusted_with(run.path);
    if (trusted) fs::remove_all(run.path, error);
    if (trusted && !error) continue;
    ++left;
    fmt::print(stderr, "mrclab: {}: {}\n", run.path.string(),
               trusted ? error.message() : "belongs to another user, and is left");
  }
  mend_latest(folder);
  return left;
}

nlohmann::ordered_json to_json(const std::vector<ListedRun>& runs) {
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const ListedRun& run : runs) {
    list.push_back({{"run", run.path.string()},
                    {"result", run.result},
                    {"world", run.world},
                    {"bytes", run.bytes}});
  }
  return list;
}

void print_runs(const std::vector<ListedRun>& runs) {
  fmt::print("{:<50} {:<12} {:<5} {:>9}\n", "RUN", "RESULT", "WORLD", "SIZE");
  for (const ListedRun& run : runs) {
    fmt::print("{:<50} {:<12} {:<5} {:>9}\n", visible(run.path.filename().string()), run.result,
               run.world, byte_text(run.bytes));
  }
}

}  // namespace

std::vector<ListedRun> list_runs(const fs::path& folder) {
  std::vector<ListedRun> runs;
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  if (error) {
    throw InputError(folder.string() + ": " + error.message() + ": expected a folder of runs");
  }
  for (const auto& entry : entries) {
    if (is_run(entry)) runs.push_back(read_listed(entry.path()));
  }
  std::sort(runs.begin(), runs.end(), [](const ListedRun& a, const ListedRun& b) {
    return a.path.filename() > b.path.filename();
  });
  return runs;
}

int runs_command(const RunListOptions& options) {
  const std::vector<ListedRun> runs = list_runs(options.folder);
  const std::vector<ListedRun> chosen = chosen_runs(runs, options);
  const bool choice = options.keep || options.older_days;
  if (options.erase && !choice) {
    throw InputError("runs --delete: expected --keep or --older, which choose what to delete");
  }
  const std::vector<ListedRun>& shown = choice ? chosen : runs;
  const int left = options.erase ? erase_runs(chosen, options.folder) : 0;
  if (options.json) {
    fmt::print("{}\n",
               printed(nlohmann::ordered_json{{"runs", to_json(shown)}, {"deleted", options.erase}},
                       "runs"));
    return left > 0 ? 1 : 0;
  }
  print_runs(shown);
  fmt::print("{}, {} in {}\n", counted_noun(runs.size(), "run"), byte_text(sum_of(runs)),
             options.folder.string());
  if (choice) {
    fmt::print("{} of them, {}, {}\n", chosen.size(), byte_text(sum_of(chosen)),
               options.erase ? "were deleted" : "would be deleted: add --delete");
  }
  return left > 0 ? 1 : 0;
}

}  // namespace mrclab::lab
