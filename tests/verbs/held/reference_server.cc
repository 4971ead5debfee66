#include "tests/verbs/held/reference_server.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "verbs/protocol/management_address.h"
#include "verbs/protocol/ring.h"

namespace mrclab::test {

using namespace verbs;

namespace {

int checked(const char* what, int result) {
  if (result < 0) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
  return result;
}

template <typename T>
T body(const std::vector<std::byte>& message) {
  T value{};
  if (message.size() >= sizeof(RequestHeader) + sizeof(T))
    std::memcpy(&value, message.data() + sizeof(RequestHeader), sizeof(T));
  return value;
}

bool readable(int fd, int patience_ms) {
  pollfd file{fd, POLLIN, 0};
  return poll(&file, 1, patience_ms) > 0;
}

}  // namespace

ReferenceServer::ReferenceServer(const std::vector<uint32_t>& hosts) {
  char folder[] = "/tmp/mrclab-held-XXXXXX";
  if (mkdtemp(folder) == nullptr) throw std::runtime_error("mkdtemp");
  folder_ = folder;
  for (const uint32_t host : hosts) {
    Program program;
    program.host = host;
    program.path = folder_ + "/" + std::to_string(programs_.size());
    program.door = checked("socket", socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, program.path.c_str(), sizeof address.sun_path - 1);
    checked("bind", bind(program.door, reinterpret_cast<sockaddr*>(&address), sizeof address));
    checked("listen", listen(program.door, 1));
    programs_.push_back(std::move(program));
  }
}

ReferenceServer::~ReferenceServer() {
  for (Program& program : programs_) {
    for (const int fd : {program.door, program.link, program.memory, program.events})
      if (fd >= 0) close(fd);
    for (const int fd : program.channels) close(fd);
  }
  std::filesystem::remove_all(folder_);
}

void ReferenceServer::at(uint64_t ps, size_t source, std::function<void()> what) {
  queue_[{ps, static_cast<uint64_t>(source) << 48 | ++sequence_}] = std::move(what);
}

bool ReferenceServer::admit(int patience_ms) {
  for (Program& program : programs_) {
    if (!readable(program.door, patience_ms)) {
      why_ = "a program did not connect";
      return false;
    }
    program.link = checked("accept", accept4(program.door, nullptr, nullptr, SOCK_CLOEXEC));
    struct {
      RequestHeader header;
      HelloRequest hello;
    } request{};
    iovec part{&request, sizeof request};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    checked("hello", static_cast<int>(recvmsg(program.link, &message, MSG_CMSG_CLOEXEC)));
    if (const cmsghdr* const sent = CMSG_FIRSTHDR(&message))
      std::memcpy(&program.memory, CMSG_DATA(sent), sizeof(int));
    program.op = Op::kHello;
  }
  for (size_t i = 0; i < programs_.size(); ++i) {
    HelloReply hello{};
    hello.version = kProtocolVersion;
    hello.mode = Mode::kHeld;
    std::strcpy(hello.host, ("h" + std::to_string(programs_[i].host)).c_str());
    std::strcpy(hello.device, "mrc0");
    hello.host_number = programs_[i].host;
    hello.cost_call_ps = 100'000;
    hello.cost_clock_ps = 20'000;
    hello.epoch_ns = 1'750'000'000'000'000'000;
    hello.seed = 1000 + i;
    const int ring = checked("memfd", memfd_create("work", MFD_CLOEXEC));
    checked("ftruncate", ftruncate(ring, sizeof(WorkRing)));
    int events[2];
    checked("socketpair", socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, events));
    programs_[i].events = events[0];
    reply(i, 0, &hello, sizeof hello, ring, events[1]);
    close(ring);
    close(events[1]);
  }
  return true;
}

void ReferenceServer::reply(size_t index, int32_t status, const void* body, size_t size,
                            int descriptor, int second) {
  Program& program = programs_[index];
  ReplyHeader header{};
  header.op = program.op;
  header.size = static_cast<uint32_t>(sizeof header + size);
  header.status = status;
  header.now_ps = now_ps_;
  std::byte more[4096] = {};
  switch (requests_ < fault_from_ ? Fault::kNone : fault_) {
    case Fault::kNone: break;
    case Fault::kHangsUp:
      shutdown(program.link, SHUT_RDWR);
      program.state = State::kGone;
      return;
    case Fault::kTooShort: header.size = 8; break;
    case Fault::kTooLong:
      body = more;
      size = sizeof more;
      break;
    case Fault::kOtherOp: header.op = Op::kProbePaths; break;
    case Fault::kTimeRunsBack: header.now_ps = 0; break;
    case Fault::kHoldsNoLonger: header.rate = 1000; break;
  }
  iovec parts[2] = {{&header, header.size == 8 ? 8 : sizeof header},
                    {const_cast<void*>(body), size}};
  alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = size > 0 && header.size != 8 ? 2 : 1;
  const int descriptors[2] = {descriptor, second};
  const size_t count = descriptor < 0 ? 0 : second < 0 ? 1 : 2;
  if (count > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(count * sizeof(int));
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(count * sizeof(int));
    std::memcpy(CMSG_DATA(part), descriptors, count * sizeof(int));
  }
  sendmsg(program.link, &message, MSG_NOSIGNAL);  // one that has ended is seen when it is read
  program.state = State::kRuns;
  program.waits = false;
  program.changed = false;
  program.now_ps = now_ps_;
}

