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
  /// Empty at the end. Of an unfinished file all whole records are handed out. Throws at the end if
  /// what is sealed is not what was read.
  std::optional<CompactRecord> next();
  /// Whose records these are, from when to when; known behind the last record. Empty: not said.
  const std::optional<EvidenceSeal>& seal() const { return seal_; }

 private:
  void read_seal();
  [[noreturn]] void fail(const std::string& problem) const;

  ByteSource source_;
  std::string name_;
  HistoryFileHeader header_;
  HistoryHeaderBytes header_bytes_;
  uint64_t index_ = 0;
  uint32_t checksum_ = 0;  // of the records so far
  std::optional<EvidenceSeal> seal_;
};

}  // namespace mrclab::analysis
