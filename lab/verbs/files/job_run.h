#pragma once
// The jobs of a run folder, step by step.

#include <string>

namespace mrclab::lab {

struct JobRunOptions {
  bool csv = false;
  std::string chrome, inspector;  ///< files to be written; empty: none
  bool asked() const { return csv || !chrome.empty() || !inspector.empty(); }
};

/// "latest", or a folder with a scenario.yaml.
bool is_run_folder(const std::string& path);

/// Prints a table for each job of the run (or a list as JSON, or CSV), and writes the files that were asked for; of several
/// jobs the first is written as FILE, the others as FILE-2 ... Throws InputError for a run without jobs.
void print_run_jobs(const std::string& folder, bool json, const JobRunOptions& options);

}  // namespace mrclab::lab
