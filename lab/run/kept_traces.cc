#include "lab/run/kept_traces.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/text/input_error.h"
#include "fabric/text/input_file.h"
#include "job/import/chakra_file.h"
#include "job/import/measured_folder.h"
#include "job/import/trace_file.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/output_folder.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

void copy_file_to(const fs::path& from, const fs::path& to) {
  require_input_file(from);
  netio::write_file(to, netio::read_file(from, job::kMaxTraceBytes));
}

}  // namespace

std::optional<Scenario> with_kept_traces(const Scenario& scenario, const RunFolder& folder) {
  const auto reads_trace = [](const endpoint::WorkloadSpec& workload) {
    const auto* const job = std::get_if<endpoint::JobWorkload>(&workload);
    return job != nullptr && ((job->serve && job->serve->traced) || job->spec.trace);
  };
  if (std::none_of(scenario.workload.begin(), scenario.workload.end(), reads_trace)) return {};
  Scenario kept = scenario;
  for (size_t i = 0; i < kept.workload.size(); ++i) {
    auto* const job = std::get_if<endpoint::JobWorkload>(&kept.workload[i]);
    if (job == nullptr) continue;
    if (job->serve && job->serve->traced) {
      std::string& named = job->serve->traced->file;
      const fs::path name =
          fs::path(kTracesFolder) / fmt::format("{}-{}", i, fs::path(named).filename().string());
      folder.made->make_new(kTracesFolder);
      copy_file_to(named, folder.path / name);
      named = name.string();
      continue;
    }
    if (!job->spec.trace) continue;
    const fs::path file = job->spec.trace->file;
    const fs::path name =
        fs::path(kTracesFolder) / fmt::format("{}-{}", i, file.filename().string());
    folder.made->make_new(kTracesFolder);  // the first of them makes it
    // A trace of Chakra is a prefix: a file for each rank.
    const std::vector<fs::path> ranks = job::chakra_files(file);
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
      copy_file_to(ranks[rank], folder.path / fmt::format("{}.{}.et", name.string(), rank));
    }
    std::error_code none;
    if (fs::is_directory(file, none)) {
      netio::OutputFolder::make(folder.path / name);
      for (const fs::path& one : job::measured_files(file)) {
        copy_file_to(one, folder.path / name / one.filename());
      }
    } else if (ranks.empty()) {
      copy_file_to(file, folder.path / name);
    }
    job->spec.trace->file = name.string();
  }
  return kept;
}

}  // namespace mrclab::lab
