#include "verbs/client/wall_link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

#include "verbs/client/guard.h"

namespace mrclab::verbs {
namespace {

/// One for the process: a program has one connection to its host.
struct State {
  Mutex mutex;  ///< one request at a time
  int socket = -1;
  bool attached = false;
  std::atomic<bool> broken{false};
  HelloReply hello{};
  WorkRing* work = nullptr;
  int events = -1;
  std::atomic<uint64_t> now_ps{0}, rate{0}, read_ns{0};  ///< of the last reply
};
State& state() {
  static State* const only =
      make<State>();  // never destroyed: threads may still be in a call when the process ends
  return *only;
}

uint64_t machine_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000u + static_cast<uint64_t>(now.tv_nsec);
}

/// In the child of a fork the connection is the parent's. It must not stay open by the child's copy when the parent ends.
void forget_in_child() {
  State& own = state();
  if (!own.attached) {
    return;
  }
  own.broken.store(true);
  close(own.socket);
  own.socket = -1;
}

int broken_link(State& own, int error) {
  own.broken.store(true);
  if (own.socket >= 0) {
    shutdown(
        own.socket,
        SHUT_RDWR);  // the server sees the end now; the number stays taken until the process ends
  }
  return error;
}

bool send_request(int socket, const void* request, uint32_t bytes, int descriptor) {
  iovec part{const_cast<void*>(request), bytes};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &descriptor, sizeof(int));
  }
  for (;;) {
    const ssize_t sent = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (sent >= 0 || errno != EINTR) {
      return sent == static_cast<ssize_t>(bytes);
    }
  }
}

