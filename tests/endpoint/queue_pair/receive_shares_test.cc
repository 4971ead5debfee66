#include "endpoint/queue_pair/receive_shares.h"

#include <doctest/doctest.h>

#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using test::us;

namespace {

// A port of 80 Gb/s takes 100,000 bytes in a period of 10 us: 100 packets.
struct Bench {
  Bench() : shares(us(10), BitRate::from_gbps(80), {1'000}) {}
  /// A period in which sender i sends packets[i], evenly.
  void period(const std::vector<int>& packets) {
    for (int step = 0; step < 100; ++step) {
      for (uint32_t host = 0; host < packets.size(); ++host) {
        if (step * packets[host] / 100 == (step + 1) * packets[host] / 100) continue;
        shares.arrived(host, {1'000}, ports, us(10 * periods) + FabricTime::from_ns(100 * step));
      }
    }
    ++periods;
  }
  /// What a sender is asked for in a hundred SACKs.
  int asked(uint32_t host) {
    int sum = 0;
    for (int i = 0; i < 100; ++i) sum += shares.penalty(host);
    return sum;
  }

  ReceiveShares shares;
  uint32_t ports = 1;
  int64_t periods = 0;
};

}  // namespace

TEST_CASE(
    "senders of a full port are asked in proportion to their shares, fractions carried over") {
  Bench b;
  for (int i = 0; i < 60; ++i) b.period({60, 20, 20});
  // Mean share a third: 128 / (2 x 4 periods) x 0.6 / 0.333 of 128ths, hence 28.8 and 9.6 a SACK.
  CHECK(b.asked(0) == doctest::Approx(2'880).epsilon(0.03));
  CHECK(b.asked(1) == doctest::Approx(960).epsilon(0.03));
  CHECK(b.asked(2) == doctest::Approx(b.asked(1)).epsilon(0.03));
}

TEST_CASE("a sender with almost everything is asked for a quarter per round trip at most") {
  Bench b;
  for (int i = 0; i < 60; ++i) b.period({94, 1, 1, 1, 1, 1, 1});
  CHECK(b.asked(0) == 32 * 100);
}

TEST_CASE("no sender is asked for anything alone, or while a fifth of the ports is free") {
  Bench alone;
  for (int i = 0; i < 60; ++i) alone.period({100});
  CHECK(alone.asked(0) == 0);
  Bench idle;
  for (int i = 0; i < 60; ++i) idle.period({40, 38});
  CHECK(idle.asked(0) == 0);
  Bench two_ports;
  two_ports.ports = 2;
  for (int i = 0; i < 60; ++i) two_ports.period({50, 50});
  CHECK(two_ports.asked(0) == 0);
}

TEST_CASE("with the last port dead no sender is asked for anything: what arrives was under way") {
  Bench b;
  for (int i = 0; i < 60; ++i) b.period({60, 40});
  b.ports = 0;
  for (int i = 0; i < 4; ++i) b.period({60, 40});
  CHECK(b.asked(0) == 0);
}

TEST_CASE("what else comes in fills the ports, too, and takes no share") {
  Bench b;
  for (int i = 0; i < 60; ++i) {
    for (int frame = 0; frame < 94; ++frame) b.shares.count_frame({1'000});  // of the data
    for (int frame = 0; frame < 60; ++frame) b.shares.count_frame({100});    // answers to probes
    b.period({47, 47});
  }
  CHECK(b.asked(0) == doctest::Approx(1'600).epsilon(0.03));
  CHECK(b.asked(1) == doctest::Approx(1'600).epsilon(0.03));
}

TEST_CASE("a sender that fell silent does not count any more") {
  Bench b;
  for (int i = 0; i < 60; ++i) b.period({50, 50});
  CHECK(b.asked(0) > 0);
  for (int i = 0; i < 60; ++i) b.period({100, 0});
  CHECK(b.asked(0) == 0);
}

TEST_CASE("after a long pause the past is forgotten") {
  Bench b;
  for (int i = 0; i < 60; ++i) b.period({50, 50});
  b.periods += 1'000'000;
  b.period({1, 1});
  CHECK(b.asked(0) == 0);
}
