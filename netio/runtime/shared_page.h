#pragma once
// Memory shared between processes: an anonymous memfd, sealed against resizing, so that a mapping
// of it can never fault. The clock and the gate live in one.

#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "netio/system/file_descriptor.h"

namespace mrclab::netio {

class SharedPage {
 public:
  /// New, zero-filled. `name` shows in /proc/<pid>/maps.
  static SharedPage create(const std::string& name, size_t bytes);
  /// Maps what another process created and passed on; its own size is used. Throws SystemError with
  /// EINVAL when it has fewer than `least_bytes` or is not sealed.
  static SharedPage attach(FileDescriptor fd, size_t least_bytes);
  SharedPage(SharedPage&& other) noexcept;
  SharedPage& operator=(SharedPage&&) = delete;
  ~SharedPage();

  int fd() const { return fd_.get(); }
  /// Gives up the descriptor, for another process; the mapping stays.
  FileDescriptor take_fd() { return std::move(fd_); }
  size_t size() const { return size_; }
  std::byte* data() const { return data_; }
  /// The page as a T, zero-initialised by create(). T must be a type that several processes may
  /// share: lock-free atomics and plain data.
  template <class T>
  T& as(size_t offset = 0) const {
    static_assert(std::is_standard_layout_v<T>);
    if (offset % alignof(T) != 0 || offset + sizeof(T) > size_)
      throw SystemError("look into shared memory", EINVAL);
    return *reinterpret_cast<T*>(data_ + offset);
  }

 private:
  SharedPage(FileDescriptor fd, std::byte* data, size_t size)
      : fd_(std::move(fd)), data_(data), size_(size) {}

  FileDescriptor fd_;
  std::byte* data_ = nullptr;
  size_t size_ = 0;
};

}  // namespace mrclab::netio
