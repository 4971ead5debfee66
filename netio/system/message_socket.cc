#include "netio/system/message_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cstring>
#include <string>

namespace mrclab::netio {
namespace {

constexpr int kBacklog = 64;

FileDescriptor make_socket() {
  return FileDescriptor(check_system_call("make a socket of messages",
                                          ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)));
}

/// Where a socket is. A path that is too long for an address is named by a descriptor of its folder, which must live as
/// long as the address is used.
struct Place {
  sockaddr_un address{};
  FileDescriptor folder;
};

Place place_of(const std::filesystem::path& path, std::string_view what) {
  Place place;
  place.address.sun_family = AF_UNIX;
  std::string name = path;
  if (name.size() >= sizeof place.address.sun_path) {
    place.folder = FileDescriptor::open(path.parent_path(), O_PATH | O_DIRECTORY);
    name = "/proc/self/fd/" + std::to_string(place.folder.get()) + "/" + path.filename().string();
  }
  if (name.size() >= sizeof place.address.sun_path) {
    throw SystemError(std::string(what) + " " + path.string(), ENAMETOOLONG);
  }
  std::memcpy(place.address.sun_path, name.c_str(), name.size() + 1);
  return place;
}

int connect_to(const FileDescriptor& fd, const sockaddr_un& address) {
  return ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
}

/// A socket file without a listener is a dead one's. Any other file is not ours to remove.
void make_way(const std::filesystem::path& path, const sockaddr_un& address) {
  const std::string what = "listen at " + path.string();
  const FileDescriptor probe = make_socket();
  if (connect_to(probe, address) == 0) throw SystemError(what, EADDRINUSE);
  if (errno == ENOENT) return;
  if (errno != ECONNREFUSED || !std::filesystem::is_socket(path)) throw SystemError(what, errno);
  ::unlink(path.c_str());
}

/// Takes over what the kernel has installed, so that nothing of it is leaked; false: some were cut off.
bool take_descriptors(const msghdr& header, std::vector<FileDescriptor>& into) {
  for (const cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr;
       part = CMSG_NXTHDR(const_cast<msghdr*>(&header), const_cast<cmsghdr*>(part))) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t bytes = part->cmsg_len - CMSG_LEN(0);
    for (size_t at = 0; at + sizeof(int) <= bytes; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + at, sizeof fd);
      into.emplace_back(fd);
    }
  }
  return (header.msg_flags & MSG_CTRUNC) == 0;
}

}  // namespace

std::pair<MessageSocket, MessageSocket> MessageSocket::pair() {
  std::array<int, 2> both{};
  check_system_call("make a pair of sockets",
                    ::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, both.data()));
  return {MessageSocket(FileDescriptor(both[0])), MessageSocket(FileDescriptor(both[1]))};
}

MessageSocket MessageSocket::connect(const std::filesystem::path& path) {
  const Place place = place_of(path, "connect to");
  FileDescriptor fd = make_socket();
  check_system_call("connect to " + path.string(), connect_to(fd, place.address));
  return MessageSocket(std::move(fd));
}

MessageSocket::Received MessageSocket::receive(std::span<uint8_t> room, int wait_ms) {
  Received received;
  if (wait_ms != 0) {
    pollfd waits{.fd = fd_.get(), .events = POLLIN, .revents = 0};
    if (::poll(&waits, 1, wait_ms) <= 0) return received;
  }
  iovec piece{room.data(), room.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  header.msg_control = control.data();
  header.msg_controllen = control.size();
  const ssize_t size = ::recvmsg(fd_.get(), &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size < 0) {
    const bool later = errno == EAGAIN || errno == EINTR;
    received.outcome = later ? Outcome::kNothing : Outcome::kClosed;
    return received;
  }
  const bool all = take_descriptors(header, received.descriptors);
  if (!all || (header.msg_flags & MSG_TRUNC) != 0) {
    received.outcome = Outcome::kBroken;
  } else if (size == 0) {
    // The end, or an empty message, which nobody sends who means well.
    received.outcome = Outcome::kClosed;
  } else {
    received.outcome = Outcome::kMessage;
    received.size = static_cast<size_t>(size);
  }
  return received;
}

bool MessageSocket::send(std::span<const uint8_t> message, std::span<const int> descriptors,
                         bool wait) {
  if (descriptors.size() > kMaxDescriptors) throw SystemError("send descriptors", E2BIG);
  iovec piece{const_cast<uint8_t*>(message.data()), message.size()};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMaxDescriptors * sizeof(int))> control{};
  msghdr header{};
  header.msg_iov = &piece;
  header.msg_iovlen = 1;
  if (!descriptors.empty()) {
    header.msg_control = control.data();
    header.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const part = CMSG_FIRSTHDR(&header);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
  }
  const int flags = MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT);
  ssize_t sent = -1;
  do {
    sent = ::sendmsg(fd_.get(), &header, flags);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(message.size());
}

MessageSocket::Peer MessageSocket::peer() const {
  ucred who{};
  socklen_t size = sizeof who;
  check_system_call("ask who connected",
                    ::getsockopt(fd_.get(), SOL_SOCKET, SO_PEERCRED, &who, &size));
  return {who.pid, who.uid};
}

MessageListener::MessageListener(const std::filesystem::path& path)
    : path_(path), fd_(make_socket()) {
  const Place place = place_of(path, "listen at");
  const sockaddr_un& address = place.address;
  make_way(path, address);
  const std::string what = "listen at " + path.string();
  // The file has these rights from its first instant on.
  const mode_t before = ::umask(0177);
  const int bound = ::bind(fd_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  const int error = errno;
  ::umask(before);
  if (bound != 0) throw SystemError(what, error);
  check_system_call(what, ::listen(fd_.get(), kBacklog));
}

MessageListener::~MessageListener() {
  if (fd_) ::unlink(path_.c_str());
}

std::optional<MessageSocket> MessageListener::accept() {
  pollfd waits{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  if (::poll(&waits, 1, 0) <= 0) return std::nullopt;
  FileDescriptor connected(::accept4(fd_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connected) return std::nullopt;
  return MessageSocket(std::move(connected));
}

ReadySet::ReadySet() : epoll_(check_system_call("watch sockets", ::epoll_create1(EPOLL_CLOEXEC))) {}

void ReadySet::add(int fd, uint64_t tag) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = tag}};
  check_system_call("watch a socket", ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event));
  ++size_;
}

void ReadySet::remove(int fd) {
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr) == 0) --size_;
}

std::span<const uint64_t> ReadySet::ready() {
  tags_.clear();
  if (size_ == 0) return {};
  std::array<epoll_event, kMost> events;
  const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  for (int i = 0; i < count; ++i) {
    const uint64_t tag = events[static_cast<size_t>(i)].data.u64;  // packed: no reference to it
    tags_.push_back(tag);
  }
  return tags_;
}

}  // namespace mrclab::netio
