#include "tests/verbs/client/loopback_server.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <stdexcept>

namespace mrclab::verbs::client_test {
namespace {

template <typename T>
void store(std::vector<uint8_t>& reply, const T& value) {
  const auto* bytes = reinterpret_cast<const uint8_t*>(&value);
  reply.insert(reply.end(), bytes, bytes + sizeof(value));
}

template <typename T>
T load(std::span<const uint8_t> body) {
  T value{};
  if (body.size() >= sizeof(T)) {
    std::memcpy(&value, body.data(), sizeof(T));
  }
  return value;
}

/// A mapping that a program shares by its descriptor.
void* shared_pages(size_t bytes, int& fd) {
  fd = memfd_create("loopback", MFD_CLOEXEC);
  if (fd < 0 || ftruncate(fd, static_cast<off_t>(bytes)) != 0) {
    throw std::runtime_error("memfd_create");
  }
  return mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

size_t ring_bytes(uint32_t depth) {
  return offsetof(CompletionRing, entries) + depth * sizeof(CompletionEntry);
}

}  // namespace

LoopbackServer::LoopbackServer(std::string path, LoopbackOptions options)
    : path_(std::move(path)), options_(std::move(options)) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, path_.c_str(), sizeof(address.sun_path) - 1);
  unlink(path_.c_str());
  listener_ = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (bind(listener_, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      listen(listener_, 16) != 0) {
    throw std::runtime_error("listen at " + path_);
  }
}

LoopbackServer::~LoopbackServer() {
  hang_up();
  close(listener_);
  unlink(path_.c_str());
}

void LoopbackServer::run(const std::atomic<bool>& stop) {
  while (!stop.load()) {
    tick(0);
    const timespec pause{0, 20'000};
    nanosleep(&pause, nullptr);
  }
}

void LoopbackServer::tick(int wait_ms) {
  ++ticks_;
  std::vector<pollfd> items{{listener_, POLLIN, 0}};
  for (const auto& connection : connections_) {
    items.push_back({connection->socket, POLLIN, 0});
  }
  poll(items.data(), items.size(), wait_ms);
  for (size_t i = 1; i < items.size(); ++i) {
    if (items[i].revents != 0) {
      serve_message(*connections_[i - 1]);
    }
  }
  if (items[0].revents != 0) {
    accept_one();
  }
  for (const auto& connection : connections_) {
    take_work(*connection);
  }
  for (const auto& connection : connections_) {
    progress(*connection);
  }
  std::erase_if(connections_, [this](const auto& connection) {
    if (connection->ended) {
      end(*connection);
    }
    return connection->ended;
  });
}

void LoopbackServer::send_event(AsyncEventWire event) {
  for (const auto& connection : connections_) {
    [[maybe_unused]] const ssize_t sent = write(connection->events[1], &event, sizeof(event));
  }
}

void LoopbackServer::hang_up() {
  for (const auto& connection : connections_) {
    end(*connection);
  }
  connections_.clear();
}

void LoopbackServer::end(Connection& of) {
  for (auto& [handle, channel] : of.channels) {
    close(channel.write_end);
  }
  for (auto& [handle, queue] : of.queues) {
    munmap(queue.ring, queue.mapped);
  }
  for (const int fd : {of.socket, of.memory, of.events[0], of.events[1]}) {
    if (fd >= 0) {
      close(fd);
    }
  }
  if (of.work != nullptr) {
    munmap(of.work, sizeof(WorkRing));
  }
}

void LoopbackServer::accept_one() {
  auto connection = std::make_unique<Connection>();
  connection->socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
  if (connection->socket >= 0) {
    connections_.push_back(std::move(connection));
  }
}

void LoopbackServer::serve_message(Connection& from) {
  std::vector<uint8_t> message(kMaxMessage);
  iovec part{message.data(), message.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * 4)];
  msghdr head{};
  head.msg_iov = &part;
  head.msg_iovlen = 1;
  head.msg_control = control;
  head.msg_controllen = sizeof(control);
  const ssize_t bytes = recvmsg(from.socket, &head, MSG_CMSG_CLOEXEC);
  if (bytes < static_cast<ssize_t>(sizeof(RequestHeader))) {
    from.ended = true;
    return;
  }
  if (cmsghdr* rights = CMSG_FIRSTHDR(&head); rights != nullptr && from.memory < 0) {
    std::memcpy(&from.memory, CMSG_DATA(rights), sizeof(int));
  }
  RequestHeader request;
  std::memcpy(&request, message.data(), sizeof(request));
  std::vector<uint8_t> reply(sizeof(ReplyHeader));
  std::vector<int> descriptors;
  take_work(from);  // in the order of the program
  const int status =
      answer(from, request.op, std::span(message).subspan(sizeof(request), bytes - sizeof(request)),
             reply, descriptors);
  ReplyHeader answer_head{request.op, static_cast<uint32_t>(reply.size()), status, 0, ticks_ * 1000,
                          0};
  std::memcpy(reply.data(), &answer_head, sizeof(answer_head));
  if (options_.spoil) {
    options_.spoil(request.op, reply);
  }
  if (reply.empty()) {
    from.ended = true;
  } else {
    iovec out{reply.data(), reply.size()};
    msghdr message_out{};
    message_out.msg_iov = &out;
    message_out.msg_iovlen = 1;
    alignas(cmsghdr) char rights[CMSG_SPACE(sizeof(int) * 4)]{};
    if (!descriptors.empty()) {
      message_out.msg_control = rights;
      message_out.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
      cmsghdr* first = CMSG_FIRSTHDR(&message_out);
      first->cmsg_level = SOL_SOCKET;
      first->cmsg_type = SCM_RIGHTS;
      first->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
      std::memcpy(CMSG_DATA(first), descriptors.data(), sizeof(int) * descriptors.size());
    }
    sendmsg(from.socket, &message_out, MSG_NOSIGNAL);
  }
  for (const int fd : descriptors) {
    if (fd != from.events[0]) {
      close(fd);
    }
  }
}

int LoopbackServer::hello(Connection& from, std::vector<uint8_t>& reply,
                          std::vector<int>& descriptors) {
  int fd = -1;
  from.work = static_cast<WorkRing*>(shared_pages(sizeof(WorkRing), fd));
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, from.events) != 0) {
    throw std::runtime_error("socketpair");
  }
  descriptors = {fd, from.events[0]};
  HelloReply told{};
  told.version = kProtocolVersion;
  told.mode = Mode::kWall;
  std::strncpy(told.host, "h0", sizeof(told.host) - 1);
  std::strncpy(told.device, options_.device, sizeof(told.device) - 1);
  const uint8_t gid[16] = {0xfd, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  std::memcpy(told.gid, gid, sizeof(gid));
  told.node_guid = 0x0200'00FF'FE00'0001;
  told.transport = options_.transport;
  told.ports = 8;
  told.rate_bps = 800'000'000'000;
  told.max_qp = told.max_mr = told.max_cq = told.max_srq = 1024;
  told.max_cqe = 32768;
  told.max_wr = 8192;
  told.max_sge = kMaxSges;
  told.max_inline = kMaxInline;
  told.capabilities = options_.capabilities;
  told.mtu = 4096;
  told.max_mpr = 64;
  told.max_wimm = 256;
  store(reply, told);
  return 0;
}

