#pragma once
// The folder that a run leaves: runs/<time>-<name>/, and runs/latest points to it.

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "fabric/history/history.h"
#include "netio/system/output_folder.h"

namespace mrclab::lab {

/// Where run folders go without --out: runs/ in this folder; where that cannot be made or
/// written, $XDG_STATE_HOME/mrclab/runs, by default ~/.local/state/mrclab/runs.
std::filesystem::path default_runs();

/// The run folder of a word: "latest" is the newest run in `default_runs()`, or in runs/ if there is
/// none; any other word is a path.
std::filesystem::path named_run(const std::filesystem::path& word);

struct RunFolder {
  std::filesystem::path path;
  /// Held open since it was made, shared by the copies of this value; null for one that was found.
  std::shared_ptr<const netio::OutputFolder> made = nullptr;
  std::filesystem::path captures() const { return path / "captures"; }
  std::filesystem::path taps() const { return path / "taps"; }  ///< made where there are some
  std::filesystem::path history() const { return path / "history"; }
  std::filesystem::path reports() const { return path / "reports"; }
};

/// Makes runs/<UTC time>-<name>/ below `root` with its subfolders, marked as unjudged. Throws
/// netio::OutputError (no rights, a place of other users), SystemError (disk full).
RunFolder make_run_folder(const std::filesystem::path& root, const std::string& name);

inline constexpr const char* kUnjudgedFile = "UNJUDGED";

/// Writes the file UNJUDGED, with the reason why the run has no verdict. Does
/// nothing if the disk is full.
void mark_unjudged(const RunFolder& folder, const std::string& why);
/// The run has its verdict: removes UNJUDGED and points `latest` to the folder.
void mark_judged(const RunFolder& folder);

/// The size of its files so far.
uint64_t folder_bytes(const RunFolder& folder);
/// "1.2 GB of evidence", the size of a run folder or "latest", for a user who waits while it is
/// read.
std::string evidence_text(const std::filesystem::path& run);

/// Joins events/<process>.jsonl by time into events.jsonl and removes the parts.
void merge_events(const RunFolder& folder);

/// Under sudo gives the folder, if this process made it, to the user who typed the command.
void give_to_invoking_user(const RunFolder& folder);

/// history.txt: name, count and hash of every stream of all nodes, or of every node (HistoryDigest::reported), sorted
/// by name.
void write_history(std::vector<HistoryStream> streams, const RunFolder& folder);

}  // namespace mrclab::lab
