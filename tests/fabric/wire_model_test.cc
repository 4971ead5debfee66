#include "fabric/wire_model.h"

#include <doctest/doctest.h>

using namespace mrclab;

namespace {
FabricTime us(int64_t n) { return FabricTime::from_us(n); }
FabricTime ps(int64_t n) { return FabricTime::from_ps(n); }
}  // namespace

TEST_CASE("a wire that was never down cuts nothing") {
  const IngressWire wire;
  CHECK(wire.up());
  CHECK_FALSE(wire.cut(us(0), us(1'000)));
}

TEST_CASE("a frame is cut when the wire was down at any instant between start and arrival") {
  IngressWire wire;
  wire.go_down(us(10));
  CHECK_FALSE(wire.up());
  wire.come_up(us(20));
  CHECK(wire.up());
  CHECK_FALSE(wire.cut(us(5), us(10) - ps(1)));
  CHECK(wire.cut(us(5), us(10)));  // went down at the instant of arrival
  CHECK(wire.cut(us(9), us(21)));  // a whole outage in between
  CHECK(wire.cut(us(12), us(13)));
  CHECK(wire.cut(us(20) - ps(1), us(25)));
  CHECK_FALSE(wire.cut(us(20), us(25)));  // starts at the instant of coming up
}

TEST_CASE("a wire that stays down cuts everything that arrives after") {
  IngressWire wire;
  wire.go_down(us(10));
  CHECK(wire.cut(us(100), us(101)));
  CHECK_FALSE(wire.cut(us(1), us(2)));
}

TEST_CASE("of several outages each one cuts") {
  IngressWire wire;
  for (int64_t i = 1; i <= 3; ++i) {
    wire.go_down(us(100 * i));
    wire.come_up(us(100 * i + 10));
  }
  CHECK(wire.cut(us(99), us(100)));
  CHECK_FALSE(wire.cut(us(110), us(199)));
  CHECK(wire.cut(us(110), us(200)));
  CHECK_FALSE(wire.cut(us(310), us(999)));
}

TEST_CASE("going down twice is one outage, and coming up twice ends one") {
  IngressWire wire;
  wire.go_down(us(10));
  wire.go_down(us(15));
  wire.come_up(us(20));
  wire.come_up(us(30));
  CHECK(wire.cut(us(11), us(12)));
  CHECK_FALSE(wire.cut(us(21), us(29)));
}

TEST_CASE("only outages that ended before the horizon are forgotten") {
  IngressWire wire;
  wire.go_down(us(10));
  wire.come_up(us(20));
  wire.go_down(us(30));
  wire.forget_before(us(20));
  CHECK_FALSE(wire.cut(us(12), us(13)));
  CHECK(wire.cut(us(29), us(31)));
  wire.forget_before(us(1'000));
  CHECK_FALSE(wire.up());
}

TEST_CASE("a wire without loss takes nothing and one with full loss takes everything") {
  EgressWire wire(1, NodeId{3}, PortId{0});
  for (int i = 0; i < 1000; ++i) CHECK_FALSE(wire.takes_next_frame());
  wire.set_loss({Probability::kOne});
  for (int i = 0; i < 1000; ++i) CHECK(wire.takes_next_frame());
}

TEST_CASE("random loss has its probability and repeats with the seed") {
  EgressWire wire(1, NodeId{3}, PortId{0}), twin(1, NodeId{3}, PortId{0});
  EgressWire other(2, NodeId{3}, PortId{0});
  const Probability fifth{Probability::kOne / 5};
  for (EgressWire* w : {&wire, &twin, &other}) w->set_loss(fifth);
  int lost = 0, differs = 0;
  for (int i = 0; i < 10'000; ++i) {
    const bool taken = wire.takes_next_frame();
    CHECK(taken == twin.takes_next_frame());
    differs += taken != other.takes_next_frame();
    lost += taken;
  }
  CHECK(lost > 1'800);
  CHECK(lost < 2'200);
  CHECK(differs > 2'000);
}
