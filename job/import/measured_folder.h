#pragma once
// Files that profilers leave of a job: their formats, and all files of a job in one folder.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/import/measured_job.h"

namespace mrclab::job {

/// kPyTorchEt, kKineto, kInspector or kNccl by how a text begins and what it has; empty for anything else.
std::optional<TraceFormat> measured_format(std::string_view text);

/// The ranks of one file: PyTorch writes one, NCCL all. The reader adds to `notes`, if that is not null, a sentence for
/// a user about each thing in the file that is no rank's. Throws InputError.
std::vector<MeasuredRank> read_measured(TraceFormat format, std::string_view text,
                                        const std::string& name,
                                        std::vector<std::string>* notes = nullptr);
/// The job of one file. Throws InputError.
Trace read_measured_file(TraceFormat format, std::string_view text, const std::string& name,
                         const TraceOptions& options);

/// The .json, .jsonl and .log of a folder, each as gzip as well, sorted by name. Throws InputError if there are none, or
/// too many.
std::vector<std::filesystem::path> measured_files(const std::filesystem::path& folder);

/// The job of a folder whose measured_files() have one format. Kineto's name their ranks; those
/// of execution traces go by the last number in their names; NCCL's may have any order. Throws InputError, also
/// for ranks that are missing or there twice.
Trace read_measured_folder(const std::filesystem::path& folder, const TraceOptions& options);

}  // namespace mrclab::job
