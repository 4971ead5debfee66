#pragma once
// Files that profilers leave of a job: their formats, and all files of a job in one folder.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "job/import/measured_job.h"

namespace mrclab::job {

/// kPyTorchEt, kKineto or kInspector by how a text begins and what it has; empty for anything else.
std::optional<TraceFormat> measured_format(std::string_view text);

/// The ranks of one file: of PyTorch one, of Inspector all. Throws InputError.
std::vector<MeasuredRank> read_measured(TraceFormat format, std::string_view text,
                                        const std::string& name);

/// The job of a folder with files of one format (.json, .jsonl, .log, each as gzip as well). Kineto's name their ranks; those
/// of execution traces go by the last number in their names; Inspector's may have any order. Throws InputError, also
/// for ranks that are missing or there twice.
Trace read_measured_folder(const std::filesystem::path& folder, const TraceOptions& options);

}  // namespace mrclab::job