int LoopbackServer::create_cq(Connection& from, const CqRequest& request,
                              std::vector<uint8_t>& reply, std::vector<int>& descriptors) {
  if (from.queues.size() >= 1024) {
    return ENOMEM;
  }
  uint32_t depth = 1;
  while (depth < request.depth) {
    depth *= 2;
  }
  int fd = -1;
  void* at = shared_pages(ring_bytes(depth), fd);
  const uint32_t handle = from.next_handle++;
  from.queues[handle] =
      Queue{static_cast<CompletionRing*>(at), ring_bytes(depth), depth, request.channel, 0, 0};
  descriptors = {fd};
  store(reply, HandleReply{handle, depth});
  return 0;
}

int LoopbackServer::create_qp(Connection& from, const QpRequest& request,
                              std::vector<uint8_t>& reply) {
  if (from.pairs.size() >= 1024) {
    return ENOMEM;
  }
  const uint32_t handle = from.next_handle++;
  const uint32_t qpn = next_qpn_++;
  from.pairs[handle] = Pair{
      request.send_cq, request.recv_cq, request.srq, request.domain, qpn, 0, {}, {}, {}, false};
  store(reply, QpReply{handle, qpn, request.max_send_wr, request.max_recv_wr, request.max_send_sge,
                       request.max_recv_sge, request.max_inline, 0});
  return 0;
}

