#pragma once
// A run folder in the formats of other people's trace viewers.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace mrclab::lab {

enum class RunFormat : uint8_t { kQlog, kPerfetto };
std::string_view suffix_of(RunFormat format);  ///< ".sqlog", ".pftrace"

struct RunExport {
  std::filesystem::path file;
  uint64_t events = 0, bytes = 0;
  std::vector<std::string> notes;  ///< what is not in the file, or could not be read
};

/// `run` is a run folder, or "latest"; an empty `out` is run.sqlog or run.pftrace in it. Throws
/// InputError for a run that cannot be read and a file that cannot be written.
RunExport export_run(RunFormat format, const std::filesystem::path& run, std::filesystem::path out,
                     uint64_t limit_bytes);

}  // namespace mrclab::lab
