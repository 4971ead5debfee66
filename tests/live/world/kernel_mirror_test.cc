#include "live/world/kernel_mirror.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>

using namespace mrclab;
using lab::KernelMirror;

namespace {

Topology two_nodes() {
  FabricShape shape;
  shape.name = "two";
  shape.t1 = 0;
  return build_topology(shape);
}

std::vector<ScheduledEffect> outage(const Topology& topology, FabricTime down, FabricTime up) {
  const Link& link = topology.links.front();
  return {{down, PortCarrier{link.a, false}, 0, 0, false},
          {down, PortCarrier{link.b, false}, 1, 0, false},
          {up, PortCarrier{link.a, true}, 2, 0, true},
          {up, PortCarrier{link.b, true}, 3, 0, true}};
}

/// In these tests the gate can hold all processes back wherever the mirror asks for it.
bool can_wait(FabricTime) { return true; }

}  // namespace

TEST_CASE("a link is down in the kernel only while neither end has carrier") {
  const Topology topology = two_nodes();
  auto schedule = outage(topology, FabricTime::from_us(10), FabricTime::from_us(20));
  CHECK(faults::carrier_outages(topology, schedule) ==
        std::vector<faults::CarrierOutage>{
            {LinkId{0}, FabricTime::from_us(10), FabricTime::from_us(20)}});
  schedule.erase(schedule.begin());  // one end keeps its carrier
  CHECK(faults::carrier_outages(topology, schedule).empty());
}

TEST_CASE("the kernel follows after the last frames have crossed and leads when the link returns") {
  const Topology topology = two_nodes();
  const auto schedule = outage(topology, FabricTime::from_us(10), FabricTime::from_us(110));
  std::vector<std::pair<bool, FabricTime>> done;
  FabricTime now;
  KernelMirror mirror(
      topology, schedule, [&](LinkId, bool up) { done.emplace_back(up, now); }, can_wait);
  for (; now < FabricTime::from_us(120); now += FabricTime::from_ns(100)) {
    if (now > mirror.limit()) break;  // the gate would let no process pass
    mirror.apply_due(now, 5000);
  }
  REQUIRE(done.size() == 2);
  CHECK_FALSE(done[0].first);
  CHECK(done[0].second >= FabricTime::from_us(10) + topology.lookahead(WireId{0}));
  CHECK(done[1].first);
  CHECK(done[1].second < FabricTime::from_us(110));
  CHECK(mirror.limit() == FabricTime::never());
  CHECK(mirror.down_at(FabricTime::from_us(50)).size() == 1);
  CHECK(mirror.down_at(FabricTime::from_us(110)).empty());
}

TEST_CASE("until the kernel's link is up again nobody may commit to the instant of its return") {
  const Topology topology = two_nodes();
  const auto schedule = outage(topology, FabricTime::from_us(10), FabricTime::from_us(110));
  KernelMirror mirror(
      topology, schedule, [](LinkId, bool) {}, can_wait);
  mirror.apply_due(FabricTime::from_us(50), 5000);
  CHECK(mirror.limit() == FabricTime::from_us(110) - FabricTime::from_ps(1));
}

TEST_CASE("a link is down as long as the lab stands within its outage, however short that is") {
  const Topology topology = two_nodes();
  const auto schedule = outage(topology, FabricTime::from_us(10), FabricTime::from_us(15));
  std::vector<bool> set;
  KernelMirror mirror(
      topology, schedule, [&](LinkId, bool up) { set.push_back(up); }, can_wait);
  const FabricTime stands = FabricTime::from_us(14);
  mirror.apply_due(FabricTime::from_us(12), 100, stands);
  mirror.apply_due(stands, 100, stands);
  CHECK(set == std::vector<bool>{false});
  CHECK(mirror.limit() == FabricTime::from_us(15) - FabricTime::from_ps(1));
  mirror.apply_due(stands, 100);  // time goes on
  CHECK(set == std::vector<bool>{false, true});
}

TEST_CASE("when an outage is healed sooner than it was meant to be, the kernel follows") {
  const Topology topology = two_nodes();
  std::vector<bool> set;
  KernelMirror mirror(
      topology, outage(topology, FabricTime::from_us(10), FabricTime::never()),
      [&](LinkId, bool up) { set.push_back(up); }, can_wait);
  mirror.apply_due(FabricTime::from_us(50), 5000);
  mirror.replace(outage(topology, FabricTime::from_us(10), FabricTime::from_us(60)));
  CHECK(set == std::vector<bool>{false});
  CHECK(mirror.limit() == FabricTime::from_us(60) - FabricTime::from_ps(1));
  mirror.apply_due(FabricTime::from_us(55), 5000);
  CHECK(set == std::vector<bool>{false, true});
  CHECK(mirror.limit() == FabricTime::never());
  // Somebody breaks it again before that: the outage goes on, and so does the kernel's.
  mirror.replace(outage(topology, FabricTime::from_us(10), FabricTime::from_us(500)));
  mirror.apply_due(FabricTime::from_us(56), 5000);
  CHECK(set == std::vector<bool>{false, true, false});
}

TEST_CASE("an outage too short for the kernel is not mirrored and is counted") {
  const Topology topology = two_nodes();
  const auto schedule = outage(topology, FabricTime::from_us(10), FabricTime::from_us(12));
  KernelMirror mirror(
      topology, schedule, [](LinkId, bool) { FAIL("must not touch the kernel"); }, can_wait);
  mirror.apply_due(FabricTime::from_us(11) + FabricTime::from_ns(500), 100);
  REQUIRE(mirror.notes().size() == 1);
  CHECK(mirror.notes().front().kind == "outage_not_mirrored");
  CHECK(mirror.limit() == FabricTime::never());
}

TEST_CASE("where the gate can no longer wait for a link's return, the kernel's link stays up") {
  const Topology topology = two_nodes();
  const auto schedule = outage(topology, FabricTime::from_us(10), FabricTime::from_us(110));
  FabricTime asked;
  KernelMirror mirror(
      topology, schedule, [](LinkId, bool) { FAIL("must not touch the kernel"); },
      [&](FabricTime instant) {
        asked = instant;
        return false;  // a process has committed it while the lab was held up
      });
  mirror.apply_due(FabricTime::from_us(50), 5000);
  CHECK(asked == FabricTime::from_us(110));
  REQUIRE(mirror.notes().size() == 1);
  CHECK(mirror.notes().front().kind == "outage_not_mirrored");
}

TEST_CASE("an outage that has ended is needed until the mirror is done with it") {
  const Topology topology = two_nodes();
  const FabricTime down = FabricTime::from_us(10), up = down + FabricTime::from_ps(5);
  KernelMirror mirror(
      topology, outage(topology, down, up), [](LinkId, bool) {}, can_wait);
  CHECK(mirror.settled(down) == down);
  CHECK(mirror.settled(up) == down - FabricTime::from_ps(1));
  mirror.apply_due(FabricTime::from_us(20), 5000);
  CHECK(mirror.settled(FabricTime::from_us(20)) == FabricTime::from_us(20));
}
