// The times of programs' own sockets: every way takes 20 us, whoever runs first.

#include <doctest/doctest.h>

#include <cerrno>
#include <vector>

#include "fabric/base/units.h"
#include "verbs/protocol/management_address.h"
#include "verbs/server/held/management_net.h"

namespace mrclab::verbs {
namespace {

constexpr FabricTime us(int64_t value) { return FabricTime::from_us(value); }

/// A network of three hosts, each with one program.
struct Net {
  Net() : net(3, [this](uint32_t host, FabricTime at) { alarms.push_back({host, at}); }) {}

  ManagementNet::Answer ask(uint32_t host, SocketOp what, uint32_t socket, FabricTime now,
                            uint64_t bytes = 0, uint32_t to = 0, uint16_t port = 0) {
    SocketRequest request{};
    request.what = what;
    request.socket = socket;
    request.address = management_address(to);
    request.port = port;
    request.bytes = bytes;
    return net.handle(host, 7, request, now);
  }
  void deliver(FabricTime now) {
    for (uint32_t host = 0; host < 3; ++host) net.deliver(host, now);
  }
  /// h1's socket 1 is connected with h0's socket 2 from 60 us on.
  void connect() {
    ask(0, SocketOp::kListen, 1, us(0), 5, 0, 80);
    ask(1, SocketOp::kConnect, 1, us(0), 0, 0, 80);
    deliver(us(20));
    deliver(us(40));
    ask(1, SocketOp::kConnected, 1, us(40));
    deliver(us(60));
    REQUIRE(ask(0, SocketOp::kAccept, 1, us(60), 2).status == 0);
  }
  bool ready(uint32_t host, uint32_t socket) const { return net.ready(host, {7, socket}); }

