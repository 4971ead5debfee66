// Drives any network plug-in of NCCL without NCCL and without GPUs: two processes send each other messages of host memory
// at the same time and compare every byte, and the bytes around them.
//
//   nccl_net_harness PLUGIN serve  OWN_ADDRESS  [--messages N] [--bytes N] [--port P] [--device N]
//   nccl_net_harness PLUGIN join   PEER_ADDRESS [...]
//
// PLUGIN is the file with the symbol ncclNetPlugin_v8; addresses are IPv4, for the exchange of handles. Sizes run through
// 0, 1, odd ones and about N bytes; kDepth messages are under way in each direction. Exit code 0: all were right. Progress
// is polled, as NCCL's proxy does; who waits for ever is killed by who started it.

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/verbs/programs/net_abi.h"

namespace {

using mrclab::test::kNetHandleBytes;
using mrclab::test::kNetPointerHost;
using mrclab::test::NetPlugin;

constexpr int kDepth = 8;  ///< NCCL_NET_MAX_REQUESTS
constexpr size_t kFence = 64;
constexpr uint8_t kFenceByte = 0xA5;
constexpr int kTag = 77;

struct Options {
  std::string plugin, address;
  bool serve = false;
  int messages = 20;
  int bytes = 1 << 20;
  uint16_t port = 18'600;
  int device = 0;
};

void check(int result, const char* what) {
  if (result != 0) throw std::runtime_error(std::string(what) + " gave " + std::to_string(result));
}
void check_system(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

void log_line(int level, unsigned long, const char* file, int line, const char* format, ...) {
  if (level > 2) return;  // Warnings and what is worse.
  std::fprintf(stderr, "%s:%d ", file, line);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::fputc('\n', stderr);
}

bool parse(int argc, char** argv, Options& options) {
  if (argc < 4 || argc % 2 != 0) return false;
  options.plugin = argv[1];
  options.serve = std::string(argv[2]) == "serve";
  if (!options.serve && std::string(argv[2]) != "join") return false;
  options.address = argv[3];
  for (int i = 4; i + 1 < argc; i += 2) {
    const std::string name = argv[i];
    const long value = std::strtol(argv[i + 1], nullptr, 10);
    if (name == "--messages")
      options.messages = static_cast<int>(value);
    else if (name == "--bytes")
      options.bytes = static_cast<int>(value);
    else if (name == "--port")
      options.port = static_cast<uint16_t>(value);
    else if (name == "--device")
      options.device = static_cast<int>(value);
    else
      return false;
  }
  return options.messages >= 1 && options.bytes >= 16 && options.bytes <= (64 << 20);
}

/// A socket to the peer, by which handles and the end are exchanged.
int meet(const Options& options) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  check_system(::inet_pton(AF_INET, options.address.c_str(), &address.sin_addr) == 1, "address");
  const auto* to = reinterpret_cast<const sockaddr*>(&address);
  if (options.serve) {
    const int listener = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    ::setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    check_system(::bind(listener, to, sizeof address) == 0, "bind");
    check_system(::listen(listener, 1) == 0, "listen");
    const int socket = ::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC);
    check_system(socket >= 0, "accept");
    ::close(listener);
    return socket;
  }
  for (int attempt = 0;; ++attempt) {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (::connect(socket, to, sizeof address) == 0) return socket;
    check_system(attempt < 3000, "connect");
    ::close(socket);
    ::usleep(10'000);
  }
}

template <typename T>
T exchange(int socket, const T& mine) {
  check_system(::send(socket, &mine, sizeof mine, MSG_NOSIGNAL) == ssize_t{sizeof mine}, "send");
  T theirs{};
  check_system(::recv(socket, &theirs, sizeof theirs, MSG_WAITALL) == ssize_t{sizeof theirs},
               "the peer is gone: recv");
  return theirs;
}

int size_of(int message, int bytes) {
  switch (message % 5) {
    case 0: return bytes - message % 7;
    case 1: return message % 3 == 0 ? 0 : 1;
    case 2: return bytes / 2 + 1;
    case 3: return 4096 < bytes ? 4096 : bytes;
    default: return 13;
  }
}

uint8_t byte_of(bool from_server, int message, size_t i) {
  return static_cast<uint8_t>(
      (i * 31 + i / 251 + static_cast<size_t>(message) * 17 + (from_server ? 91 : 0)) & 0xFF);
}

struct Slot {
  std::vector<uint8_t> memory;
  void* region = nullptr;
  void* request = nullptr;
  int message = -1;  ///< -1: free
  uint8_t* data() { return memory.data() + kFence; }
};

/// One direction: messages through kDepth slots.
class Direction {
 public:
  Direction(const NetPlugin& net, void* comm, bool sends, const Options& options)
      : net_(net), comm_(comm), sends_(sends), options_(options) {
    for (Slot& slot : slots_) {
      slot.memory.resize(static_cast<size_t>(options.bytes) + 2 * kFence);
      check(net.register_memory(comm, slot.data(), static_cast<size_t>(options.bytes),
                                kNetPointerHost, &slot.region),
            "regMr");
    }
  }
  /// Posts and reaps what it can. False: all is done.
  bool progress() {
    for (Slot& slot : slots_) {
      // In order: a message gets its slot when the one before it has been posted.
      if (slot.message < 0 && waiting_ == nullptr && next_ < options_.messages) {
        slot.message = next_++;
        prepare(slot);
        waiting_ = &slot;
      }
      if (waiting_ == &slot) post(slot);
      if (slot.request != nullptr) reap(slot);
    }
    return done_ < options_.messages;
  }
  void end() {
    for (Slot& slot : slots_) check(net_.deregister_memory(comm_, slot.region), "deregMr");
    check(sends_ ? net_.close_send(comm_) : net_.close_receive(comm_), "close");
  }
  uint64_t wrong() const { return wrong_; }
  uint64_t bytes() const { return bytes_; }

