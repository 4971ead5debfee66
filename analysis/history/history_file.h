#pragma once
// Packet records out of a run folder (fabric/history/history_record.h). Hostile until parsed: whatever is
// wrong with a file is an InputError that names file and record.

#include <filesystem>
#include <optional>
#include <string>

#include "analysis/capture/byte_source.h"
#include "fabric/history/history_record.h"

namespace mrclab::analysis {

class HistoryReader {
 public:
  /// Reads the header. `name` is for errors.
  HistoryReader(ByteSource source, std::string name);
  static HistoryReader open(const std::filesystem::path& path);

  const HistoryFileHeader& header() const { return header_; }
  /// The next record; empty at the end. A file that was never finished yields all of its whole
  /// records. Throws at the end if the seal does not fit what was read.
  std::optional<CompactRecord> next();
  /// Whose records the file holds, from when to when; known when the last one
  /// has been read. Empty if the file has no seal.
  const std::optional<EvidenceSeal>& seal() const { return seal_; }

 private:
  void read_seal();
  [[noreturn]] void fail(const std::string& problem) const;

  ByteSource source_;
  std::string name_;
  HistoryFileHeader header_;
  HistoryHeaderBytes header_bytes_;
  uint64_t index_ = 0;
  uint32_t checksum_ = 0;  // CRC-32 of the records so far
  std::optional<EvidenceSeal> seal_;
};

}  // namespace mrclab::analysis
