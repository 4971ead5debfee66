// What a mapper's probes cover and cannot tell apart, counted wire by wire for fabrics of any size.

#include "plan/mapper_plan.h"

#include <doctest/doctest.h>

#include <initializer_list>

#include "fabric/text/yaml.h"
#include "plan/fabric_plan.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

FabricShape with_probes(FabricShape shape, bool t0, bool t1, bool cross) {
  shape.mapper.on = true;
  shape.mapper.period = {10, {}};
  shape.mapper.t0 = t0;
  shape.mapper.t1 = t1;
  shape.mapper.cross = cross;
  return shape;
}

}  // namespace

TEST_CASE("every wire of 131,072 hosts on eight planes is crossed in every period") {
  const MapperPlan plan = plan_mapper(shape_of(PlanRequest{}));
  CHECK(plan.period == FabricTime::from_ms(1));
  CHECK(plan.wires == 8 * 524'288);
  CHECK(plan.crossed == plan.wires);
  CHECK(plan.t0 + plan.t1 == 2'097'152);
  CHECK(plan.cross == 524'288);
  CHECK(plan.most_a_port == 3);
  CHECK(plan.share < 0.0001);
}

TEST_CASE("what probes of each kind tell apart in a plane of octet") {
  const FabricShape octet = test::shape_of("octet", 8, 2, 4, 4);
  const MapperPlan ports = plan_mapper(with_probes(octet, true, false, false));
  CHECK(ports.classes ==
        8);  // both directions of a port are one class; links between switches none
  CHECK(ports.crossed == 8 * 16);
  const MapperPlan links = plan_mapper(with_probes(octet, true, true, false));
  CHECK(links.classes == 16);
  CHECK(links.alone == 0);
  const MapperPlan all = plan_mapper(with_probes(octet, true, true, true));
  CHECK(all.classes == 24);  // the 16 wires between switches apart, the ports' not
  CHECK(all.alone == 16);
  CHECK(all.crossed == all.wires);
}

TEST_CASE("a listed fabric has no plan of probes") {
  FabricShape shape = test::shape_of("listed", 1, 1, 1, 1);
  shape.graph.switches.emplace_back();
  CHECK_THROWS_AS(plan_mapper(shape), InputError);
}
