// TCP connections joined in memory: by right segments, lost ones, forged ones.

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

#include "fabric/base/random.h"
#include "routing/base/prefix.h"
#include "routing/tcp/tcp_connection.h"
#include "tests/support/property.h"

using namespace mrclab;
using namespace mrclab::routing;
using mrclab::test::counterexample;
using State = TcpConnection::State;
using End = TcpConnection::End;

namespace {

const TcpConnection::Identity kHere{*parse_address("fe80::1"), *parse_address("fe80::2"), 50000,
                                    kBgpPort};
const TcpConnection::Identity kThere{kHere.remote, kHere.local, kBgpPort, 50000};

/// Two ends and a wire that takes 1 us and keeps order. `lose` chooses packets that do not arrive.
class TcpPair {
 public:
  explicit TcpPair(TcpParameters parameters = {})
      : a(TcpConnection::connect(kHere, parameters, TcpSequence{0xFFFF'FF00}, now)),
        b(TcpConnection::connect(kThere, parameters, TcpSequence{1}, now)),
        parameters_(parameters) {
    b_there_ = false;
  }

  /// Runs until nothing is under way any more, or `limit` events.
  void run(int limit = 100'000) {
    for (; limit > 0; --limit) {
      flush();
      FabricTime next = a.deadline();
      if (b_there_) next = std::min(next, b.deadline());
      const bool packet = !wire_.empty() && wire_.front().at <= next;
      if (!packet && (next == FabricTime::never() || next > stop)) break;
      now = packet ? wire_.front().at : next;
      if (packet) {
        Flying flying = std::move(wire_.front());
        wire_.pop_front();
        deliver(flying);
      } else {
        a.on_timer(now);
        if (b_there_) b.on_timer(now);
      }
    }
    REQUIRE(limit > 0);
  }

  FabricTime now = FabricTime::zero();
  FabricTime stop = FabricTime::from_ms(100'000);
  TcpConnection a, b;
  std::function<bool(uint64_t)> lose = [](uint64_t) { return false; };
  uint64_t sent = 0;
  Octets at_a, at_b;
  bool reads = true;

 private:
  struct Flying {
    FabricTime at;
    bool to_b;
    Octets packet;
  };
  void flush() {
    for (const bool from_a : {true, false}) {
      if (!from_a && !b_there_) continue;
      std::vector<Octets> packets;
      (from_a ? a : b).output(now, packets);
      for (Octets& packet : packets) {
        if (!lose(sent++))
          wire_.push_back({now + FabricTime::from_us(1), from_a, std::move(packet)});
      }
    }
  }
  void deliver(const Flying& flying) {
    const auto packet = parse_tcp_packet(flying.packet);
    REQUIRE(packet);
    if (flying.to_b && !b_there_) {
      b = TcpConnection::accept(kThere, parameters_, TcpSequence{1}, packet->segment, now);
      b_there_ = true;
      return;
    }
    TcpConnection& to = flying.to_b ? b : a;
    to.on_segment(packet->segment, now);
    if (!reads) return;
    Octets& read = flying.to_b ? at_b : at_a;
    read.insert(read.end(), to.received().begin(), to.received().end());
    to.consume(to.received().size());
  }

  TcpParameters parameters_;
  bool b_there_ = true;
  std::deque<Flying> wire_;
};

Octets pattern(size_t size, uint8_t seed) {
  Octets octets(size);
  for (size_t i = 0; i < size; ++i) octets[i] = static_cast<uint8_t>(mix64(i * 31 + seed));
  return octets;
}

}  // namespace

TEST_CASE("a connection is made, carries octets both ways and is closed by both") {
  TcpPair pair;
  pair.run();
  REQUIRE(pair.a.established());
  REQUIRE(pair.b.established());
  const Octets there = pattern(50'000, 1), back = pattern(3, 2);
  pair.a.send(there);
  pair.b.send(back);
  pair.run();
  CHECK(pair.at_b == there);
  CHECK(pair.at_a == back);
  CHECK(pair.a.unacknowledged() == 0);
  pair.a.close();
  pair.run();
  CHECK(pair.b.peer_closed());
  pair.b.close();
  pair.run();
  CHECK(pair.a.end() == End::kByBoth);
  CHECK(pair.b.end() == End::kByBoth);
}

TEST_CASE("a stream arrives whole and once over a wire that loses anything but for ever") {
  CHECK(counterexample(
            [] {
              const auto percent = *rc::gen::inRange<uint64_t>(0, 40);
              const auto seed = *rc::gen::inRange<uint64_t>(0, 1'000'000);
              const auto size = *rc::gen::inRange<size_t>(0, 60'000);
              TcpParameters parameters;
              parameters.syn_retries = 40;
              parameters.window = *rc::gen::inRange<uint32_t>(100, 65'536);
              TcpPair pair(parameters);
              pair.lose = [&](uint64_t n) { return mix64(seed ^ mix64(n)) % 100 < percent; };
              const Octets there = pattern(size, 1), back = pattern(size / 2, 2);
              pair.run();
              pair.a.send(there);
              pair.b.send(back);
              pair.a.close();
              pair.b.close();
              pair.run();
              RC_ASSERT(pair.at_b == there);
              RC_ASSERT(pair.at_a == back);
              RC_ASSERT(pair.a.state() == State::kClosed);
            },
            60) == "");
}

TEST_CASE("a window that its reader closed opens again, though the news is lost") {
  TcpParameters parameters;
  parameters.window = 2'000;
  TcpPair pair(parameters);
  pair.run();
  pair.reads = false;
  const Octets there = pattern(10'000, 1);
  pair.a.send(there);
  pair.stop = pair.now + FabricTime::from_ms(2'000);
  pair.run();
  CHECK(pair.b.received().size() == 2'000);
  CHECK(pair.a.established());  // however often it has probed
  pair.reads = true;
  pair.at_b.assign(pair.b.received().begin(), pair.b.received().end());
  pair.b.consume(pair.b.received().size());
  std::vector<Octets> news;
  pair.b.output(pair.now, news);
  CHECK(news.size() == 1);
  pair.stop = pair.now + FabricTime::from_ms(2'000);
  pair.run();
  CHECK(pair.at_b == there);
}

TEST_CASE("silence ends a connection after so many retransmissions") {
  TcpParameters parameters;
  parameters.retries = 8;
  TcpPair pair(parameters);
  pair.run();
  pair.lose = [](uint64_t) { return true; };
  pair.a.send(pattern(10, 1));
  pair.run();
  CHECK(pair.a.end() == End::kTimedOut);
  CHECK(pair.b.established());
}

TEST_CASE("a reset counts where it is expected exactly, else it is challenged") {
  TcpPair pair;
  pair.run();
  TcpSegment reset;
  reset.rst = true;
  reset.sequence = TcpSequence{0xFFFF'FF00} + 2;
  pair.b.on_segment(reset, pair.now);
  CHECK(pair.b.established());
  std::vector<Octets> challenge;
  pair.b.output(pair.now, challenge);
  CHECK(challenge.size() == 1);
  reset.sequence = TcpSequence{0xFFFF'FF00} + 70'000;
  pair.b.on_segment(reset, pair.now);
  CHECK(pair.b.established());
  reset.sequence = TcpSequence{0xFFFF'FF00} + 1;
  pair.b.on_segment(reset, pair.now);
  CHECK(pair.b.end() == End::kReset);
}

TEST_CASE("two that open at once have one connection") {
  TcpParameters parameters;
  TcpConnection a = TcpConnection::connect(kHere, parameters, TcpSequence{7}, {});
  TcpConnection b = TcpConnection::connect(kThere, parameters, TcpSequence{9}, {});
  for (int turn = 0; turn < 4; ++turn) {
    std::vector<Octets> from_a, from_b;
    a.output({}, from_a);
    b.output({}, from_b);
    for (const Octets& packet : from_a) b.on_segment(parse_tcp_packet(packet)->segment, {});
    for (const Octets& packet : from_b) a.on_segment(parse_tcp_packet(packet)->segment, {});
  }
  CHECK(a.established());
  CHECK(b.established());
}

TEST_CASE("a packet with a broken octet is none") {
  TcpSegment segment;
  segment.syn = true;
  segment.mss = 1440;
  const Octets right = make_tcp_packet({kHere.local, kHere.remote}, segment, 0);
  REQUIRE(parse_tcp_packet(right));
  CHECK(parse_tcp_packet(right)->segment.mss == 1440);
  for (size_t i = 8; i < right.size(); ++i) {
    Octets wrong = right;
    wrong[i] ^= 0x10;
    CAPTURE(i);
    CHECK_FALSE(parse_tcp_packet(wrong));
  }
  for (size_t size = 0; size < right.size(); ++size) {
    CHECK_FALSE(parse_tcp_packet(OctetView(right).first(size)));
  }
}

TEST_CASE("any segments at all leave a connection whole") {
  CHECK(counterexample(
            [] {
              TcpPair pair;
              pair.run();
              for (int i = 0; i < 50; ++i) {
                const Octets payload = pattern(*rc::gen::inRange<size_t>(0, 40), 3);
                TcpSegment segment;
                segment.syn = *rc::gen::inRange(0, 8) == 0;
                segment.ack = *rc::gen::inRange(0, 8) != 0;
                segment.fin = *rc::gen::inRange(0, 8) == 0;
                segment.rst = *rc::gen::inRange(0, 20) == 0;
                segment.sequence = TcpSequence{0xFFFF'FF00} + *rc::gen::inRange<size_t>(0, 60);
                segment.acknowledged = TcpSequence{1} + *rc::gen::inRange<size_t>(0, 60);
                segment.window = *rc::gen::element<uint16_t>(0, 1, 1000, 65535);
                segment.payload = payload;
                if (pair.b.room() > 0)
                  pair.b.send(OctetView(payload).first(std::min<size_t>(payload.size(), 5)));
                pair.b.on_segment(segment, pair.now);
                if (*rc::gen::inRange(0, 10) == 0) pair.b.close();
                pair.now += FabricTime::from_us(100);
                pair.b.on_timer(pair.now);
                std::vector<Octets> packets;
                pair.b.output(pair.now, packets);
                RC_ASSERT(packets.size() < 10u);
                RC_ASSERT(pair.b.received().size() <= 65'535u);
              }
            },
            300) == "");
}