bool ReferenceServer::run(int patience_ms) {
  if (!admit(patience_ms)) return false;
  for (;;) {
    const auto runs = std::find_if(programs_.begin(), programs_.end(), [](const Program& program) {
      return program.state == State::kRuns;
    });
    if (runs != programs_.end()) {
      if (!read_request(static_cast<size_t>(runs - programs_.begin()), patience_ms)) return false;
      continue;
    }
    if (std::all_of(programs_.begin(), programs_.end(),
                    [](const Program& program) { return program.state == State::kGone; }))
      return true;
    if (queue_.empty()) {
      why_ = "all programs wait for ever";
      return false;
    }
    const auto first = queue_.begin();
    now_ps_ = first->first.first;
    const auto what = std::move(first->second);
    queue_.erase(first);
    what();
  }
}

bool ReferenceServer::read_request(size_t index, int patience_ms) {
  Program& program = programs_[index];
  if (!readable(program.link, patience_ms)) {
    why_ = "program " + std::to_string(index) + " makes no request";
    return false;
  }
  std::vector<std::byte> message(kMaxMessage);
  const ssize_t size = recv(program.link, message.data(), message.size(), 0);
  program.state = State::kStands;
  if (size < static_cast<ssize_t>(sizeof(RequestHeader))) {
    at(program.now_ps, index, [this, index] {
      if (!programs_[index].not_held) not_held_.emplace_back("vanished");
      end_program(index);
    });
    return true;
  }
  message.resize(static_cast<size_t>(size));
  RequestHeader header;
  std::memcpy(&header, message.data(), sizeof header);
  at(std::max(now_ps_, program.now_ps + header.spent_ps), index,
     [this, index, message] { handle(index, message); });
  return true;
}

void ReferenceServer::end_program(size_t index) {
  Program& program = programs_[index];
  program.state = State::kGone;
  history_ += std::to_string(now_ps_) + " " + std::to_string(index) + " ends\n";
  for (const auto& [number, id] : program.sockets) end_connection(id);
  program.sockets.clear();
}

void ReferenceServer::handle(size_t index, const std::vector<std::byte>& message) {
  Program& program = programs_[index];
  RequestHeader header;
  std::memcpy(&header, message.data(), sizeof header);
  program.op = header.op;
  ++requests_;
  history_ += std::to_string(now_ps_) + " " + std::to_string(index) + " " +
              std::to_string(static_cast<uint32_t>(header.op)) + "\n";
  switch (header.op) {
    case Op::kExit: return end_program(index);
    case Op::kNotHeld: {
      program.not_held = true;
      not_held_.emplace_back(body<NotHeldRequest>(message).why);
      return reply(index, 0);
    }
    case Op::kWait: {
      const auto wait = body<WaitRequest>(message);
      program.wants_memory = wait.memory != 0;
      program.handles.assign(wait.handles, wait.handles + std::min(wait.count, 64u));
      return begin_wait(index, wait.until_ps);
    }
    case Op::kNextEvent:
      program.wants_memory = true;
      program.handles.clear();
      return begin_wait(index, UINT64_MAX);
    case Op::kPollEmpty:
      program.wants_memory = true;
      program.handles.clear();
      return begin_wait(index, now_ps_ + 50'000);
    case Op::kRegisterMemory: {
      const RegionReply region{1, 1, 1, 0};
      const uint64_t address = body<RegionRequest>(message).address;
      if (period_ps_ > 0) at(now_ps_ + period_ps_, 1000, [=, this] { count(index, address); });
      return reply(index, 0, &region, sizeof region);
    }
    case Op::kCreateChannel: {
      int ends[2];
      checked("socketpair", socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends));
      program.channels.push_back(ends[0]);
      const HandleReply handle{static_cast<uint32_t>(program.channels.size()), 0};
      reply(index, 0, &handle, sizeof handle, ends[1]);
      close(ends[1]);
      return;
    }
    case Op::kArmCq:
      at(now_ps_ + 50'000'000, 1000, [this, index] {
        const ChannelEventWire event{7, 0};
        Program& armed = programs_[index];
        if (!armed.channels.empty())
          send(armed.channels.back(), &event, sizeof event, MSG_NOSIGNAL);
        change_memory(index);
      });
      return reply(index, 0);
    case Op::kSocket: return handle_socket(index, body<SocketRequest>(message));
    default: return reply(index, 0);
  }
}

void ReferenceServer::count(size_t index, uint64_t address) {
  Program& program = programs_[index];
  if (program.state == State::kGone) return;
  uint64_t word = 0;
  const auto where = static_cast<off_t>(address);
  if (pread(program.memory, &word, sizeof word, where) != sizeof word) return;
  ++word;
  if (pwrite(program.memory, &word, sizeof word, where) != sizeof word) return;
  at(now_ps_ + period_ps_, 1000, [=, this] { count(index, address); });
  change_memory(index);
}

void ReferenceServer::change_memory(size_t index) {
  Program& program = programs_[index];
  program.changed = true;
  if (!program.waits || !program.wants_memory) return;
  const WaitReply none{};
  program.op == Op::kWait ? reply(index, 0, &none, sizeof none) : reply(index, 0);
}

}  // namespace mrclab::test
