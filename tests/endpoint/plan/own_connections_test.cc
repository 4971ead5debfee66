#include "endpoint/plan/own_connections.h"

#include <doctest/doctest.h>

#include <vector>

#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::endpoint;

TEST_CASE("each host has the connections that begin or end there, in the order of the plan") {
  const Topology octet = test::octet();
  PermutationSpec permutation;
  permutation.hosts = {0, 1, 2, 3, 5};
  permutation.message = {65536};
  permutation.load = {900'000'000};
  WriteSpec write;
  write.from = 5;
  write.to = 2;
  write.size = {4096};
  write.qps = 3;
  const auto plan = plan_connections(octet, {permutation, write, permutation}, 1);
  const OwnConnections own(plan, octet.host_count());
  for (uint32_t host = 0; host < octet.host_count(); ++host) {
    CAPTURE(host);
    std::vector<uint32_t> expected;
    for (uint32_t i = 0; i < plan.size(); ++i) {
      if (plan[i].initiator.host == host || plan[i].acceptor.host == host) expected.push_back(i);
    }
    const auto of = own.of(host);
    CHECK(std::vector<uint32_t>(of.begin(), of.end()) == expected);
  }
  CHECK(own.of(2).size() == 7);
  CHECK(own.of(4).empty());
  CHECK(own.of(7).empty());
}