  std::vector<std::pair<uint32_t, FabricTime>> alarms;
  ManagementNet net;
};

TEST_CASE("a connect is answered after two ways, and accepted after a third") {
  Net net;
  CHECK(net.ask(0, SocketOp::kListen, 1, us(0), 5, 0, 80).status == 0);
  CHECK(net.ask(1, SocketOp::kConnect, 1, us(3), 0, 0, 80).status == 0);
  CHECK(net.alarms.back() == std::pair{0u, us(23)});
  net.deliver(us(22));
  CHECK(net.alarms.size() == 1);
  net.deliver(us(23));
  CHECK(net.alarms.back() == std::pair{1u, us(43)});
  CHECK(net.ask(1, SocketOp::kReceive, 1, us(42)).status == EINPROGRESS);
  CHECK_FALSE(net.ready(1, 1));
  net.deliver(us(43));
  CHECK(net.ready(1, 1));
  CHECK(net.ask(1, SocketOp::kReceive, 1, us(43)).status == EAGAIN);
  CHECK(net.ask(0, SocketOp::kAccept, 1, us(43), 2).status == EAGAIN);
  CHECK(net.ask(1, SocketOp::kConnected, 1, us(43)).status == 0);
  net.deliver(us(63));
  CHECK(net.ready(0, 1));
  const auto accepted = net.ask(0, SocketOp::kAccept, 1, us(63), 2);
  CHECK(accepted.status == 0);
  CHECK(accepted.reply.address == management_address(1));
  CHECK(accepted.reply.local_port == 80);
}

TEST_CASE("a connect to nobody is refused after two ways; the number can be used again") {
  Net net;
  CHECK(net.ask(1, SocketOp::kConnect, 1, us(0), 0, 0, 80).status == 0);
  net.deliver(us(20));
  net.deliver(us(40));
  CHECK(net.ask(1, SocketOp::kReceive, 1, us(40)).status == ECONNREFUSED);
  CHECK(net.ask(1, SocketOp::kConnect, 1, us(40), 0, 0, 80).status == 0);
  CHECK(net.ask(1, SocketOp::kConnect, 1, us(40), 0, 0, 80).status == EALREADY);
  CHECK(net.ask(1, SocketOp::kConnect, 2, us(40), 0, 3, 80).status == ENETUNREACH);
  CHECK(net.ask(1, SocketOp::kConnect, 0, us(40), 0, 0, 80).status == EBADF);
}

TEST_CASE("bytes arrive once, and a window of them is under way at most") {
  Net net;
  net.connect();
  const auto sent = net.ask(1, SocketOp::kSent, 1, us(60), kSocketWindow + 5);
  CHECK(sent.reply.bytes == kSocketWindow);
  CHECK(net.ask(1, SocketOp::kSent, 1, us(61), 5).status == EAGAIN);
  CHECK(net.ask(0, SocketOp::kReceive, 2, us(79), 100).status == EAGAIN);
  net.deliver(us(80));
  CHECK(net.ask(0, SocketOp::kReceive, 2, us(80)).reply.bytes == kSocketWindow);
  CHECK(net.ask(0, SocketOp::kReceive, 2, us(80), 100).reply.bytes == 100);
  CHECK(net.ask(0, SocketOp::kReceive, 2, us(80)).reply.bytes == kSocketWindow - 100);
  CHECK_FALSE(net.ready(1, 1));
  net.deliver(us(100));
  CHECK(net.ready(1, 1));  // room
  CHECK(net.ask(1, SocketOp::kSent, 1, us(100), 1'000).reply.bytes == 100);
}

TEST_CASE("an end comes behind the bytes before it") {
  Net net;
  net.connect();
  net.ask(1, SocketOp::kSent, 1, us(60), 9);
  CHECK(net.ask(1, SocketOp::kShutdown, 1, us(60), 1).status == 0);
  CHECK(net.ask(1, SocketOp::kSent, 1, us(61), 1).status == EPIPE);
  net.deliver(us(80));
  const auto part = net.ask(0, SocketOp::kReceive, 2, us(80), 4);
  CHECK(part.reply.bytes == 4);
  CHECK(part.reply.closed == 0);
  const auto rest = net.ask(0, SocketOp::kReceive, 2, us(80), 40);
  CHECK(rest.reply.bytes == 5);
  CHECK(rest.reply.closed == 1);
  CHECK(net.ask(0, SocketOp::kReceive, 2, us(80), 40).status == 0);
  CHECK(net.ask(0, SocketOp::kSent, 2, us(80), 3).reply.bytes == 3);  // the other way is open
}

TEST_CASE("a program's death closes what it had, and who writes to it is told") {
  Net net;
  net.connect();
  net.net.close_all(1, 7, us(70));
  CHECK(net.ask(1, SocketOp::kSent, 1, us(71), 1).status == ENOTCONN);
  CHECK(net.ask(0, SocketOp::kSent, 2, us(80), 3).status == 0);
  net.deliver(us(90));
  CHECK(net.ready(0, 2));
  CHECK(net.ask(0, SocketOp::kReceive, 2, us(90), 40).reply.closed == 1);
  CHECK(net.ask(0, SocketOp::kSent, 2, us(90), 3).status == EPIPE);
  net.net.close_all(0, 7, us(95));
  CHECK(net.ask(0, SocketOp::kListen, 1, us(95), 5, 0, 80).status == 0);  // the port is free
}

TEST_CASE("who asks at one instant waits in the order of hosts, whichever ran first") {
  for (const bool second_first : {false, true}) {
    Net net;
    net.ask(0, SocketOp::kListen, 1, us(0), 5, 0, 80);
    for (const uint32_t host : second_first ? std::vector{2u, 1u} : std::vector{1u, 2u}) {
      net.ask(host, SocketOp::kConnect, 1, us(5), 0, 0, 80);
    }
    net.deliver(us(25));
    net.deliver(us(45));
    for (const uint32_t host : second_first ? std::vector{2u, 1u} : std::vector{1u, 2u}) {
      net.ask(host, SocketOp::kConnected, 1, us(45));
    }
    net.deliver(us(65));
    CHECK(net.ask(0, SocketOp::kAccept, 1, us(65), 2).reply.address == management_address(1));
    CHECK(net.ask(0, SocketOp::kAccept, 1, us(65), 3).reply.address == management_address(2));
    CHECK(net.ask(0, SocketOp::kAccept, 1, us(65), 4).status == EAGAIN);
  }
}

TEST_CASE("a listener takes no more than it asked for, and a port has one listener") {
  Net net;
  net.ask(0, SocketOp::kListen, 1, us(0), 1, 0, 80);
  CHECK(net.ask(0, SocketOp::kListen, 2, us(0), 1, 0, 80).status == EADDRINUSE);
  for (const uint32_t host : {1u, 2u}) net.ask(host, SocketOp::kConnect, 1, us(0), 0, 0, 80);
  net.deliver(us(20));
  net.deliver(us(40));
  for (const uint32_t host : {1u, 2u}) net.ask(host, SocketOp::kConnected, 1, us(40));
  net.deliver(us(60));
  net.deliver(us(80));
  CHECK(net.ask(2, SocketOp::kReceive, 1, us(80), 1).reply.closed == 1);
  CHECK(net.ask(1, SocketOp::kReceive, 1, us(80), 1).status == EAGAIN);
}

}  // namespace
}  // namespace mrclab::verbs
