#pragma once
// The faults of a lab that stays which are over: a file with a line each, so that the lab itself does
// not grow with them, and a session that is exported has them all.

#include <filesystem>
#include <vector>

#include "lab/fault_book.h"
#include "netio/file_descriptor.h"

namespace mrclab::lab {

class FaultRecord {
 public:
  /// No more than this in the file. A line is some 200 bytes, and longer where a fault has many targets.
  static constexpr size_t kMaxBytes = size_t{32} << 20;

  /// Begins an empty file. Throws SystemError. `topology` outlives the record.
  FaultRecord(const Topology& topology, std::filesystem::path file);

  /// Throws SystemError, with nothing recorded.
  void add(uint32_t number, const BookedFault& fault);
  bool full() const { return bytes_ >= kMaxBytes; }
  /// All of them by number, as they were. Throws SystemError, or InputError for a file that somebody
  /// has changed.
  std::map<uint32_t, BookedFault> read() const;

 private:
  const Topology& topology_;
  std::filesystem::path file_;
  netio::FileDescriptor out_;
  size_t bytes_ = 0;
};

}  // namespace mrclab::lab
