// Programs that send anything at all.

#include <random>

#include "tests/verbs/support/hostile_verbs.h"
#include "tests/verbs/support/verbs_world.h"

using namespace mrclab;
using namespace mrclab::test;
using verbs::Op;

TEST_CASE("100,000 random messages are answered or end their program, and others go on") {
  VerbsWorld world;
  ConnectedPair pair(world);
  std::mt19937_64 random(7);
  uint64_t answered = 0, refused = 0, ended = 0;
  auto guest = hostile_guest(world);
  for (int i = 0; i < 100'000; ++i) {
    switch (send_random(guest, random)) {
      case -1:
        ++ended;
        guest = hostile_guest(world);
        break;
      case 0: ++answered; break;
      default: ++refused;
    }
    if (i % 10'000 == 0) {
      std::fill(pair.a.memory.begin(), pair.a.memory.end(), static_cast<uint8_t>(i / 10'000 + 1));
      REQUIRE(pair.write(1, 0, 4096));
      pair.run(FabricTime::from_us(20));
      REQUIRE(pair.a.guest->poll(pair.a.cq)->status == 0);
      REQUIRE(pair.b.memory[4095] == i / 10'000 + 1);
    }
  }
  CHECK(answered > 1000);
  CHECK(refused > 1000);
  CHECK(ended > 10);
}

TEST_CASE("a work ring that cannot be right ends its program") {
  const auto breaks = [](auto change) {
    VerbsWorld world;
    auto guest = world.enter(0);
    guest->greet();
    change(guest->work());
    CHECK_FALSE(guest.session->take_work(FabricTime::never()));
    return guest.session->broken();
  };
  const auto record = [](uint32_t bytes, uint16_t kind = 0, uint16_t sges = 0,
                         uint64_t written = verbs::kWorkRingBytes) {
    return [=](verbs::WorkRing& ring) {
      verbs::WorkRecord r{};
      r.bytes = bytes;
      r.kind = kind;
      r.sges = sges;
      std::memcpy(ring.records, &r, sizeof r);
      ring.written.store(written);
    };
  };
  CHECK(breaks([](verbs::WorkRing& ring) { ring.written.store(4); }));
  CHECK(breaks([](verbs::WorkRing& ring) { ring.written.store(UINT64_MAX); }));
  CHECK(breaks([](verbs::WorkRing& ring) { ring.written.store(verbs::kWorkRingBytes + 8); }));
  CHECK(breaks(record(0)));
  CHECK(breaks(record(71)));
  CHECK(breaks(record(64)));
  CHECK(breaks(record(72, 0, 1)));      // its list is not in it
  CHECK(breaks(record(4096)));          // longer than any
  CHECK(breaks(record(80, 0, 0, 72)));  // longer than what is written
  CHECK(breaks(record(2u << 20, verbs::kWorkPadding)));
  CHECK_FALSE(breaks([](verbs::WorkRing&) {}));
}

TEST_CASE("a completion ring that the program has spoilt counts as full") {
  VerbsWorld world;
  ConnectedPair pair(world);
  pair.a.guest->ring(pair.a.cq).taken.store(1'000'000);
  REQUIRE(pair.write(1, 0, 64));
  pair.run(FabricTime::from_us(50));
  CHECK_FALSE(pair.a.guest.session->broken());
  CHECK(read_event<verbs::AsyncEventWire>(pair.a.guest->events)->event == 0);
}
