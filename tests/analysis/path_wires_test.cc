#include "analysis/history/path_wires.h"

#include <doctest/doctest.h>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/ev_path.h"

using namespace mrclab;
using namespace mrclab::analysis;

namespace {

/// From h0 over three switches to h1, a packet of 4 KiB: 4,262 bytes on the wire.
FabricTime transit(Switching switching, BitRate fabric_rate) {
  FabricShape shape;
  shape.name = "pair";
  shape.t0 = 2;
  shape.fabric_rate = fabric_rate;
  shape.switching = switching;
  const Topology topology = build_topology(shape);
  const auto wires = wires_of(topology, 0, 1, Path{0, 0});
  REQUIRE(wires.size() == 4);
  return idle_transit(topology, wires, {4'262});
}

}  // namespace

TEST_CASE("an idle path takes as long as its switches do: stored, cut through, or some of each") {
  const BitRate same = BitRate::from_gbps(100), faster = BitRate::from_gbps(400);
  const FabricTime flight = FabricTime::from_ns(4 * 500 + 3 * 700);
  const auto bytes = [](int64_t count, int64_t ps) { return FabricTime::from_ps(count * ps); };
  CHECK(transit(Switching::kStoreAndForward, same) == flight + bytes(4 * 4'262, 80));
  CHECK(transit(Switching::kCutThrough, same) ==
        flight + bytes(4 * 4'262, 80) - bytes(3 * 4'126, 80));
  // The first switch stores what goes on faster than it came; the other two cut through.
  CHECK(transit(Switching::kCutThrough, faster) ==
        flight + bytes(2 * 4'262, 80) + bytes(2 * 4'262, 20) - bytes(2 * 4'126, 20));
}
