// Queues that share the buffer of their switch.

#include <doctest/doctest.h>

#include "fixture.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

FabricShape sharing_shape() {
  FabricShape shape;
  shape.name = "sharing";
  shape.planes = 1;
  shape.t0 = shape.t1 = shape.hosts_per_t0 = 2;
  return shape;
}

/// 60 frames of 4,250 bytes from two ports to one, at one instant.
void burst(Bench& bench, FrameText frame) {
  for (int i = 0; i < 30; ++i) {
    bench.arrive(kU0, ps(1'000'000 + i), frame);
    bench.arrive(kU1, ps(1'000'000 + i), frame);
  }
}

}  // namespace

TEST_CASE("MRC's queues share the buffer: what alpha leaves to one is trimmed or dropped above") {
  FabricShape shape = sharing_shape();
  shape.lossless.pools_mrc = true;
  shape.lossless.alpha_permille = 62;
  // Ports of this fabric have 3 BDPs each; without the reserves that is the pool.
  Bench bench("p0.t0-0", build_topology(shape));
  const IngressBuffer* buffer = bench.node.shared_buffer();
  REQUIRE(buffer != nullptr);
  // A queue alone: R + alpha F / (1 + alpha).
  const double most = 4'096 + static_cast<double>(buffer->pool().value) * 0.062 / 1.062;
  burst(bench, kToH1);
  bench.run(ps(1'800'000));
  CHECK(buffer->pool_used() > Bytes{0});
  bench.run();
  CHECK(buffer->pool_used() == Bytes{0});
  const PortCounters& port = bench.counters(kD1);
  CHECK(static_cast<double>(port.data_depth_max.value) == doctest::Approx(most).epsilon(0.05));
  CHECK(port.dropped(DropCause::kQueueFull) == 60 - 1 - port.data_depth_max.value / 4'250);

  shape.lossless.pools_mrc = false;
  Bench own("p0.t0-0", build_topology(shape));
  CHECK(own.node.shared_buffer() == nullptr);
  burst(own, kToH1);
  own.run();
  CHECK(own.counters(kD1).dropped(DropCause::kQueueFull) == 0);
}

TEST_CASE(
    "without PFC RoCE's queues are bounded by the ASIC's buffer, or where it is scaled by their own") {
  FabricShape shape = sharing_shape();
  shape.queues.lossless_limit = 100;  // of a BDP
  const FrameText lossless{.carrier = kToH1.carrier, .dscp = kDscpLossless};
  Bench scaled("p0.t0-0", build_topology(shape));
  burst(scaled, lossless);
  scaled.run();
  CHECK(scaled.counters(kD1).dropped(DropCause::kQueueFull) > 50);

  shape.lossless.asic = SwitchAsic::kTomahawk5;
  Bench asic("p0.t0-0", build_topology(shape));
  burst(asic, lossless);
  asic.run();
  CHECK(asic.counters(kD1).dropped(DropCause::kQueueFull) == 0);
  CHECK(asic.node.shared_buffer()->pool_used() == Bytes{0});
}
