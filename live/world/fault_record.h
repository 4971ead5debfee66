#pragma once
// The faults that are over in a lab that stays: a file with a line for each, so that the lab does
// not grow with them and an exported session still has all of them.

#include <filesystem>
#include <vector>

#include "faults/fault_book.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::lab {

class FaultRecord {
 public:
  /// The file takes no more lines from this size on. A line has some 200
  /// bytes, more if a fault has many targets.
  static constexpr size_t kMaxBytes = size_t{32} << 20;

  /// Begins an empty file. Throws SystemError. `topology` outlives the record.
  FaultRecord(const Topology& topology, std::filesystem::path file);

  /// Throws SystemError, with nothing recorded.
  void add(uint32_t number, const BookedFault& fault);
  bool full() const { return bytes_ >= kMaxBytes; }
  /// All recorded faults by number. Throws SystemError, or InputError for a file that was altered.
  std::map<uint32_t, BookedFault> read() const;

 private:
  const Topology& topology_;
  std::filesystem::path file_;
  netio::FileDescriptor out_;
  size_t bytes_ = 0;
};

}  // namespace mrclab::lab
