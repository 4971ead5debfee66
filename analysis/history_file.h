#pragma once
// Packet records out of a run folder (fabric/history_record.h). Hostile until parsed: whatever is
// wrong with a file is an InputError that names file and record.

#include <filesystem>
#include <optional>
#include <string>

#include "analysis/byte_source.h"
#include "fabric/history_record.h"

namespace mrclab::analysis {

class HistoryReader {
 public:
  /// Reads the header. `name` is for errors.
  HistoryReader(ByteSource source, std::string name);
  static HistoryReader open(const std::filesystem::path& path);

  const HistoryFileHeader& header() const { return header_; }
  /// Empty at the end. Of an unfinished file all whole records are handed out.
  std::optional<CompactRecord> next();

 private:
  [[noreturn]] void fail(const std::string& problem) const;

  ByteSource source_;
  std::string name_;
  HistoryFileHeader header_;
  uint64_t index_ = 0;
};

}  // namespace mrclab::analysis
