// What traffic lives through that keeps to its paths, as RC does.

#include <doctest/doctest.h>

#include "faults/generator.h"
#include "faults/survival.h"
#include "tests/support/fabrics.h"

namespace mrclab::faults {
namespace {

constexpr FabricTime kFrom = FabricTime::from_us(350), kPatience = FabricTime::from_us(40);

Fault fault_of_ten_us(const Topology& t, FaultKind kind, FabricTime at) {
  Fault fault;
  fault.kind = kind;
  fault.at = at;
  fault.settings.set(Parameter::kFor, FabricTime::from_us(10).ps());
  if (kind == FaultKind::kPlaneDown) {
    fault.targets.planes = {0};
  } else {
    fault.targets.nodes = {t.host(0)};
  }
  return fault;
}

TEST_CASE("a path may be dead for as long as a transport that keeps to it tries again, no longer") {
  const Topology t = test::two_rows();
  for (const FaultKind kind :
       {FaultKind::kPlaneDown, FaultKind::kPauseStorm, FaultKind::kPcieStall}) {
    CAPTURE(std::string(info(kind).name));
    Outages outages(t);
    outages.add_holds(holds_of(fault_of_ten_us(t, kind, kFrom), t));
    CHECK(outages.survivable({0, 1}));
    CHECK(outages.survivable_by_patience({0, 1}, FabricTime::from_us(10)));
    CHECK_FALSE(outages.survivable_by_patience({0, 1}, FabricTime::from_ns(9'999)));
  }
}

TEST_CASE("outages that follow each other closely are one") {
  const Topology t = test::two_rows();
  const FabricTime apart = t.base_rtt * Outages::kApartRtts;
  for (const bool close : {true, false}) {
    Outages outages(t);
    outages.add_holds(holds_of(fault_of_ten_us(t, FaultKind::kPlaneDown, kFrom), t));
    const FabricTime second = kFrom + FabricTime::from_us(10) + apart +
                              (close ? FabricTime::zero() : FabricTime::from_ns(1));
    outages.add_holds(holds_of(fault_of_ten_us(t, FaultKind::kPlaneDown, second), t));
    CHECK(outages.survivable_by_patience({0, 1}, FabricTime::from_us(10)) != close);
  }
}

TEST_CASE("drawn faults outlast a patience in some seeds, which say so, and in most they do not") {
  const Topology t = test::octet();
  uint32_t survivable = 0;
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    const DrawnFaults draw = draw_faults(t, {.seed = seed,
                                             .from = kFrom,
                                             .heal_by = FabricTime::from_us(600),
                                             .hosts = {0, 1, 2, 3},
                                             .patience = kPatience});
    Outages outages(t);
    for (const Fault& fault : draw.faults) outages.add_holds(holds_of(fault, t));
    CHECK(draw.survivable == (outages.survivable({0, 1, 2, 3}) &&
                              outages.survivable_by_patience({0, 1, 2, 3}, kPatience)));
    survivable += draw.survivable ? 1 : 0;
  }
  CHECK(survivable > 50);
  CHECK(survivable < 95);
}

}  // namespace
}  // namespace mrclab::faults
