// The rules of HPCC's switch, by hand.

#include "switchd/ingress_buffer.h"

#include <doctest/doctest.h>

using namespace mrclab;
using mrclab::switchd::IngressBuffer;

namespace {

constexpr PortId kFirst{0}, kSecond{1};

/// Two ports, 4,000 bytes of reserve and 20,000 of headroom each: 52,000 are left for the pool.
IngressBuffer two_ports(uint32_t alpha_permille, Bytes size = {100'000}) {
  return IngressBuffer({size, {4'000}, alpha_permille, {{20'000}, {20'000}}});
}

/// Frames of 1,000 bytes that are taken one after another, until `most`.
uint32_t fill(IngressBuffer& buffer, PortId port, uint32_t most) {
  uint32_t taken = 0;
  while (taken < most && buffer.admit(port, {1'000})) ++taken;
  return taken;
}

}  // namespace

TEST_CASE("the reserve fills first, then the pool up to the threshold, then the headroom") {
  IngressBuffer buffer = two_ports(125);
  CHECK(buffer.threshold() == Bytes{6'500});
  struct Step {
    uint32_t frames;
    uint64_t threshold, headroom;
    bool stop, go;
  };
  // The sixth frame of the pool would be 6,000 bytes with 47,000 x 1/8 = 5,875 allowed.
  const Step steps[] = {
      {4, 6'500, 0, false, true},        // the reserve
      {1, 6'375, 0, false, true},        // the pool: 52,000 less what is used, by 8
      {2, 6'125, 0, false, true},        // 3,000 + 3,072 are below 6,125
      {1, 6'000, 0, false, false},       // 4,000 + 3,072 are not below 6,000
      {1, 5'875, 0, false, false},       //
      {1, 5'875, 1'000, true, false},    // the headroom
      {19, 5'875, 20'000, true, false},  // all of it
  };
  uint64_t held = 0;
  for (const Step& step : steps) {
    INFO(step.frames << " more after " << held);
    REQUIRE(fill(buffer, kFirst, step.frames) == step.frames);
    held += step.frames * 1'000;
    CHECK(buffer.held(kFirst) == Bytes{held});
    CHECK(buffer.threshold() == Bytes{step.threshold});
    CHECK(buffer.most_headroom_used(kFirst) == Bytes{step.headroom});
    CHECK(buffer.wants_stop(kFirst) == step.stop);
    CHECK(buffer.wants_go(kFirst) == step.go);
  }
  CHECK_FALSE(buffer.admit(kFirst, {1'000}));
  CHECK(buffer.held(kFirst) == Bytes{held});
  CHECK(buffer.most_held(kFirst) == Bytes{held});
  // A neighbour's part is not touched by that.
  CHECK(buffer.admit(kSecond, {1'000}));
  CHECK(buffer.wants_go(kSecond));
}

TEST_CASE("what leaves frees the headroom first, and the neighbour may go on 3 KiB below") {
  IngressBuffer buffer = two_ports(125);
  REQUIRE(fill(buffer, kFirst, 29) == 29);
  for (uint32_t left = 20; left > 0; --left) {
    INFO(left);
    CHECK(buffer.wants_stop(kFirst));
    CHECK_FALSE(buffer.wants_go(kFirst));
    buffer.release(kFirst, {1'000});
    CHECK(buffer.threshold() == Bytes{5'875});  // the pool is as full as before
  }
  CHECK_FALSE(buffer.wants_stop(kFirst));
  CHECK_FALSE(buffer.wants_go(kFirst));  // 5,000 + 3,072 > 5,875
  buffer.release(kFirst, {1'000});
  CHECK_FALSE(buffer.wants_go(kFirst));  // 4,000 + 3,072 > 6,000
  buffer.release(kFirst, {912});
  CHECK(buffer.threshold() == Bytes{6'114});
  CHECK_FALSE(buffer.wants_go(kFirst));  // 3,088 + 3,072 > 6,114
  buffer.release(kFirst, {42});
  CHECK(buffer.threshold() == Bytes{6'119});
  CHECK(buffer.wants_go(kFirst));  // 3,046 + 3,072 <= 6,119
  buffer.release(kFirst, {7'046});
  CHECK(buffer.held(kFirst) == Bytes{0});
  CHECK(buffer.threshold() == Bytes{6'500});
}

TEST_CASE("a frame that the reserve has room for in part takes the rest from the pool") {
  IngressBuffer buffer = two_ports(500);
  REQUIRE(buffer.admit(kFirst, {3'000}));
  REQUIRE(buffer.admit(kFirst, {3'000}));
  CHECK(buffer.threshold() == Bytes{25'000});  // (52,000 - 2,000) / 2
  buffer.release(kFirst, {3'000});
  CHECK(buffer.threshold() == Bytes{26'000});
}

TEST_CASE(
    "a port is asked to stop, with nothing in its headroom, when another one uses the pool up") {
  IngressBuffer buffer = two_ports(500);
  REQUIRE(fill(buffer, kFirst, 21) == 21);
  CHECK(buffer.threshold() == Bytes{17'500});
  CHECK_FALSE(buffer.wants_stop(kFirst));  // 17,000 of it
  REQUIRE(fill(buffer, kSecond, 5) == 5);
  CHECK(buffer.threshold() == Bytes{17'000});
  CHECK(buffer.wants_stop(kFirst));
  CHECK(buffer.most_headroom_used(kFirst) == Bytes{0});
  CHECK_FALSE(buffer.wants_stop(kSecond));
}

TEST_CASE("without a pool a port has its reserve and its headroom, and no more") {
  IngressBuffer buffer = two_ports(125, {0});
  CHECK(buffer.size() == Bytes{48'000});
  CHECK(buffer.threshold() == Bytes{0});
  REQUIRE(fill(buffer, kFirst, 4) == 4);
  CHECK_FALSE(buffer.wants_stop(kFirst));
  CHECK(fill(buffer, kFirst, 1) == 1);
  CHECK(buffer.wants_stop(kFirst));
  CHECK(fill(buffer, kFirst, 100) == 19);
  CHECK(fill(buffer, kSecond, 100) == 24);
  buffer.release(kFirst, {20'000});
  CHECK(buffer.wants_go(kFirst));
}

TEST_CASE("a frame that just fits the headroom is taken, one byte more is not") {
  IngressBuffer buffer = two_ports(125, {0});
  REQUIRE(buffer.admit(kFirst, {4'000}));
  REQUIRE(buffer.admit(kFirst, {19'000}));
  CHECK_FALSE(buffer.admit(kFirst, {1'001}));
  CHECK(buffer.admit(kFirst, {1'000}));
  CHECK_FALSE(buffer.admit(kFirst, {1}));
}

TEST_CASE("a fault that takes half of the buffer halves every limit, and what is held stays") {
  IngressBuffer buffer = two_ports(500);
  REQUIRE(fill(buffer, kFirst, 14) == 14);  // 10,000 of the pool
  buffer.lose({500'000'000});
  CHECK(buffer.held(kFirst) == Bytes{14'000});
  // 50,000 less 2 x 2,000 and 2 x 10,000 are 26,000, of which 12,000 are used now.
  CHECK(buffer.threshold() == Bytes{7'000});
  CHECK(buffer.wants_stop(kFirst));
  CHECK(fill(buffer, kFirst, 100) == 10);
  buffer.lose({0});
  CHECK(buffer.threshold() == Bytes{21'000});
  buffer.release(kFirst, {24'000});
  CHECK(buffer.threshold() == Bytes{26'000});
  buffer.lose({Probability::kOne});
  CHECK_FALSE(buffer.admit(kFirst, {64}));
}

TEST_CASE("k ports that fill one queue pause where Q = k alpha F / (1 + k alpha), by hand") {
  // A Tomahawk 5: 165 MB, of which eight ports of this fabric keep 4 KiB and 101,600 bytes each.
  constexpr uint64_t kFree = 165'000'000 - 8 * (4'096 + 101'600);
  static_assert(kFree == 164'154'432);
  struct Row {
    uint32_t ports, alpha_permille;
    double share;  // of F, by hand
  };
  const Row rows[] = {{1, 125, 1.0 / 9},     {2, 125, 1.0 / 5},   {4, 125, 1.0 / 3},
                      {7, 125, 7.0 / 15},    {1, 1'000, 1.0 / 2}, {7, 1'000, 7.0 / 8},
                      {8, 62, 0.496 / 1.496}};
  for (const Row& row : rows) {
    CAPTURE(row.ports);
    CAPTURE(row.alpha_permille);
    IngressBuffer buffer(
        {{165'000'000}, {4'096}, row.alpha_permille, std::vector<Bytes>(8, Bytes{101'600})});
    REQUIRE(buffer.pool() == Bytes{kFree});
    uint64_t frames = 0;
    bool pauses = false;
    while (!pauses) {
      for (uint32_t p = 0; p < row.ports; ++p) {
        REQUIRE(buffer.admit(PortId{p}, {4'200}));
        ++frames;
        pauses = pauses || buffer.wants_stop(PortId{p});
      }
    }
    const double held = static_cast<double>(frames * 4'200 - row.ports * 4'096);
    CHECK(held == doctest::Approx(static_cast<double>(kFree) * row.share).epsilon(0.001));
  }
}

TEST_CASE("what queues of other classes hold lowers every threshold, and their room with it") {
  IngressBuffer buffer = two_ports(500);
  CHECK(buffer.threshold() == Bytes{26'000});  // of 52,000
  CHECK(buffer.room_of_queue() == Bytes{30'000});
  buffer.take({20'000});
  CHECK(buffer.threshold() == Bytes{16'000});
  REQUIRE(fill(buffer, kFirst, 14) == 14);  // 10,000 of it beyond the reserve
  CHECK(buffer.threshold() == Bytes{11'000});
  CHECK_FALSE(buffer.wants_stop(kFirst));
  buffer.take({4'000});
  CHECK(buffer.wants_stop(kFirst));
  buffer.give({24'000});
  CHECK(buffer.wants_go(kFirst));
  CHECK(buffer.threshold() == Bytes{21'000});
  buffer.lose({Probability::kOne / 2});
  CHECK(buffer.pool() == Bytes{26'000});
}
