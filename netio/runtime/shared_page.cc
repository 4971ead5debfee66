#include "netio/runtime/shared_page.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <utility>

namespace mrclab::netio {
namespace {

std::byte* map_page(const FileDescriptor& fd, size_t bytes) {
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd.get(), 0);
  if (memory == MAP_FAILED) throw SystemError("map shared memory", errno);
  return static_cast<std::byte*>(memory);
}

}  // namespace

SharedPage SharedPage::create(const std::string& name, size_t bytes) {
  FileDescriptor fd(
      check_system_call("create shared memory " + name,
                        ::memfd_create(name.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING)));
  check_system_call("size shared memory " + name, ::ftruncate(fd.get(), static_cast<off_t>(bytes)));
  check_system_call("seal shared memory " + name,
                    ::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL));
  std::byte* data = map_page(fd, bytes);
  return SharedPage(std::move(fd), data, bytes);
}

SharedPage SharedPage::attach(FileDescriptor fd, size_t least_bytes) {
  struct stat status {};
  check_system_call("look at shared memory", ::fstat(fd.get(), &status));
  const int seals =
      check_system_call("look at shared memory's seals", ::fcntl(fd.get(), F_GET_SEALS));
  const auto size = static_cast<size_t>(status.st_size);
  if (size < least_bytes || size == 0)
    throw SystemError("attach shared memory", EINVAL, "it is too small");
  if ((seals & F_SEAL_SHRINK) == 0)
    throw SystemError("attach shared memory", EINVAL, "it is not sealed against shrinking");
  std::byte* data = map_page(fd, size);
  return SharedPage(std::move(fd), data, size);
}

SharedPage::SharedPage(SharedPage&& other) noexcept
    : fd_(std::move(other.fd_)),
      data_(std::exchange(other.data_, nullptr)),
      size_(std::exchange(other.size_, 0)) {}

SharedPage::~SharedPage() {
  if (data_ != nullptr) ::munmap(data_, size_);
}

}  // namespace mrclab::netio
