#include "netio/system/file_descriptor.h"

#include <fcntl.h>

#include <array>

#include "fabric/text/input_file.h"

namespace mrclab::netio {

FileDescriptor FileDescriptor::open(const std::filesystem::path& path, int flags, mode_t mode) {
  return FileDescriptor(
      check_system_call("open " + path.string(), ::open(path.c_str(), flags | O_CLOEXEC, mode)));
}

FileDescriptor FileDescriptor::duplicate() const {
  return FileDescriptor(
      check_system_call("duplicate a descriptor", ::fcntl(fd_, F_DUPFD_CLOEXEC, 3)));
}

void FileDescriptor::write_all(std::string_view what, std::span<const uint8_t> bytes) const {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw SystemError("write " + std::string(what), errno);
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
}

std::string read_file(const std::filesystem::path& path, size_t limit) {
  require_input_file(path);
  const FileDescriptor file = FileDescriptor::open(path, O_RDONLY);
  std::string text;
  std::array<char, 16384> chunk;
  while (true) {
    const ssize_t n = ::read(file.get(), chunk.data(), chunk.size());
    if (n < 0 && errno == EINTR) continue;
    check_system_call("read " + path.string(), n);
    if (n == 0) return text;
    if (text.size() + static_cast<size_t>(n) > limit)
      throw SystemError("read " + path.string(), EFBIG);
    text.append(chunk.data(), static_cast<size_t>(n));
  }
}

void write_kernel_file(const std::filesystem::path& path, std::string_view text) {
  const FileDescriptor file = FileDescriptor::open(path, O_WRONLY);
  check_system_call("write \"" + std::string(text) + "\" to " + path.string(),
                    ::write(file.get(), text.data(), text.size()));
}

}  // namespace mrclab::netio
