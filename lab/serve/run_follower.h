#pragma once
// Files of daemons that are still written, read bit by bit.

#include <filesystem>
#include <string>
#include <vector>

#include "lab/serve/node_record_reader.h"
#include "netio/system/file_descriptor.h"

namespace mrclab::lab {

class RunFollower {
 public:
  /// Follows history/<process>.bin and events/<process>.jsonl of these processes, which have made them. `told`
  /// outlives it. Throws SystemError.
  RunFollower(const std::filesystem::path& folder, const std::vector<std::string>& processes,
              NodeRecordReader& told);

  /// Passes on what was written since the last call. Throws SystemError, and InputError for a record that is none.
  void read();

 private:
  /// A file, and what was read of its last piece but not taken.
  struct Growing {
    std::string path;
    netio::FileDescriptor fd;
    std::string rest = {};
    /// Reads some more; false at what is the end for now.
    bool more();
  };
  void take_records(Growing& file);
  void take_lines(Growing& file);

  NodeRecordReader& told_;
  std::vector<Growing> records_, lines_;
};

}  // namespace mrclab::lab
