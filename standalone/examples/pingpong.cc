// A whole program on the verbs of endpoint/host/verbs.h: two processes send a message back and forth with
// Write-with-Immediate, check every byte, and print how long a round took.
//
//   mrc-pingpong server <own address> <interface,...> <rounds> [namespace]
//   mrc-pingpong <server host> <own address> <interface,...> <rounds> [namespace]
//
// e.g. on two machines with one cable:   mrc-pingpong server fd00::1 eth1 1000
//                                        mrc-pingpong 192.0.2.1 fd00::2 eth1 1000

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <vector>

#include "netio/kernel/route.h"
#include "standalone/connection.h"
#include "standalone/endpoint.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {
constexpr size_t kMessage = 10'000;  // three packets
constexpr std::chrono::seconds kPatience{10};

/// What round `n` carries.
void fill(std::vector<uint8_t>& message, uint32_t n) {
  for (size_t i = 0; i < message.size(); ++i) message[i] = static_cast<uint8_t>(i * 7 + n);
}

class PingPong {
 public:
  PingPong(const standalone::EndpointConfig& config, netio::LineChannel& channel, bool server)
      : end_(config, channel, server), inbox_(kMessage), outbox_(kMessage), expected_(kMessage) {
    cq_ = end_.device().create_completion_queue(64);
    const MemoryRegion region = end_.device().register_memory(inbox_);
    connection_ = standalone::connect(end_, channel, cq_, region);
  }

  /// A receive must be there before the peer's message: MRC has no "receiver not ready".
  void expect(uint32_t n) { end_.device().post_receive(connection_.qpn, {.id = n}); }

  void send(uint32_t n) {
    fill(outbox_, n);
    WorkRequest request;
    request.id = n;
    request.local = outbox_;
    request.remote_va = connection_.remote.va;
    request.rkey = connection_.remote.rkey;
    request.immediate = n;
    if (end_.device().post(connection_.qpn, std::move(request)) != PostResult::kOk)
      fail("cannot post");
    wanted_ = 1;  // its completion: the outbox must not change before
  }

  /// Runs until the peer's message of round `n` is here and our last write has completed.
  void receive(uint32_t n) {
    ++wanted_;
    if (!end_.run_until([this] { return poll() == 0; }, kPatience)) fail("the peer is silent");
    fill(expected_, n);
    if (inbox_ != expected_) fail("wrong bytes");
  }

  standalone::StandaloneEndpoint& end() { return end_; }

 private:
  int poll() {
    WorkCompletion done[8];
    for (const WorkCompletion& c : end_.device().poll_completions(cq_, done)) {
      if (c.status != WorkStatus::kSuccess) fail(name_of(c.status));
      --wanted_;
    }
    return wanted_;
  }
  [[noreturn]] void fail(std::string_view why) { throw std::runtime_error(std::string(why)); }
  standalone::StandaloneEndpoint end_;
  std::vector<uint8_t> inbox_, outbox_, expected_;
  CqHandle cq_;
  standalone::Connection connection_;
  int wanted_ = 0;
};

int run(char** argv, int argc) {
  const bool server = std::string(argv[1]) == "server";
  const auto rounds = static_cast<uint32_t>(std::atoi(argv[4]));
  standalone::EndpointConfig config;
  config.address = netio::parse_address(argv[2]);
  std::istringstream names(argv[3]);
  for (std::string name; std::getline(names, name, ',');) {
    config.planes.emplace_back().interface = name;
  }
  if (argc > 5) config.network_namespace = argv[5];
  netio::LineChannel channel =
      server ? netio::LineChannel::accept("127.0.0.1", netio::kOutOfBandPort, kPatience,
                                          standalone::is_hello)
             : netio::LineChannel::connect(argv[1], netio::kOutOfBandPort, kPatience);
  PingPong game(config, channel, server);
  game.expect(0);
  standalone::meet(game.end(), channel, "play");
  const FabricTime start = game.end().now();
  for (uint32_t n = 0; n < rounds; ++n) {
    if (!server) game.send(n);
    game.receive(n);
    game.expect(n + 1);
    if (server) game.send(n);
  }
  standalone::meet(game.end(), channel, "done");
  const double us = (game.end().now() - start).us() / (rounds > 0 ? rounds : 1);
  std::printf("%u rounds of %zu bytes, %.1f us each, no byte wrong\n", rounds, kMessage, us);
  return 0;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc < 5) return std::fprintf(stderr, "see the head of pingpong.cc for the arguments\n"), 2;
  return run(argv, argc);
} catch (const std::exception& error) {
  std::fprintf(stderr, "mrc-pingpong: %s\n", error.what());
  return 1;
}
