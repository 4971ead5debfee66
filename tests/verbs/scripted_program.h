#pragma once
// A held program as a test wrote it: a thread that speaks the protocol of verbs/protocol, and a fabric whose hosts hold
// such programs.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "netio/system/message_socket.h"
#include "tests/support/sim_fabric.h"
#include "verbs/protocol/management_address.h"
#include "verbs/protocol/messages.h"
#include "verbs/server/held/held_host.h"

namespace mrclab::test {

/// What the thread of a script calls; each call is one request. Throws when the host has ended the connection.
class ProgramSide {
 public:
  explicit ProgramSide(netio::MessageSocket socket) : socket_(std::move(socket)) {}

  struct Reply {
    int status = 0;
    uint64_t now_ps = 0;
    uint64_t rate = 0;
    std::vector<uint8_t> body;
    std::vector<netio::FileDescriptor> descriptors;
    template <class Body>
    Body as() const {
      Body out{};
      std::memcpy(&out, body.data(), std::min(sizeof out, body.size()));
      return out;
    }
  };

  /// Uses up fabric time; it is told with the next request.
  void spend(FabricTime time) { spent_ += static_cast<uint64_t>(time.ps()); }

  template <class Body>
  Reply call(verbs::Op op, const Body& body, std::vector<int> with = {}) {
    return call_with(op, {reinterpret_cast<const uint8_t*>(&body), sizeof body}, with);
  }
  Reply call(verbs::Op op) { return call_with(op, {}, {}); }
  void send_only(verbs::Op op) {
    const std::vector<uint8_t> message = message_of(op, {});
    socket_.send(message, {}, true);
  }

  verbs::HelloReply hello(const char* name) {
    verbs::HelloRequest request{};
    request.version = verbs::kProtocolVersion;
    request.process = static_cast<uint32_t>(::getpid());
    std::snprintf(request.program, sizeof request.program, "%s", name);
    const netio::FileDescriptor memory = netio::FileDescriptor::open("/proc/self/mem", O_RDWR);
    Reply reply = call(verbs::Op::kHello, request, {memory.get()});
    descriptors = std::move(reply.descriptors);
    if (reply.status != 0) throw std::runtime_error("hello: errno " + std::to_string(reply.status));
    return reply.as<verbs::HelloReply>();
  }
  FabricTime now() const { return now_; }
  /// Sleeps until an instant.
  void sleep_until(FabricTime at) {
    verbs::WaitRequest wait{};
    wait.until_ps = static_cast<uint64_t>(at.ps());
    call(verbs::Op::kWait, wait);
  }
  verbs::SocketReply socket(verbs::SocketOp what, uint32_t number, uint32_t host = 0,
                            uint16_t port = 0, uint64_t bytes = 0) {
    verbs::SocketRequest request{};
    request.what = what;
    request.socket = number;
    request.address = verbs::management_address(host);
    request.port = port;
    request.bytes = bytes;
    const Reply reply = call(verbs::Op::kSocket, request);
    status = reply.status;
    return reply.as<verbs::SocketReply>();
  }
  void wait_for_socket(uint32_t number) {
    verbs::WaitRequest wait{};
    wait.until_ps = UINT64_MAX;
    wait.count = 1;
    wait.handles[0] = number;
    call(verbs::Op::kWait, wait);
  }

  int status = 0;                                  ///< of the last socket()
  std::vector<netio::FileDescriptor> descriptors;  ///< of the hello: work ring, events

 private:
  std::vector<uint8_t> message_of(verbs::Op op, std::span<const uint8_t> body) {
    verbs::RequestHeader header{};
    header.op = op;
    header.size = static_cast<uint32_t>(sizeof header + body.size());
    header.spent_ps = std::exchange(spent_, 0);
    std::vector<uint8_t> message(header.size);
    std::memcpy(message.data(), &header, sizeof header);
    std::memcpy(message.data() + sizeof header, body.data(), body.size());
    return message;
  }
  Reply call_with(verbs::Op op, std::span<const uint8_t> body, const std::vector<int>& with) {
    if (!socket_.send(message_of(op, body), with, true)) throw std::runtime_error("host is gone");
    std::vector<uint8_t> room(verbs::kMaxMessage);
    netio::MessageSocket::Received received = socket_.receive(room, -1);
    if (received.outcome != netio::MessageSocket::Outcome::kMessage) {
      throw std::runtime_error("host is gone");
    }
    verbs::ReplyHeader header{};
    std::memcpy(&header, room.data(), sizeof header);
    now_ = FabricTime::from_ps(static_cast<int64_t>(header.now_ps));
    Reply reply{header.status, header.now_ps, header.rate, {}, std::move(received.descriptors)};
    reply.body.assign(room.begin() + sizeof header,
                      room.begin() + static_cast<ptrdiff_t>(received.size));
    return reply;
  }

  netio::MessageSocket socket_;
  uint64_t spent_ = 0;
  FabricTime now_;
};

/// A fabric with held programs in its hosts. Scripts run in threads of their own, each only while its host's node stands
/// still.
class HeldFabric {
 public:
  using Script = std::function<void(ProgramSide&)>;

  explicit HeldFabric(Topology topology, SimFabric::Options options = {},
                      verbs::HeldWorld::Patience patience = {})
      : fabric(std::move(topology), std::move(options)),
        world(fabric.topology.host_count(), patience, [this](uint32_t host, FabricTime at) {
          hosts_[host]->wake_at(at);
          fabric.plan(host);
        }) {
    fabric.stop_when_finished = false;
    for (uint32_t host = 0; host < fabric.topology.host_count(); ++host) {
      hosts_.push_back(std::make_unique<verbs::HeldHost>(
          world, fabric.host(host).device(),
          verbs::host_facts(fabric.topology, host, endpoint::TransportKind::kMrc)));
    }
  }
  ~HeldFabric() { hosts_.clear(); }

  void add(uint32_t host, Script script, FabricTime at = {}) {
    auto [mine, its] = netio::MessageSocket::pair();
    verbs::DeclaredProgram declared;
    declared.number = programs_++;
    declared.host = host;
    declared.at = at;
    hosts_[host]->declare(declared, std::move(mine));
    threads_.emplace_back([script = std::move(script), socket = std::move(its)]() mutable {
      ProgramSide side(std::move(socket));
      try {
        script(side);
      } catch (const std::runtime_error&) {  // the test looks at what it has recorded
      }
    });
  }
  std::vector<verbs::HeldReport> reports() const {
    std::vector<verbs::HeldReport> all;
    for (const auto& host : hosts_) {
      for (verbs::HeldReport& report : host->reports()) all.push_back(std::move(report));
    }
    return all;
  }
  verbs::HeldHost& host(uint32_t index) { return *hosts_[index]; }

  SimFabric fabric;
  verbs::HeldWorld world;

 private:
  std::vector<std::jthread> threads_;  ///< joined when the connections are gone
  std::vector<std::unique_ptr<verbs::HeldHost>> hosts_;
  uint32_t programs_ = 0;
};

}  // namespace mrclab::test
