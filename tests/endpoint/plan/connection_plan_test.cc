#include "endpoint/plan/connection_plan.h"

#include <doctest/doctest.h>

#include <set>

#include "fabric/packet/headers.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::endpoint;

namespace {
std::vector<WorkloadSpec> ring_and_writes() {
  CollectiveSpec reduce;
  reduce.hosts = {0, 1, 2, 3, 4, 5, 6, 7};
  reduce.size = {1 << 20};
  WriteSpec write;
  write.from = 2;
  write.to = 5;
  write.size = {4096};
  PermutationSpec permutation;
  permutation.hosts = reduce.hosts;
  permutation.load = {900'000'000};
  permutation.message = {65536};
  permutation.shift = 4;
  return {reduce, write, permutation};
}
}  // namespace

TEST_CASE("the plan depends on names and seed alone, and changes with the seed") {
  const Topology octet = test::octet();
  const auto a = plan_connections(octet, ring_and_writes(), 1);
  const auto b = plan_connections(octet, ring_and_writes(), 1);
  const auto c = plan_connections(octet, ring_and_writes(), 2);
  REQUIRE(a.size() == 17);
  bool differs = false;
  for (size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].initiator.qpn == b[i].initiator.qpn);
    CHECK(a[i].region.rkey == b[i].region.rkey);
    CHECK(a[i].initiator.first_psn == b[i].initiator.first_psn);
    differs |= a[i].region.rkey != c[i].region.rkey;
  }
  CHECK(differs);
  CHECK(a[8].initiator.host == 2);
  CHECK(a[8].acceptor.host == 5);
  CHECK(a[9].acceptor.host == 4);
}

TEST_CASE("identities are unique in a host, 24 bits for QPNs, and regions do not overlap") {
  const auto plan = plan_connections(test::octet(), ring_and_writes(), 3);
  for (uint32_t host = 0; host < 8; ++host) {
    std::set<uint32_t> qpns, rkeys;
    uint64_t end = 0;
    size_t ends = 0, regions = 0;
    for (const ConnectionPlan& c : plan) {
      for (const EndPlan& e : {c.initiator, c.acceptor}) {
        if (e.host != host) continue;
        ++ends;
        qpns.insert(e.qpn.value);
        CHECK(e.qpn.value > kEndpointQpn.value);
        CHECK(e.qpn.value < 1u << 24);
      }
      if (c.acceptor.host != host) continue;
      ++regions;
      rkeys.insert(c.region.rkey);
      CHECK(c.region.va >= end);
      end = c.region.va + c.region.size.value;
    }
    CHECK(qpns.size() == ends);
    CHECK(rkeys.size() == regions);
  }
}

TEST_CASE("a workload that names a host which is not there is refused") {
  WriteSpec write;
  write.from = 0;
  write.to = 8;
  write.size = {1};
  CHECK_THROWS_AS(plan_connections(test::octet(), {write}, 1), std::invalid_argument);
  write.to = 0;
  CHECK_THROWS_AS(plan_connections(test::octet(), {write}, 1), std::invalid_argument);
}
