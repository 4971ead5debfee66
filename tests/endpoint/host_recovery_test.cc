// Loss recovery and message semantics between whole hosts.
//
//   pair:  h0, h1 --2 planes-- T0

#include <doctest/doctest.h>

#include "endpoint/host_node.h"
#include "fabric/headers.h"
#include "fabric/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/mem_fabric.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::MemFabric;

namespace {

constexpr FabricTime us(int64_t n) { return FabricTime::from_us(n); }

Topology pair() { return build_regular_planes(test::shape_of("pair", 2, 1, 0, 2)); }

MemFabric::Options writes(uint64_t size, uint32_t count) {
  WriteSpec spec;
  spec.from = 0;
  spec.to = 1;
  spec.size = {size};
  spec.count = count;
  MemFabric::Options o;
  o.workloads = {spec};
  o.profile = make_profile("lab", pair());
  return o;
}

}  // namespace

TEST_CASE("a host whose ports are all dead before it sends anything ends in an error as well") {
  for (const std::string_view host : {"h0", "h1"}) {
    MemFabric fabric(pair(), writes(1 << 20, 4));
    for (const std::string_view port : {":p0", ":p1"}) {
      fabric.set_link(us(0), fabric.link_of(std::string(host) + std::string(port)), false);
    }
    fabric.run_until(us(10'000));
    CHECK(fabric.observer(0).count("qp_error", "Retry Counter Exceeded") == 1);
    CHECK(fabric.host(0).finished());
  }
}
