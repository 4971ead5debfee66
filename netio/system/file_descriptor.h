#pragma once
// A file descriptor as a move-only value. All descriptors are close-on-exec; children get theirs
// through ChildProcess.

#include <unistd.h>

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "netio/system/system_error.h"

namespace mrclab::netio {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  /// Takes ownership of `fd`.
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  ~FileDescriptor() { reset(); }

  /// open(2) with O_CLOEXEC; the error names the path.
  static FileDescriptor open(const std::filesystem::path& path, int flags, mode_t mode = 0);

  explicit operator bool() const { return fd_ >= 0; }
  int get() const { return fd_; }
  /// Gives up ownership.
  int release() { return std::exchange(fd_, -1); }
  void reset() {
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }
  FileDescriptor duplicate() const;
  /// Writes everything or throws; `what` names the file in the error.
  void write_all(std::string_view what, std::span<const uint8_t> bytes) const;

 private:
  int fd_ = -1;
};

/// Reads a whole small file (at most `limit` bytes, else SystemError with EFBIG).
std::string read_file(const std::filesystem::path& path, size_t limit = 1 << 20);
/// Writes a whole file, replacing what was there; SystemError when the disk is full.
void write_file(const std::filesystem::path& path, std::string_view text);
/// One write(2) to an existing file of /proc or /sys.
void write_kernel_file(const std::filesystem::path& path, std::string_view text);

}  // namespace mrclab::netio
