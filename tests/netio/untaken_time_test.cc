#include "netio/untaken_time.h"

#include <doctest/doctest.h>

#include <vector>

#include "fabric/build_topology.h"
#include "fabric/headers.h"
#include "tests/support/fabrics.h"

namespace mrclab::netio {
namespace {

std::vector<uint8_t> frame_with_hop_limit(int64_t hop_limit) {
  std::vector<uint8_t> frame(100);
  frame[14 + 7] = static_cast<uint8_t>(hop_limit);
  return frame;
}

}  // namespace

TEST_CASE("a frame that no switch of ours carried is later by the pipelines and wires of its way") {
  FabricShape shape = mrclab::test::shape_of("quad", 2, 2, 2, 2);
  shape.forwarding.exceptions = {{"p0", Forwarding::kKernel}};
  const Topology topology = build_topology(shape);
  const UntakenTime untaken(topology);
  const Port& foreign = topology.port(*topology.find_port("h1:p0"));
  const Port& ours = topology.port(*topology.find_port("h1:p1"));
  const FabricTime pipeline = topology.switch_latency, wire = shape.propagation;
  const int64_t sent = Ipv6Header{}.hop_limit;
  CHECK(untaken.of(foreign, frame_with_hop_limit(sent - 1)) == pipeline + wire * 2);
  CHECK(untaken.of(foreign, frame_with_hop_limit(sent - 3)) == pipeline * 3 + wire * 4);
  CHECK(untaken.of(ours, frame_with_hop_limit(sent - 3)) == FabricTime::zero());
  // Nobody's of ours: over no switch, over more than there are, too short to say.
  CHECK(untaken.of(foreign, frame_with_hop_limit(sent)) == FabricTime::zero());
  CHECK(untaken.of(foreign, frame_with_hop_limit(1)) == FabricTime::zero());
  CHECK(untaken.of(foreign, std::vector<uint8_t>(21)) == FabricTime::zero());
}

}  // namespace mrclab::netio
