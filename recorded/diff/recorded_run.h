#pragma once
// A run folder read back: what was run, how it ended, its history. Hostile until parsed.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "recorded/diff/history_diff.h"
#include "scenario/spec/scenario.h"

namespace mrclab::lab {

/// No verdict.json is longer.
inline constexpr size_t kVerdictMax = size_t{64} << 20;

struct RecordedRun {
  std::filesystem::path folder;
  Scenario scenario;  ///< as resolved when it ran
  std::string world;  ///< "live" or "sim"
  std::string version;
  bool wall = false;  ///< timing: wall, which promises no exact times
  bool faithful = false;
  std::vector<std::string> reasons;  ///< why it was not faithful
  std::string result;                ///< "pass", "fail", ... as it was judged
  std::string history_sha256;
  std::vector<HistoryStream> streams;  ///< history.txt
  uint64_t records() const;            ///< sum over all streams
};

/// Throws InputError if its packets were digested by the rule of another version.
void require_digest_version(const RecordedRun& run, uint32_t version);

/// `folder` is a run folder, or "latest" for runs/latest. Throws InputError that names what is missing,
/// wrong, or was altered since the run.
RecordedRun read_run(const std::filesystem::path& folder);

/// Hands out every packet record of history/, file by file, each in the order of its nodes' commits. Every record
/// before the instant that is returned is there: zero if the run kept none. Throws InputError.
FabricTime visit_records(const RecordedRun& run,
                         const std::function<void(const CompactRecord&)>& visit);

/// The records of these streams, from every file in history/. Throws InputError.
KeptRecords read_records(const RecordedRun& run, const std::set<std::string>& streams);

/// The scenario of a run folder with the effects as they were executed: also those that came by
/// hand or from outside. Throws InputError.
Scenario recorded_scenario(const std::filesystem::path& folder);

}  // namespace mrclab::lab
