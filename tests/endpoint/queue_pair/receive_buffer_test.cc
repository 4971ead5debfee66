// What a NIC holds before memory, and the bitmaps that its queue pairs share.

#include "endpoint/queue_pair/receive_buffer.h"

#include <doctest/doctest.h>

#include "endpoint/queue_pair/bitmap_pool.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::ns;
using mrclab::test::us;

namespace {

constexpr Bytes kPacket{4096};
constexpr BitRate kRate{32'768'000'000};  // a packet in a microsecond
constexpr Bytes kTenPackets{40'960};

/// Offers a packet every microsecond over `count`, each twice if it is too much.
uint8_t penalty_after(ReceiveBuffer& buffer, int count, int packets_each) {
  for (int i = 0; i < count; ++i) {
    buffer.advance(us(i));
    for (int n = 0; n < packets_each; ++n) buffer.offer(kPacket);
  }
  return buffer.penalty();
}

}  // namespace

TEST_CASE("an unlimited NIC has everything in memory at once, and asks for nothing") {
  ReceiveBuffer buffer({}, kPacket, us(10));
  for (int i = 0; i < 1'000; ++i) REQUIRE(buffer.offer(kPacket));
  CHECK(buffer.in_memory() == buffer.taken());
  CHECK(buffer.held().value == 0);
  CHECK(buffer.penalty() == 0);
  CHECK(buffer.in_memory_at(buffer.taken()) == FabricTime::zero());
}

TEST_CASE("a packet is in memory when the drain has carried it there, exactly") {
  ReceiveBuffer buffer(kRate, kTenPackets, us(10));
  buffer.advance(us(5));
  REQUIRE(buffer.offer(kPacket));
  const Bytes first = buffer.taken();
  REQUIRE(buffer.offer({1}));  // takes a cell of 64 bytes
  CHECK(buffer.taken().value == 4096 + 64);
  CHECK(buffer.in_memory_at(first) == us(6));
  buffer.advance(us(6) - kPicosecond);
  CHECK(buffer.in_memory() < first);
  buffer.advance(us(6));
  CHECK(buffer.in_memory() == first);
  const FabricTime all = buffer.in_memory_at(buffer.taken());
  CHECK(all == us(6) + ns(15) + FabricTime::from_ps(625));
  buffer.advance(all);
  CHECK(buffer.held().value == 0);
}

TEST_CASE("a full buffer refuses, an empty one takes any packet") {
  ReceiveBuffer buffer(kRate, kTenPackets, us(10));
  for (int i = 0; i < 10; ++i) CHECK(buffer.offer(kPacket));
  CHECK_FALSE(buffer.offer(kPacket));
  buffer.advance(us(1));
  CHECK(buffer.offer(kPacket));
  CHECK_FALSE(buffer.offer({1}));
  ReceiveBuffer tiny(kRate, {64}, us(10));
  CHECK(tiny.offer(kPacket));
  CHECK_FALSE(tiny.offer({1}));
}

TEST_CASE("a new rate counts from its instant, and a stall moves nothing") {
  ReceiveBuffer buffer(kRate, kTenPackets, us(10));
  for (int i = 0; i < 10; ++i) buffer.offer(kPacket);
  buffer.advance(us(2));
  buffer.set_rate({kRate.bps / 4});
  buffer.advance(us(6));
  CHECK(buffer.in_memory().value == 3 * 4096);
  buffer.set_stalled(true);
  buffer.advance(us(100));
  CHECK(buffer.in_memory().value == 3 * 4096);
  CHECK(buffer.in_memory_at(buffer.taken()) == FabricTime::never());
  buffer.set_stalled(false);
  buffer.advance(us(104));
  CHECK(buffer.in_memory().value == 4 * 4096);
  buffer.set_rate({});  // nothing holds it back
  buffer.advance(us(104));
  CHECK(buffer.held().value == 0);
}

TEST_CASE("the penalty starts at a quarter, rises with what is held and with what is too much") {
  ReceiveBuffer steady(kRate, {100 * 4096}, us(10));
  CHECK(penalty_after(steady, 200, 1) == 0);  // as much as it drains
  ReceiveBuffer twice(kRate, {100 * 4096}, us(10));
  CHECK(penalty_after(twice, 24, 2) == 0);  // a quarter is full
  const uint8_t half = penalty_after(twice, 1, 26);
  CHECK(half == 24 + 32 + 11);  // growth, half of it too much, a third of what is above
  ReceiveBuffer stalled(kRate, {100 * 4096}, us(10));
  stalled.set_stalled(true);
  CHECK(penalty_after(stalled, 100, 2) == 120);  // all of it is too much, and the buffer is full
}

TEST_CASE("windows come back after a stall, once its backlog is gone; a slow drain keeps them") {
  ReceiveBuffer buffer(kRate, kTenPackets, us(10));
  for (int i = 0; i < 8; ++i) buffer.offer(kPacket);
  CHECK_FALSE(buffer.asks_to_restore());
  buffer.set_stalled(true);
  buffer.advance(us(1));
  CHECK(buffer.asks_to_restore());
  buffer.set_stalled(false);
  buffer.advance(us(2));
  CHECK(buffer.penalty() > 0);
  CHECK(buffer.asks_to_restore());
  buffer.advance(us(8));  // less than a quarter is left
  CHECK(buffer.penalty() == 0);
  CHECK_FALSE(buffer.asks_to_restore());
}

TEST_CASE(
    "bitmaps that queue pairs share go back to the pool, and never make more than there are") {
  BitmapPool pool(4);
  uint32_t first = 0, second = 0;
  CHECK(pool.hold(first, 3));
  CHECK_FALSE(pool.hold(second, 2));
  CHECK(second == 0);
  CHECK(pool.hold(second, 1));
  CHECK(pool.left() == 0);
  CHECK(pool.hold(first, 1));
  CHECK(pool.left() == 2);
  CHECK(pool.hold(second, 3));
  CHECK(pool.hold(first, 0));
  CHECK(pool.hold(second, 0));
  CHECK(pool.left() == 4);
  BitmapPool own(0);
  uint32_t any = 0;
  CHECK_FALSE(own.bounded());
  CHECK(own.hold(any, 1'000'000));
}