/// Bytes of the message; -1: none will come. `descriptors` has kMaxDescriptors places.
ssize_t receive_reply(int socket, void* reply, uint32_t room, int* descriptors) {
  iovec part{reply, room};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptors)]{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t bytes = 0;
  do {
    bytes = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (bytes < 0 && errno == EINTR);
  if (bytes < 0) {
    return -1;
  }
  uint32_t count = 0;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr;
       head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const size_t fds = (head->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < fds; ++i) {
      int fd = -1;
      memcpy(&fd, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
      if (count < kMaxDescriptors) {
        descriptors[count++] = fd;
      } else {
        close(fd);
      }
    }
  }
  return (message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0 ? 0 : bytes;  // no reply is that long
}

void close_all(int* descriptors) {
  for (uint32_t i = 0; i < kMaxDescriptors; ++i) {
    if (descriptors[i] >= 0) {
      close(descriptors[i]);
      descriptors[i] = -1;
    }
  }
}

/// With the mutex held, on an open socket.
int exchange(State& own, const void* request, void* reply, uint32_t room, int* descriptors,
             int descriptor_out) {
  RequestHeader head;
  memcpy(&head, request, sizeof(head));
  if (head.size < sizeof(RequestHeader) || head.size > kMaxMessage || room < sizeof(ReplyHeader) ||
      room > kMaxMessage) {
    return EINVAL;
  }
  for (uint32_t i = 0; i < kMaxDescriptors; ++i) {
    descriptors[i] = -1;
  }
  if (!send_request(own.socket, request, head.size, descriptor_out)) {
    return broken_link(own, EIO);
  }
  const ssize_t bytes = receive_reply(own.socket, reply, room, descriptors);
  ReplyHeader answer;
  if (bytes < static_cast<ssize_t>(sizeof(answer))) {
    close_all(descriptors);
    return broken_link(own, bytes < 0 || bytes == 0 ? EIO : EPROTO);
  }
  memcpy(&answer, reply, sizeof(answer));
  if (answer.op != head.op || answer.size != static_cast<uint32_t>(bytes) || answer.status < 0 ||
      answer.status > 4095 || (answer.status == 0 && answer.size != room)) {
    close_all(descriptors);
    return broken_link(own, EPROTO);
  }
  own.read_ns.store(machine_ns(), std::memory_order_relaxed);
  own.now_ps.store(answer.now_ps, std::memory_order_relaxed);
  own.rate.store(answer.rate, std::memory_order_relaxed);
  if (answer.status != 0) {
    close_all(descriptors);
  }
  return answer.status;
}

int connect_to(const char* path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (strlen(path) >= sizeof(address.sun_path)) {
    return -ENAMETOOLONG;
  }
  strcpy(address.sun_path, path);
  const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0) {
    return -errno;
  }
  while (connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    if (errno != EINTR) {
      const int error = errno;
      close(fd);
      return error == ECONNREFUSED || error == ENOTDIR ? -ENOENT : -error;
    }
  }
  return fd;
}

bool map_work(State& own, int fd) {
  struct stat status {};
  if (fd < 0 || fstat(fd, &status) != 0 || status.st_size < static_cast<off_t>(sizeof(WorkRing))) {
    return false;
  }
  void* at = mmap(nullptr, sizeof(WorkRing), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  own.work = at == MAP_FAILED ? nullptr : static_cast<WorkRing*>(at);
  return own.work != nullptr;
}

/// With the mutex held.
int greet(State& own) {
  const char* path = getenv(kSocketVariable);
  const int fd = connect_to(path != nullptr && *path != 0 ? path : kSocketPath);
  if (fd < 0) {
    return -fd;
  }
  own.socket = fd;
  struct {
    RequestHeader head;
    HelloRequest body;
  } request{};
  request.head.op = Op::kHello;
  request.head.size = sizeof(request);
  request.body.version = kProtocolVersion;
  request.body.process = static_cast<uint32_t>(getpid());
  strncpy(request.body.program, program_invocation_short_name, sizeof(request.body.program) - 1);
  struct {
    ReplyHeader head;
    HelloReply body;
  } reply{};
  int descriptors[kMaxDescriptors];
  const int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
  int error =
      memory < 0 ? errno : exchange(own, &request, &reply, sizeof(reply), descriptors, memory);
  if (memory >= 0) {
    close(memory);
  }
  if (error == 0) {
    own.hello = reply.body;
    own.hello.host[sizeof(own.hello.host) - 1] = 0;
    own.hello.device[sizeof(own.hello.device) - 1] = 0;
    // A held session has to be asked for by the held library: here nothing makes the program's time stand still.
    const bool right = own.hello.version == kProtocolVersion && own.hello.mode == Mode::kWall &&
                       map_work(own, descriptors[0]) && descriptors[1] >= 0;
    own.events = right ? descriptors[1] : -1;
    descriptors[1] = right ? -1 : descriptors[1];
    close_all(descriptors);
    error = right ? 0 : EPROTO;
  }
  if (error != 0) {
    close(own.socket);
    own.socket = -1;
    own.broken.store(false);  // nothing was promised yet: the next attach may find another server
    return error;
  }
  own.attached = true;
  pthread_atfork(nullptr, nullptr, forget_in_child);
  return 0;
}

int attach(const HelloReply** hello, WorkRing** work, int* events) {
  State& own = state();
  if (own.broken.load()) {
    return EIO;  // before the mutex: in a forked child its holder may not exist
  }
  const Guard guard(own.mutex);
  if (own.broken.load()) {
    return EIO;
  }
  if (!own.attached) {
    const int error = greet(own);
    if (error != 0) {
      return error;
    }
  }
  *hello = &own.hello;
  *work = own.work;
  *events = own.events;
  return 0;
}

int call(const void* request, void* reply, uint32_t reply_room, int* descriptors) {
  State& own = state();
  if (own.broken.load()) {
    return EIO;
  }
  const Guard guard(own.mutex);
  if (own.broken.load() || !own.attached) {
    return EIO;
  }
  int taken[kMaxDescriptors];
  const int status = exchange(own, request, reply, reply_room, taken, -1);
  if (descriptors != nullptr) {
    memcpy(descriptors, taken, sizeof(taken));
  } else if (status == 0) {
    close_all(taken);
  }
  return status;
}

uint64_t now_ps() {
  const State& own = state();
  const uint64_t since = machine_ns() - own.read_ns.load(std::memory_order_relaxed);
  const auto passed =
      static_cast<unsigned __int128>(since) * own.rate.load(std::memory_order_relaxed) / 1000;
  return own.now_ps.load(std::memory_order_relaxed) + static_cast<uint64_t>(passed);
}

void spend(uint64_t) {}

int broken() {
  State& own = state();
  if (!own.broken.load(std::memory_order_relaxed)) {
    pollfd peer{own.socket, 0, 0};
    if (poll(&peer, 1, 0) == 0 || (peer.revents & (POLLHUP | POLLERR | POLLNVAL)) == 0) {
      return 0;
    }
    own.broken.store(true);
  }
  return EIO;
}

Mode mode() { return Mode::kWall; }

constexpr ProgramLink kWallLink{
    kProgramLinkVersion, sizeof(ProgramLink), attach, call, now_ps, spend, broken, mode,
};

}  // namespace

const ProgramLink* wall_link() { return &kWallLink; }

}  // namespace mrclab::verbs
