// The shares of planes: what one plane has more than the others is its own affair, what all have is not.

#include "endpoint/paths/plane_shares.h"

#include <doctest/doctest.h>

namespace mrclab::endpoint {
namespace {

constexpr uint32_t kWhole = PlaneShares::kWhole;
constexpr uint32_t kEveryPlane = ~0u;
constexpr Bytes kThousandBytes{1'000};
constexpr Bytes kSharedWindow{80'000};

PlaneShares four_planes() {
  PlaneShares shares;
  (void)shares.with_room(kEveryPlane, 0b1111, kSharedWindow, kThousandBytes);
  return shares;
}

TEST_CASE("a plane takes its share of the window and two packets, whatever the others have") {
  PlaneShares shares = four_planes();
  for (int i = 0; i < 21; ++i) shares.enter_flight(2, kThousandBytes);
  CHECK(shares.with_room(kEveryPlane, 0b1111, kSharedWindow, kThousandBytes) == 0b1111);
  shares.enter_flight(2, kThousandBytes);
  CHECK(shares.with_room(kEveryPlane, 0b1111, kSharedWindow, kThousandBytes) == 0b1011);
  // Those that are not asked for have their parts of the window all the same.
  CHECK(shares.with_room(0b0110, 0b1111, kSharedWindow, kThousandBytes) == 0b0010);
  shares.leave_flight(2, kThousandBytes);
  CHECK(shares.with_room(kEveryPlane, 0b1111, kSharedWindow, kThousandBytes) == 0b1111);
  // Where fewer planes are in use, each has more; a single one is bound by the window alone.
  for (int i = 0; i < 30; ++i) shares.enter_flight(2, kThousandBytes);
  CHECK(shares.with_room(kEveryPlane, 0b0101, kSharedWindow, Bytes{10'000}) == 0b0101);
  CHECK(shares.with_room(kEveryPlane, 0b0100, kSharedWindow, kThousandBytes) == 0b0100);
}

TEST_CASE("a plane that was never used has its whole share") {
  PlaneShares shares;
  CHECK(shares.share(31) == kWhole);
  shares.recover(kWhole, {});
  CHECK(shares.raise_all() == kWhole);
  CHECK(!shares.least_delay(17, FabricTime::from_us(1), {}));
  shares.enter_flight(5, kThousandBytes);
  shares.leave_flight(5, kThousandBytes);
  shares.shrink(5, Bytes{40'000}, kSharedWindow);
  CHECK(shares.share(5) < kWhole);
  CHECK(shares.share(4) == kWhole);
  CHECK(shares.raise_all() == kWhole);
}

TEST_CASE("what is known of planes stays when others come") {
  PlaneShares shares;
  for (int i = 0; i < 30; ++i) shares.enter_flight(1, kThousandBytes);
  CHECK(shares.with_room(kEveryPlane, 0b1111, kSharedWindow, kThousandBytes) == 0b1101);
}

TEST_CASE("what one plane alone says is its own, what half of the planes say is common") {
  PlaneShares shares = four_planes();
  for (int i = 0; i < 40; ++i) CHECK(shares.note_feedback(0, true, {}) == 0);
  for (int i = 0; i < 40; ++i) {
    for (const uint32_t plane : {1, 2, 3}) (void)shares.note_feedback(plane, true, {});
  }
  CHECK(shares.note_feedback(0, true, {}) == kWhole);
  for (int i = 0; i < 40; ++i) {
    for (const uint32_t plane : {2, 3}) (void)shares.note_feedback(plane, false, {});
  }
  CHECK(shares.note_feedback(0, true, {}) < kWhole / 2);
}

TEST_CASE("the largest share is whole, and what all planes give up is told") {
  PlaneShares shares = four_planes();
  shares.shrink(0, {10'000}, kSharedWindow);  // of 20,000
  CHECK(shares.share(0) == kWhole / 2);
  CHECK(shares.raise_all() == kWhole);
  CHECK(shares.share(0) == kWhole / 2);
  for (const uint32_t plane : {1, 2, 3}) shares.shrink(plane, {5'000}, kSharedWindow);
  CHECK(shares.raise_all() == kWhole / 4 * 3);
  CHECK(shares.share(1) == kWhole);
  CHECK(shares.share(0) == kWhole / 3 * 2);
  shares.grow(0, {20'000}, kSharedWindow);
  CHECK(shares.share(0) == kWhole);
  for (int i = 0; i < 100; ++i) shares.shrink(0, kSharedWindow, kSharedWindow);
  CHECK(shares.share(0) == kWhole / 256);  // it is still asked
}

TEST_CASE("a plane that asks for nothing has its whole share back in sixteen round trips") {
  PlaneShares shares = four_planes();
  const auto us = [](int64_t n) { return FabricTime::from_us(n); };
  for (const uint32_t plane : {1, 2}) shares.shrink(plane, {10'000}, kSharedWindow);
  (void)shares.note_feedback(1, true, us(100));
  (void)shares.note_feedback(2, true, us(120));
  for (int i = 0; i < 4; ++i) shares.recover(kWhole, us(110));
  CHECK(shares.share(1) == kWhole / 4 * 3);
  CHECK(shares.share(2) == kWhole / 2);
  for (int i = 0; i < 16; ++i) shares.recover(kWhole, us(130));
  CHECK(shares.share(1) == kWhole);
  CHECK(shares.share(2) == kWhole);
}

TEST_CASE("a plane is as late as its fastest path, and for two periods at most") {
  PlaneShares shares = four_planes();
  const auto us = [](int64_t n) { return FabricTime::from_us(n); };
  CHECK_FALSE(shares.least_delay(1, us(10), us(0)));
  CHECK(shares.note_delay(1, us(30), us(10), us(100)) == us(30));
  CHECK(shares.note_delay(1, us(5), us(10), us(105)) == us(5));
  CHECK(shares.note_delay(1, us(30), us(10), us(112)) == us(5));
  CHECK(shares.note_delay(1, us(30), us(10), us(125)) == us(30));
  CHECK(shares.least_delay(1, us(10), us(126)) == us(30));
  CHECK_FALSE(shares.least_delay(1, us(10), us(150)));
}

}  // namespace
}  // namespace mrclab::endpoint
