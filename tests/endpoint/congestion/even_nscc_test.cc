// The rules of NSCC with even shares, by hand (nscc_bench.h: largest window 225,000 B, MTU 1,000 B,
// base RTT 12.8 us, T 8 us). What comes of them on a fabric is nscc_fabric_test.cc.

#include "endpoint/congestion/even_nscc.h"

#include "tests/endpoint/congestion/nscc_bench.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using namespace mrclab::endpoint::test_nscc;
using test::ns;

namespace {

using EvenBench = WindowBench<EvenNscc>;

}  // namespace

TEST_CASE("an unmarked delay above target brakes in proportion to what it is above") {
  EvenBench b;
  // A round trip of it would take 0.3 x (16 - 8) / 16 of the window, and add 225,000 / 1,536 bytes.
  b.sack(0, 10'000, 16'000);
  CHECK(b.window() == 225'000 + 6 - 1'499);
  const uint64_t before = b.window();
  b.sack(1, 10'000, 8'000);  // at target: only what is added
  CHECK(b.window() == std::min<uint64_t>(before + 6, 225'000));
}

TEST_CASE("below target the window grows by a fifth of itself per round trip at most") {
  EvenBench shared;
  shared.shrink_to(2'000);
  shared.sack(0, 64, 8'000, false, 2);  // takes one byte, and adds 4
  // The constant, 146; then (8 - 4) / 8 of a fifth of the window, for 2,000 bytes of as many.
  const uint64_t before = shared.window();
  shared.sack(0, 2'000, 4'000);
  CHECK(shared.window() == before + 145 + (before + 145) / 5 / 2 * 2'000 / (before + 145));
  // A receiver that never asked for a penalty is not shared: by UEC's constant, at most twice.
  EvenBench alone;
  alone.shrink_to(2'000);
  alone.sack(0, 2'000, 4'000);
  CHECK(alone.window() == 2'000 + 146 + 1'000);
}

TEST_CASE(
    "on an empty path the window doubles, unless a penalty told that the receiver is shared") {
  EvenBench alone;
  alone.shrink_to(10'000);
  for (int i = 0; i < 3; ++i) alone.sack(i, 10'000, 0);
  CHECK(alone.window() > 30'000);  // the first one only shows that the path is empty
  EvenBench shared;
  shared.shrink_to(10'000);
  shared.sack(0, 1'000, 9'000, false, 1);
  for (int i = 0; i < 3; ++i) shared.sack(i, 10'000, 0);
  CHECK(shared.window() < 20'000);
  CHECK(shared.window() > 10'000);
  // After 32 base RTTs without one it is alone again.
  for (int i = 0; i < 3; ++i) shared.sack(33 * kBase + i, shared.window() + 1'000, 0);
  CHECK(shared.window() > 60'000);
}

TEST_CASE("the receiver's penalty takes its share of what is acknowledged, and growth goes on") {
  EvenBench b;
  b.shrink_to(64'000);
  b.sack(0, 12'800, 8'000, false, 16);
  // 12,800 x 16 / 128 = 1,600; the constant adds 146 x 12,800 / 62,400.
  CHECK(b.window() == 64'000 - 1'600 + 29);
}

TEST_CASE(
    "a trim of the last hop takes its packet, from a small window half, down to what 1,024 have") {
  EvenBench b;
  b.trim(0, TrimmedAt::kLastHop);
  CHECK(b.window() == 224'000);
  b.shrink_to(3'000);
  b.trim(1, TrimmedAt::kLastHop);
  CHECK(b.window() == 2'000);
  b.trim(2, TrimmedAt::kLastHop);
  CHECK(b.window() == 1'000);
  b.trim(3, TrimmedAt::kLastHop);
  CHECK(b.window() == 500);
  for (int i = 0; i < 20; ++i) b.trim(4 + i, TrimmedAt::kLastHop);
  CHECK(b.window() == 225'000 / 1024);
}

TEST_CASE("trims of the fabric cost nothing by themselves, but when the last hop trims as well") {
  EvenBench b;
  for (int i = 0; i < 10; ++i) b.trim(i, TrimmedAt::kFabric);
  b.lose(11);  // a header that did not fit either
  CHECK(b.window() == 225'000);
  b.trim(20, TrimmedAt::kLastHop);
  CHECK(b.window() == 225'000 - 11'000 - 1'000);
  b.trim(30, TrimmedAt::kFabric);  // and now at once
  CHECK(b.window() == 225'000 - 13'000);
}

TEST_CASE("trims of the fabric that go on for round trips do count: they are delay") {
  EvenBench b;
  for (int i = 0; i < 2'000; ++i) b.trim(i * 50, TrimmedAt::kFabric);  // eight round trips
  CHECK(b.window() < 120'000);
}

TEST_CASE("a mark brakes only while delay is above target on average, and so does no last hop's") {
  EvenBench b;
  b.sack(0, 1'000, 20'000, kMarked);
  CHECK(b.window() == 225'000);
  for (int i = 1; i < 600; ++i) b.sack(i * 100, 1'000, 20'000, kMarked);
  CHECK(b.window() < 200'000);
  EvenBench last_hop;
  for (int i = 0; i < 600; ++i) last_hop.sack(i * 100, 1'000, 20'000);
  CHECK(last_hop.nscc.average_delay() <= ns(8'000));
}

TEST_CASE("a small window is paced: a packet per round trip times packet over window") {
  EvenBench b;
  CHECK(!b.nscc.is_paced());
  CHECK(b.nscc.opens_at({1'000}) == FabricTime::never());
  b.shrink_to(4'000);
  CHECK(b.nscc.is_paced());
  b.nscc.on_sent({1'000}, ns(1'000));
  CHECK(!b.nscc.may_send({1'000}, ns(1'000)));
  CHECK(b.nscc.opens_at({1'000}) == ns(1'000 + kBase / 4));
  CHECK(b.nscc.may_send({1'000}, ns(1'000 + kBase / 4)));
  // Half a packet: one in two round trips, whatever is in flight of it.
  b.shrink_to(500);
  b.nscc.on_withdrawn({1'000});
  b.nscc.on_sent({1'000}, ns(1'000));
  CHECK(b.nscc.opens_at({1'000}) == ns(1'000 + 2 * kBase));
  // More than the window and a packet is never in flight.
  b.nscc.on_sent({1'000}, ns(2'000));
  CHECK(b.nscc.opens_at({1'000}) == FabricTime::never());
  CHECK(!b.nscc.may_send({1'000}, ns(1'000'000)));
  CHECK(b.nscc.wants_acknowledgement());
}

TEST_CASE("one long round trip does not slow pacing down for longer than a last hop's queue can") {
  EvenBench b;
  b.shrink_to(1'000);
  b.sack(0, 1'000, 1'000'000);
  const uint64_t window = b.window();
  b.nscc.on_sent({1'000}, ns(0));
  CHECK(b.nscc.opens_at({1'000}) <=
        ns((kBase + 16'000) * 1'000 / static_cast<int64_t>(window) + 1));
}

TEST_CASE("pace answers half of a delay, and less where a packet is more than the window") {
  constexpr int64_t kMiddle = kBase + 4'000;  // with half of the delay that is accepted
  const auto pace = [](uint64_t window, int64_t delay) {
    EvenBench b;
    b.shrink_to(window);
    b.sack(0, 1, delay);
    b.nscc.on_sent({1'000}, ns(0));
    return static_cast<double>(b.nscc.opens_at({1'000}).ps()) * static_cast<double>(b.window()) /
           1e6;
  };
  CHECK(pace(4'000, 4'000) == doctest::Approx(kMiddle).epsilon(0.01));
  CHECK(pace(4'000, 12'000) == doctest::Approx(kMiddle + 4'000).epsilon(0.01));
  CHECK(pace(4'000, 0) == doctest::Approx(kMiddle - 2'000).epsilon(0.01));
  CHECK(pace(250, 12'000) == doctest::Approx(kMiddle + 1'000).epsilon(0.01));
  CHECK(pace(250, 0) == doctest::Approx(kMiddle - 500).epsilon(0.01));
}

TEST_CASE("a window whose packets are only counted, not timed, grows back all the same") {
  EvenBench b;
  b.shrink_to(500);
  Acknowledgement counted;
  for (int i = 1; i <= 60; ++i) {
    b.nscc.on_sent({1'000}, ns(i * kBase * 2));
    counted.left_flight = {1'000};
    b.nscc.on_acknowledged(counted, ns(i * kBase * 2 + kBase));
  }
  CHECK(b.window() > 10'000);
}
