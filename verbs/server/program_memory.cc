#include "verbs/server/program_memory.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

namespace mrclab::verbs {
namespace {

/// So much at the end of each message is copied apart.
constexpr size_t kLastBytes = 8;
/// Where another length is right it is only slower.
constexpr size_t kPageBytes = 4096;

iovec piece_of(std::span<const uint8_t> bytes) {
  return {const_cast<uint8_t*>(bytes.data()), bytes.size()};
}

/// A file of procfs that is called mem, and in no folder of procfs but a process's. Other files there could keep the
/// reader waiting, or mean something when they are written to.
bool is_memory_of_a_process(int fd) {
  struct stat status {};
  struct statfs system {};
  if (::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return false;
  if (::fstatfs(fd, &system) != 0 || system.f_type != PROC_SUPER_MAGIC) return false;
  std::array<char, 256> name{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t length = ::readlink(link.c_str(), name.data(), name.size());
  if (length <= 0 || length == static_cast<ssize_t>(name.size())) return false;
  // "/proc/123/mem", "/proc/123/task/124/mem"; from another mount namespace perhaps "/123/mem".
  const std::string_view path(name.data(), static_cast<size_t>(length));
  if (!path.ends_with("/mem")) return false;
  const std::string_view folder = path.substr(0, path.size() - 4);
  const std::string_view process = folder.substr(folder.rfind('/') + 1);
  return !process.empty() && process.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

ProgramMemory::ProgramMemory(netio::FileDescriptor memory) : memory_(std::move(memory)) {
  const int flags = memory_ ? ::fcntl(memory_.get(), F_GETFL) : -1;
  if (flags < 0 || (flags & O_ACCMODE) != O_RDWR || !is_memory_of_a_process(memory_.get())) {
    throw netio::SystemError("take a program's memory", EINVAL, "it is no /proc/self/mem");
  }
}

bool ProgramMemory::read(uint64_t address, std::span<uint8_t> into) const {
  while (!into.empty()) {
    // The kernel looks for pages a page's length at a time, from where a piece begins. So a piece of its own ends with
    // the first page: where all lengths would lie across two pages, it would look twice as often.
    const size_t first = std::min<size_t>(into.size(), kPageBytes - address % kPageBytes);
    const std::array pieces{piece_of(into.first(first)), piece_of(into.subspan(first))};
    const ssize_t got = ::preadv(memory_.get(), pieces.data(), first < into.size() ? 2 : 1,
                                 static_cast<off_t>(address));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    address += static_cast<uint64_t>(got);
    into = into.subspan(static_cast<size_t>(got));
  }
  return true;
}

/// Two copies by one call: the kernel writes to this file a piece after the other (procfs has write, not write_iter).
bool ProgramMemory::write_last(uint64_t address, std::span<const uint8_t> bytes) const {
  if (bytes.size() <= kLastBytes) return write(address, bytes);
  const size_t first = bytes.size() - kLastBytes;
  const std::array pieces{piece_of(bytes.first(first)), piece_of(bytes.subspan(first))};
  ssize_t put = 0;
  do {
    put = ::pwritev(memory_.get(), pieces.data(), static_cast<int>(pieces.size()),
                    static_cast<off_t>(address));
  } while (put < 0 && errno == EINTR);
  if (put <= 0) return false;
  const auto done = static_cast<size_t>(put);
  if (done < first && !write(address + done, bytes.subspan(done, first - done))) return false;
  const size_t rest = std::max(done, first);
  return write(address + rest, bytes.subspan(rest));
}

bool ProgramMemory::write(uint64_t address, std::span<const uint8_t> bytes) const {
  while (!bytes.empty()) {
    const ssize_t put =
        ::pwrite(memory_.get(), bytes.data(), bytes.size(), static_cast<off_t>(address));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    address += static_cast<uint64_t>(put);
    bytes = bytes.subspan(static_cast<size_t>(put));
  }
  return true;
}

bool ProgramMemory::has(uint64_t address, uint64_t length) const {
  std::array<uint8_t, 1> byte{};
  if (length == 0) return true;
  return read(address, byte) && read(address + (length - 1), byte);
}

}  // namespace mrclab::verbs
