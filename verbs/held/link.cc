#include "verbs/held/link.h"

#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>

#include "verbs/client/program_link.h"
#include "verbs/held/raw.h"

namespace mrclab::verbs::held {
namespace {

void take_descriptors(msghdr& message, int* descriptors) {
  uint32_t taken = 0;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int descriptor;
      std::memcpy(&descriptor, CMSG_DATA(part) + i * sizeof(int), sizeof descriptor);
      if (descriptors != nullptr && taken < kMaxDescriptors)
        descriptors[taken++] = descriptor;
      else
        raw(SYS_close, descriptor);
    }
  }
}

}  // namespace

int connect_link(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const size_t length = std::strlen(path);
  if (length >= sizeof address.sun_path) return -ENAMETOOLONG;
  std::memcpy(address.sun_path, path, length);
  const long link = raw(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (link < 0) return static_cast<int>(link);
  long result;
  do {
    result = raw(SYS_connect, link, word(&address), sizeof address);
  } while (result == -EINTR);
  if (result == 0) return static_cast<int>(link);
  raw(SYS_close, link);
  return static_cast<int>(result);
}

int send_message(int link, const void* head, size_t head_size, const void* rest, size_t rest_size,
                 int descriptor) {
  iovec parts[2] = {{const_cast<void*>(head), head_size}, {const_cast<void*>(rest), rest_size}};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = rest_size > 0 ? 2 : 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &descriptor, sizeof descriptor);
  }
  long result;
  do {
    result = raw(SYS_sendmsg, link, word(&message), MSG_NOSIGNAL);
  } while (result == -EINTR);
  return result < 0 ? static_cast<int>(-result) : 0;
}

long receive_message(int link, void* buffer, size_t room, int* descriptors) {
  if (descriptors != nullptr)
    for (uint32_t i = 0; i < kMaxDescriptors; ++i) descriptors[i] = -1;
  iovec part{buffer, room};
  alignas(cmsghdr) char control[CMSG_SPACE(kMaxDescriptors * sizeof(int))];
  msghdr message{};
  long result;
  do {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    result = raw(SYS_recvmsg, link, word(&message), MSG_CMSG_CLOEXEC);
  } while (result == -EINTR);
  if (result < 0) return result;
  if (result == 0) return -EPIPE;
  const bool cut = (message.msg_flags & MSG_TRUNC) != 0;
  take_descriptors(message, cut ? nullptr : descriptors);
  return cut ? -EMSGSIZE : result;
}

}  // namespace mrclab::verbs::held
