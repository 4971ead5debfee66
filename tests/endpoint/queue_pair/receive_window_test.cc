#include "endpoint/queue_pair/receive_window.h"

#include <doctest/doctest.h>

#include "endpoint/queue_pair/sack_generator.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using Position = ReceiveWindow::Position;

TEST_CASE("packets are new once, in a window of MPR packets ahead of the cumulative one") {
  ReceiveWindow window(128);
  CHECK(window.classify(0) == Position::kNew);
  CHECK(window.classify(127) == Position::kNew);
  CHECK(window.classify(128) == Position::kAhead);
  CHECK(window.classify(-1) == Position::kFarPast);
  window.accept(127, false, 0, {});
  CHECK(window.classify(127) == Position::kDuplicate);
  window.accept(0, false, 0, {});
  CHECK(!window.advance());
  CHECK(window.cumulative() == 0);
  CHECK(window.classify(0) == Position::kDuplicate);
  CHECK(window.classify(128) == Position::kNew);
}

TEST_CASE("message ends are told in order, after everything before them") {
  ReceiveWindow window(128);
  window.accept(2, true, 0, 22);
  window.accept(1, true, 0, {});
  CHECK(!window.advance());
  CHECK(window.out_of_order() == 2);
  window.accept(0, false, 0, {});
  REQUIRE(window.advance());
  CHECK(!window.message_end().immediate);
  CHECK(window.cumulative() == 1);
  REQUIRE(window.advance());
  CHECK(window.message_end().immediate == 22u);
  CHECK(!window.advance());
  CHECK(window.out_of_order() == 0);
}

TEST_CASE("the bitmap shows 64 packets from any base, also across the ring's end") {
  ReceiveWindow window(128);  // ring of 256
  for (Sequence s = 0; s < 230; ++s) {
    window.accept(s, false, 0, {});
    window.advance();
  }
  for (const Sequence s : {Sequence{231}, Sequence{255}, Sequence{256}, Sequence{294}}) {
    window.accept(s, false, 0, {});
  }
  const uint64_t bits = window.bitmap(230);
  CHECK(bits == (uint64_t{1} << 1 | uint64_t{1} << 25 | uint64_t{1} << 26));
  CHECK(window.bitmap(231) ==
        (uint64_t{1} | uint64_t{1} << 24 | uint64_t{1} << 25 | uint64_t{1} << 63));
}

TEST_CASE("a long stream leaves no stale bits behind") {
  ReceiveWindow window(128);
  for (Sequence s = 0; s < 5000; ++s) {
    REQUIRE(window.classify(s) == Position::kNew);
    window.accept(s, false, 0, {});
    window.advance();
    REQUIRE(window.bitmap(window.cumulative() + 1) == 0);
  }
}

TEST_CASE("a SACK says what the golden vector of the specification's example says") {
  // PSN 5 and 8 missing; 6, 7, 9, 10, 11 present; 11 triggers with a CE mark.
  ReceiveWindow window(1024);
  const PsnSpace psns(Psn{0});
  for (Sequence s = 0; s <= 4; ++s) window.accept(s, false, 0, {});
  for (const Sequence s : {6, 7, 9, 10, 11}) window.accept(s, false, 0, {});
  window.advance();
  SackGenerator sacks(16384);
  const Seth seth = sacks.make(window, psns, 11, {{0x00030007}, 0x1234, true});
  CHECK(seth.cumulative == Psn{4});
  CHECK(seth.psn_offset_or_probe_id == 7);
  CHECK(seth.sack_offset == 1);
  CHECK(seth.bitmap == 0x76);
  CHECK(seth.out_of_order == 5);
  CHECK(seth.mark == SackMark::kSkipOnce);
  CHECK(seth.entropy.value == 0x00030007);
  CHECK(seth.tx_timestamp == 0x1234);
}

TEST_CASE("a SACK is due after more than the threshold of bytes, small packets counting 1024") {
  SackGenerator sacks(4096);
  ReceiveWindow window(128);
  for (int i = 0; i < 4; ++i) CHECK(!sacks.on_packet(100, false));
  CHECK(sacks.on_packet(100, false));
  sacks.make(window, PsnSpace(Psn{}), 0, {});
  CHECK(!sacks.on_packet(4096, false));
  CHECK(sacks.on_packet(1, true));
}

TEST_CASE(
    "three SACKs look back from their trigger, the fourth and probe answers at the oldest hole") {
  ReceiveWindow window(1024);
  const PsnSpace psns(Psn{0xFFFFF0});
  window.accept(500, false, 0, {});
  SackGenerator sacks(4096);
  for (int i = 1; i <= 8; ++i) {
    const Seth seth = sacks.make(window, psns, 500, {});
    CHECK(seth.sack_offset == (i % 4 == 0 ? 1 : 438));
    CHECK(seth.bitmap == (i % 4 == 0 ? 0 : uint64_t{1} << 63));
    CHECK(seth.cumulative == Psn{0xFFFFEF});
  }
  const Seth answer = sacks.make_probe_answer(window, psns, 0x77, {});
  CHECK(answer.probe_response);
  CHECK(answer.psn_offset_or_probe_id == 0x77);
  CHECK(answer.sack_offset == 1);
}

TEST_CASE("a SACK's bitmap begins where the chosen reading says") {
  ReceiveWindow window(1024);
  const PsnSpace psns(Psn{0xFFFFF0});
  window.accept(100, false, 0, {});
  window.accept(500, false, 0, {});
  const auto offsets = [&](SackBase base) {
    SackGenerator sacks(4096, base);
    std::vector<int> result;
    for (int i = 0; i < 4; ++i) result.push_back(sacks.make(window, psns, 100, {}).sack_offset);
    return result;
  };
  CHECK(offsets(SackBase::kTrigger) == std::vector<int>{38, 38, 38, 1});
  CHECK(offsets(SackBase::kNewest) == std::vector<int>{438, 438, 438, 438});
  CHECK(offsets(SackBase::kCumulative) == std::vector<int>{1, 1, 1, 1});
}
