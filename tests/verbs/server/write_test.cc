// Programs write to each other's memory over the fabric.

#include <endian.h>

#include <algorithm>
#include <numeric>

#include "tests/verbs/support/verbs_world.h"

using namespace mrclab;
using namespace mrclab::test;

TEST_CASE("a write lands in the peer program's memory, and then completes") {
  VerbsWorld world;
  ConnectedPair pair(world);
  REQUIRE(pair.status_a == 0);
  REQUIRE(pair.status_b == 0);
  std::iota(pair.a.memory.begin(), pair.a.memory.end(), uint8_t{1});
  REQUIRE(pair.write(77, 100, 20'000));
  pair.run(FabricTime::from_us(100));
  const auto done = pair.a.guest->poll(pair.a.cq);
  REQUIRE(done);
  CHECK(done->wr_id == 77);
  CHECK(done->status == 0);
  CHECK(done->opcode == 1);
  CHECK(done->qpn == pair.a.qp.qpn);
  CHECK(done->at_ps > 0);
  CHECK_FALSE(pair.a.guest->poll(pair.a.cq));
  CHECK(std::equal(pair.a.memory.begin() + 100, pair.a.memory.begin() + 20'100,
                   pair.b.memory.begin() + 100));
  // Nothing beside it.
  CHECK(std::all_of(pair.b.memory.begin(), pair.b.memory.begin() + 100,
                    [](uint8_t byte) { return byte == 0; }));
  CHECK(std::all_of(pair.b.memory.begin() + 20'100, pair.b.memory.end(),
                    [](uint8_t byte) { return byte == 0; }));
}

TEST_CASE(
    "a write with immediate completes a receive of the peer, with the number as it was given") {
  VerbsWorld world;
  ConnectedPair pair(world);
  REQUIRE(pair.b.guest->receive(pair.b.qp.handle, 9));
  pair.run(FabricTime::from_us(1));
  REQUIRE(pair.write(1, 0, 64, kWrSignaled, kWrWriteImm, htobe32(0x01020304)));
  pair.run(FabricTime::from_us(50));
  const auto got = pair.b.guest->poll(pair.b.cq);
  REQUIRE(got);
  CHECK(got->wr_id == 9);
  CHECK(got->status == 0);
  CHECK(got->opcode == 129);
  CHECK(got->bytes == 64);
  CHECK(got->flags == 2);
  CHECK(got->immediate == htobe32(0x01020304));
  CHECK(pair.a.guest->poll(pair.a.cq));
}
