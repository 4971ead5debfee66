#include "standalone/connection.h"

#include <doctest/doctest.h>

#include <arpa/inet.h>
#include <sys/socket.h>

#include <future>
#include <thread>

#include "netio/kernel/route.h"

namespace mrclab::standalone {
namespace {

Hello hello(const char* address) {
  return {netio::parse_address(address), {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}}, 4096};
}

QueuePairInfo queue_pair() {
  QueuePairInfo info;
  info.qpn = {0x123456};
  info.psn = Psn{0xABCDEF};
  info.region = {0x7000'0000'1000, 0xFFFF'F001, {65536}};
  info.attributes.mpr = 16;
  info.attributes.dynamic_mpr = true;
  return info;
}

std::string replaced(std::string line, const std::string& what, const std::string& by) {
  const size_t at = line.find(what);
  REQUIRE(at != std::string::npos);
  return line.replace(at, what.size(), by);
}

/// A port that no program on this machine uses now.
uint16_t free_port() {
  const netio::FileDescriptor probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* any = reinterpret_cast<sockaddr*>(&address);
  REQUIRE(::bind(probe.get(), any, size) == 0);
  REQUIRE(::getsockname(probe.get(), any, &size) == 0);
  return ntohs(address.sin_port);
}

}  // namespace

TEST_CASE("what an end says of itself reads back the same") {
  const Hello theirs = parse_hello(to_line(hello("fd00::1")), hello("fd00::2"));
  CHECK(theirs.address == netio::parse_address("fd00::1"));
  CHECK(theirs.macs == hello("fd00::1").macs);
  const QueuePairInfo info = parse_queue_pair_info(to_line(queue_pair()));
  CHECK(info.qpn == queue_pair().qpn);
  CHECK(info.psn == queue_pair().psn);
  CHECK(info.region.va == queue_pair().region.va);
  CHECK(info.region.rkey == queue_pair().region.rkey);
  CHECK(info.attributes == queue_pair().attributes);
}

TEST_CASE("a hello that does not fit ours is refused") {
  const Hello mine = hello("fd00::2");
  const std::string good = to_line(hello("fd00::1"));
  for (const std::string& bad :
       {std::string(), std::string("[]"), std::string("{"), std::string(10'000, '['),
        to_line(mine),  // our own address
        replaced(good, "4096", "1024"), replaced(good, "\"mrc\":1", "\"mrc\":2"),
        replaced(good, "fd00::1", "fd00::x"), replaced(good, "02:00:00:00:00:01", "02:00"),
        replaced(good, "\"02:00:00:00:00:01\",", ""), replaced(good, "4096", "-4096")}) {
    CAPTURE(bad.substr(0, 100));
    CHECK_THROWS_AS(parse_hello(bad, mine), std::invalid_argument);
  }
}

TEST_CASE("a queue pair that cannot be is refused by the name of its field") {
  const std::string good = to_line(queue_pair());
  for (const auto& change : std::vector<std::pair<std::string, std::string>>{
           {"\"qpn\":1193046", "\"qpn\":2"},
           {"\"qpn\":1193046", "\"qpn\":16777216"},
           {"\"qpn\":1193046", "\"qpn\":1.5"},
           {"\"mpr\":16", "\"mpr\":0"},
           {"\"mpr\":16", "\"mpr\":256"},
           {"\"dynamic_mpr\":true", "\"dynamic_mpr\":1"},
           {"\"attributes\"", "\"attributs\""},
           {"\"rkey\":4294963201", "\"rkey\":4294967296"}}) {
    CAPTURE(change.second);  // clang 14 captures no structured binding
    CHECK_THROWS_AS(parse_queue_pair_info(replaced(good, change.first, change.second)),
                    std::invalid_argument);
  }
}

TEST_CASE("a MAC address is six bytes and nothing else") {
  CHECK(parse_mac("02:00:00:00:0a:FF") == MacAddress{2, 0, 0, 0, 10, 255});
  CHECK(to_string(MacAddress{2, 0, 0, 0, 10, 255}) == "02:00:00:00:0a:ff");
  for (const char* bad : {"", "02:00:00:00:0a", "02:00:00:00:0a:ff:01", "02:00:00:00:0a:fg"}) {
    CHECK_THROWS_AS(parse_mac(bad), std::invalid_argument);
  }
}

TEST_CASE(
    "lines go both ways, one longer than the bound is refused, and a peer that has gone is "
    "noticed") {
  using netio::LineChannel;
  const uint16_t port = free_port();
  const std::chrono::seconds patience(10);
  auto server = std::async(std::launch::async, [&] {
    return LineChannel::accept("127.0.0.1", port, patience,
                               [](const std::string&) { return true; });
  });
  auto client = std::make_unique<LineChannel>(LineChannel::connect("127.0.0.1", port, patience));
  client->send("one");
  client->send("two");
  LineChannel peer = server.get();
  CHECK(peer.receive(patience) == "one");
  CHECK(peer.ready());
  CHECK(peer.receive(patience) == "two");
  CHECK_FALSE(peer.ready());
  std::thread flood([&] {
    try {
      client->send(std::string(netio::kMaxLineBytes + 10'000, 'x'));
    } catch (const netio::SystemError&) {
    }
  });
  CHECK_THROWS_AS(peer.receive(patience), netio::SystemError);
  flood.join();
  client.reset();
  CHECK(peer.ready());
}

TEST_CASE(
    "who connects and is no endpoint is turned away, and the endpoint that comes then is taken") {
  using netio::LineChannel;
  const uint16_t port = free_port();
  const std::chrono::seconds patience(20);
  auto server = std::async(std::launch::async, [&] {
    return LineChannel::accept("127.0.0.1", port, patience, is_hello);
  });
  std::vector<LineChannel> strays;
  // More silent peers than are waited for at a time, and some that send something else.
  for (size_t i = 0; i < netio::TimedStream::kMaxCallers + 4; ++i) {
    strays.push_back(LineChannel::connect("127.0.0.1", port, patience));
  }
  for (const char* said : {"GET / HTTP/1.0", "", "{}", "[]", R"({"mrc": "x"})", "\1\2\3"}) {
    strays.push_back(LineChannel::connect("127.0.0.1", port, patience));
    strays.back().send(said);
  }
  strays.push_back(LineChannel::connect("127.0.0.1", port, patience));
  try {
    strays.back().send(std::string(netio::kMaxLineBytes + 1, 'x'));
  } catch (const netio::SystemError&) {  // it was turned away before it had sent all
  }
  LineChannel client = LineChannel::connect("127.0.0.1", port, patience);
  client.send(to_line(hello("fd00::2")));
  client.send("more");
  REQUIRE(server.wait_for(patience) == std::future_status::ready);
  LineChannel peer = server.get();
  CHECK(exchange_hello(peer, hello("fd00::1")).address == netio::parse_address("fd00::2"));
  CHECK(peer.receive(patience) == "more");
}

}  // namespace mrclab::standalone