int LoopbackServer::modify_qp(Connection& from, const ModifyRequest& request) {
  const auto found = from.pairs.find(request.handle);
  if (found == from.pairs.end()) {
    return ENOENT;
  }
  Pair& pair = found->second;
  const QpAttributesWire& at = request.attributes;
  QpAttributesWire& own = pair.attributes;
  const auto take = [&request](uint32_t bit, auto& field, const auto& value) {
    if ((request.mask & bit) != 0) {
      std::memcpy(&field, &value, sizeof(field));
    }
  };
  take(1u << 3, own.access, at.access);
  take(1u << 7, own.remote_gid, at.remote_gid);
  take(1u << 20, own.remote_qpn, at.remote_qpn);
  take(1u << 9, own.timeout, at.timeout);
  take(1u << 10, own.retry_cnt, at.retry_cnt);
  take(1u << 11, own.rnr_retry, at.rnr_retry);
  if ((request.mask & 1) != 0) {
    pair.state = at.state;
    if (at.state == 0) {
      pair.sends.clear();
      pair.receives.clear();
    } else if (at.state == 6) {
      fail(from, pair);
    }
  }
  return 0;
}

int LoopbackServer::answer(Connection& from, Op op, std::span<const uint8_t> body,
                           std::vector<uint8_t>& reply, std::vector<int>& descriptors) {
  const uint32_t handle = load<HandleRequest>(body).handle;
  switch (op) {
    case Op::kHello: return hello(from, reply, descriptors);
    case Op::kQueryPort: store(reply, PortReply{1, 0xFF, 0xF, 0}); return 0;
    case Op::kRegisterMemory: {
      const auto request = load<RegionRequest>(body);
      if (from.regions.size() >= 1024) {
        return ENOMEM;
      }
      const uint32_t key = next_key_++;
      from.regions[key] =
          Region{request.address, request.length, request.iova, request.access, request.domain};
      store(reply, RegionReply{key, key, key, 0});
      return 0;
    }
    case Op::kDeregisterMemory: return from.regions.erase(handle) == 1 ? 0 : ENOENT;
    case Op::kCreateChannel: {
      int ends[2];
      if (pipe2(ends, O_CLOEXEC) != 0) {
        return errno;
      }
      fcntl(ends[1], F_SETFL, O_NONBLOCK);
      from.channels[from.next_handle] = Channel{ends[0], ends[1]};
      descriptors = {ends[0]};
      store(reply, HandleReply{from.next_handle++, 0});
      return 0;
    }
    case Op::kDestroyChannel: {
      const auto found = from.channels.find(handle);
      if (found == from.channels.end()) {
        return ENOENT;
      }
      close(found->second.write_end);
      from.channels.erase(found);
      return 0;
    }
    case Op::kCreateCq: return create_cq(from, load<CqRequest>(body), reply, descriptors);
    case Op::kDestroyCq: {
      const auto found = from.queues.find(handle);
      if (found == from.queues.end()) {
        return ENOENT;
      }
      munmap(found->second.ring, found->second.mapped);
      from.queues.erase(found);
      return 0;
    }
    case Op::kArmCq: {
      const auto request = load<ArmRequest>(body);
      const auto found = from.queues.find(request.cq);
      if (found == from.queues.end()) {
        return ENOENT;
      }
      found->second.armed = request.solicited_only != 0 && found->second.armed != 1 ? 2 : 1;
      return 0;
    }
    case Op::kCreateSrq: {
      const auto request = load<SrqRequest>(body);
      from.shared[from.next_handle] =
          SharedQueue{request.max_wr, request.max_sge, request.limit, request.domain, {}};
      store(reply, HandleReply{from.next_handle++, 0});
      return 0;
    }
    case Op::kModifySrq: {
      const auto request = load<SrqRequest>(body);
      const auto found = from.shared.find(request.handle);
      if (found == from.shared.end()) {
        return ENOENT;
      }
      found->second.limit = request.limit;
      return 0;
    }
    case Op::kQuerySrq: {
      const auto found = from.shared.find(handle);
      if (found == from.shared.end()) {
        return ENOENT;
      }
      store(reply, SrqReply{found->second.max_wr, found->second.max_sge, found->second.limit, 0});
      return 0;
    }
    case Op::kDestroySrq: return from.shared.erase(handle) == 1 ? 0 : ENOENT;
    case Op::kCreateQp: return create_qp(from, load<QpRequest>(body), reply);
    case Op::kModifyQp: return modify_qp(from, load<ModifyRequest>(body));
    case Op::kQueryQp: {
      const auto found = from.pairs.find(handle);
      if (found == from.pairs.end()) {
        return ENOENT;
      }
      QueryReply told{found->second.attributes};
      told.attributes.state = found->second.state;
      store(reply, told);
      return 0;
    }
    case Op::kDestroyQp: return from.pairs.erase(handle) == 1 ? 0 : ENOENT;
    case Op::kFlushWork: return 0;
    default: return EOPNOTSUPP;
  }
}

}  // namespace mrclab::verbs::client_test
