#pragma once
// A folder for files that nobody wants afterwards, in the system's temporary folder. It is removed with its owner, and
// where the owner was killed, by whoever makes the next one of that kind: a folder is its owner's by a lock, which the
// kernel takes away with the process.

#include <filesystem>
#include <string_view>

#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

class ScratchFolder {
 public:
  /// "<prefix>XXXXXX", open to this user alone. Throws SystemError.
  explicit ScratchFolder(std::string_view prefix);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  FileDescriptor lock_;
};

}  // namespace mrclab::netio