 private:
  void prepare(Slot& slot) {
    std::memset(slot.memory.data(), kFenceByte, slot.memory.size());
    if (!sends_) return;
    const int size = size_of(slot.message, options_.bytes);
    for (int i = 0; i < size; ++i) {
      slot.data()[i] = byte_of(options_.serve, slot.message, static_cast<size_t>(i));
    }
  }
  void post(Slot& slot) {
    void* data = slot.data();
    int size = options_.bytes;
    int tag = kTag;
    if (sends_) {
      size = size_of(slot.message, options_.bytes);
      check(net_.send(comm_, data, size, tag, slot.region, &slot.request), "isend");
    } else {
      check(net_.receive(comm_, 1, &data, &size, &tag, &slot.region, &slot.request), "irecv");
    }
    if (slot.request != nullptr) waiting_ = nullptr;
  }
  void reap(Slot& slot) {
    int done = 0;
    int size = -1;
    check(net_.test(slot.request, &done, &size), "test");
    if (done == 0) return;
    const int right = size_of(slot.message, options_.bytes);
    if (size != right) ++wrong_;
    if (!sends_) compare(slot, right);
    bytes_ += static_cast<uint64_t>(right);
    slot.request = nullptr;
    slot.message = -1;
    ++done_;
  }
  void compare(Slot& slot, int size) {
    for (size_t i = 0; i < slot.memory.size(); ++i) {
      const bool inside = i >= kFence && i < kFence + static_cast<size_t>(size);
      const uint8_t right =
          inside ? byte_of(!options_.serve, slot.message, i - kFence) : kFenceByte;
      if (slot.memory[i] != right) ++wrong_;
    }
  }

  const NetPlugin& net_;
  void* comm_;
  bool sends_;
  const Options& options_;
  std::array<Slot, kDepth> slots_;
  Slot* waiting_ = nullptr;  ///< has a message that the plug-in has not taken
  int next_ = 0, done_ = 0;
  uint64_t wrong_ = 0, bytes_ = 0;
};

int run(const Options& options) {
  void* library = ::dlopen(options.plugin.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(::dlerror());
  const auto* net = static_cast<const NetPlugin*>(::dlsym(library, "ncclNetPlugin_v8"));
  if (net == nullptr) throw std::runtime_error("no symbol ncclNetPlugin_v8");
  check(net->init(log_line), "init");
  int devices = 0;
  check(net->devices(&devices), "devices");
  if (options.device >= devices) throw std::runtime_error("it has no such device");
  mrclab::test::NetProperties properties{};
  check(net->properties(options.device, &properties), "getProperties");
  if ((properties.pointer_support & kNetPointerHost) == 0) {
    throw std::runtime_error("it cannot send host memory");
  }
  const int socket = meet(options);
  std::array<uint8_t, kNetHandleBytes> handle{};
  void* listener = nullptr;
  check(net->listen(options.device, handle.data(), &listener), "listen");
  std::array<uint8_t, kNetHandleBytes> peer = exchange(socket, handle);
  void* send_comm = nullptr;
  void* receive_comm = nullptr;
  while (send_comm == nullptr || receive_comm == nullptr) {
    void* offload = nullptr;
    if (send_comm == nullptr) {
      check(net->connect(options.device, peer.data(), &send_comm, &offload), "connect");
    }
    if (receive_comm == nullptr) check(net->accept(listener, &receive_comm, &offload), "accept");
    ::sched_yield();
  }
  Direction out(*net, send_comm, true, options);
  Direction in(*net, receive_comm, false, options);
  for (bool more = true; more;) {
    const bool sending = out.progress();
    more = in.progress() || sending;
    ::sched_yield();
  }
  exchange(socket, char{1});  // Nobody closes while the other still reads.
  out.end();
  in.end();
  check(net->close_listen(listener), "closeListen");
  const uint64_t wrong = out.wrong() + in.wrong();
  std::printf("%s on %s: %d messages each way, %llu bytes received, %llu wrong\n", net->name,
              properties.name, options.messages, static_cast<unsigned long long>(in.bytes()),
              static_cast<unsigned long long>(wrong));
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    std::fprintf(stderr,
                 "usage: nccl_net_harness PLUGIN serve|join ADDRESS [--messages N] [--bytes N] "
                 "[--port P] [--device N]\n");
    return 2;
  }
  try {
    return run(options);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "nccl_net_harness: %s\n", error.what());
    return 1;
  }
}
