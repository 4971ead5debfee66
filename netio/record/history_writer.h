#pragma once
// history/<process>.bin: the packet records of one process, bounded (fabric/history/history_record.h has
// the format). Called for every packet at every hop: copies 36 bytes, and a whole buffer goes to
// the file at once; nothing is formatted, nothing allocated after construction.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "fabric/history/evidence_seal.h"
#include "fabric/history/history_record.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

class HistoryWriter {
 public:
  /// At most `max_bytes` go to the file, and its seal after them. `streams`
  /// is how many the fabric has. Throws SystemError.
  HistoryWriter(const std::filesystem::path& path, uint32_t streams, uint64_t max_bytes);
  ~HistoryWriter();
  HistoryWriter(const HistoryWriter&) = delete;
  HistoryWriter& operator=(const HistoryWriter&) = delete;

  /// Adds a record, or counts it if it no longer fits. Throws SystemError (disk full); the file
  /// then takes no more.
  void write_record(const HistoryBytes& record, uint32_t stream);
  /// Writes what is buffered. Throws SystemError.
  void flush();
  /// Writes what is buffered, the seal and the final header. `offered` has
  /// the nodes and the time of the offered records; it is shortened to the
  /// first record that found no room. Idempotent.
  void close(EvidenceSeal offered);

  uint64_t written() const { return written_; }
  uint64_t left_out() const { return left_out_; }
  /// The earliest record that found no room; never(): all did.
  FabricTime complete() const { return complete_; }
  /// Bytes of `max_bytes` that are free; 0 for records once one had to be left out.
  uint64_t bytes_left() const {
    return left_out_ > 0 ? 0
                         : (max_records_ - written_) * kCompactRecordBytes + kHistoryHeaderBytes;
  }

 private:
  void finish(const std::optional<EvidenceSeal>& seal);
  void leave_out(const HistoryBytes& record);

  std::string path_;
  FileDescriptor fd_;
  uint32_t streams_;
  uint64_t max_records_;
  uint64_t written_ = 0;  ///< includes records that are still buffered
  uint64_t left_out_ = 0;
  FabricTime complete_ = FabricTime::never();
  uint32_t checksum_ = 0;  ///< CRC-32 of the records in the file
  std::vector<uint8_t> buffer_;
};

/// The share of a process in the bound on a run's records: by the ports of its nodes.
uint64_t history_share(const Topology& topology, const std::vector<uint32_t>& process_of_node,
                       uint32_t process, uint64_t bytes_of_run);

}  // namespace mrclab::netio
