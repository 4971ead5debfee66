#include "endpoint/queue_pair/loss_detector.h"

#include <doctest/doctest.h>

#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;

namespace {

/// Base RTT 8 us: steps of 2 us, a step back every 128 us.
LossDetector detector() { return LossDetector({us(8), us(14), us(19)}); }

}  // namespace

TEST_CASE("a packet is lost when one sent a reorder window later has arrived") {
  LossDetector d = detector();
  CHECK(!d.is_lost(us(0), us(100)));
  d.on_arrived(us(13));
  CHECK(!d.is_lost(us(0), us(100)));
  d.on_arrived(us(14));
  d.on_arrived(us(3));
  CHECK(d.is_lost(us(0), us(100)));
  CHECK(!d.is_lost(us(1), us(100)));
}

TEST_CASE("losses that were none widen the window by steps, once per round trip, up to the most") {
  LossDetector d = detector();
  d.on_spurious(us(0));
  CHECK(d.window(us(0)) == us(16));
  d.on_spurious(us(7));
  CHECK(d.window(us(7)) == us(16));
  d.on_spurious(us(8));
  CHECK(d.window(us(8)) == us(18));
  d.on_spurious(us(16));
  CHECK(d.window(us(16)) == us(19));
  d.on_spurious(us(24));
  CHECK(d.window(us(24)) == us(19));
  d.on_arrived(us(18));
  CHECK(!d.is_lost(us(0), us(24)));
  CHECK(d.is_lost_by(us(0), us(19), us(24)));
}

TEST_CASE("the window goes back a step every sixteen round trips, and starts anew from there") {
  LossDetector d = detector();
  for (int64_t t = 0; t < 24; t += 8) d.on_spurious(us(t));
  CHECK(d.window(us(16 + 127)) == us(19));
  CHECK(d.window(us(16 + 128)) == us(17));
  CHECK(d.window(us(16 + 256)) == us(15));
  CHECK(d.window(us(16 + 384)) == us(14));
  CHECK(d.window(us(1'000'000'000)) == us(14));
  d.on_spurious(us(16 + 256));
  CHECK(d.window(us(16 + 256)) == us(17));
}
