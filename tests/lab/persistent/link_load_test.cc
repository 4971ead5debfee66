// How busy links are, out of what switches have counted.

#include "lab/persistent/link_load.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "fabric/topology/fabric_file.h"
#include "tests/support/shipped_fabric.h"

namespace mrclab::lab {
namespace {

using Counters = telemetry::NamedCounts;

const DirectionLoad& from(const std::vector<DirectionLoad>& loads, const std::string& port) {
  const auto at = std::find_if(loads.begin(), loads.end(),
                               [&](const DirectionLoad& load) { return load.from == port; });
  REQUIRE(at != loads.end());
  return *at;
}

CounterSample sample(int64_t at_us, const Counters& counters) {
  CounterSample sample;
  sample.switches["p0.t0-0"] = {FabricTime::from_us(at_us), counters};
  return sample;
}

TEST_CASE("a load is the bytes of both directions over the time that they took") {
  const Topology topology = read_fabric_file(test::shipped_fabric("pair"));
  // 100 Gb/s carry 125,000 bytes in 10 us.
  const CounterSample now = sample(10, {{"total.rx", 40},
                                        {"u0.tx_bytes", 125'000},
                                        {"d0.tx_bytes", 12'500},
                                        {"d0.rx_bytes", 62'500},
                                        {"u0.data_depth_bytes", 4'000},
                                        {"u0.control_depth_bytes", 96},
                                        {"u0.trimmed", 3},
                                        {"u0.ecn_marked", 2},
                                        {"u0.tx_lost", 1},
                                        {"u0.drop.queue_full", 5},
                                        {"d0.arrivals_lost", 7},
                                        {"d0.drop.wire_loss", 7}});
  const std::vector<DirectionLoad> loads = link_loads(topology, nullptr, now);
  const DirectionLoad& up = from(loads, "p0.t0-0:u0");
  CHECK(up.load == doctest::Approx(1.0));
  CHECK(up.bits_per_second == doctest::Approx(100e9));
  CHECK(up.queued_bytes == 4'096);
  CHECK(up.trimmed == 3);
  CHECK(up.marked == 2);
  CHECK(up.lost == 6);
  CHECK(from(loads, "p0.t0-0:d0").load == doctest::Approx(0.1));
  CHECK(from(loads, "p0.t0-0:d0").lost == 0);  // what came in and was lost is the host's
  const DirectionLoad& host = from(loads, "h0:p0");
  CHECK(host.load == doctest::Approx(0.5));
  CHECK(host.to == "p0.t0-0:d0");
  CHECK(host.lost == 7);
  CHECK_FALSE(host.queued_bytes.has_value());
}

TEST_CASE("from one look to the next, and from the beginning for a switch that began anew") {
  const Topology topology = read_fabric_file(test::shipped_fabric("pair"));
  const CounterSample before = sample(10, {{"total.rx", 40}, {"u0.tx_bytes", 125'000}});
  const CounterSample later = sample(20, {{"total.rx", 50}, {"u0.tx_bytes", 150'000}});
  CHECK(from(link_loads(topology, &before, later), "p0.t0-0:u0").load == doctest::Approx(0.2));
  const CounterSample anew = sample(20, {{"total.rx", 4}, {"u0.tx_bytes", 25'000}});
  CHECK(from(link_loads(topology, &before, anew), "p0.t0-0:u0").load == doctest::Approx(0.1));
  // A lab that stands: no time, no load.
  CHECK(from(link_loads(topology, &before, before), "p0.t0-0:u0").load == 0);
}

TEST_CASE("the busiest come first, in 80 columns, and the others are counted") {
  const Topology topology = read_fabric_file(test::shipped_fabric("pair"));
  std::vector<DirectionLoad> loads = link_loads(
      topology, nullptr,
      sample(10, {{"u0.tx_bytes", 125'000}, {"d0.tx_bytes", 12'500}, {"d0.drop.queue_full", 9}}));
  sort_by_load(loads);
  CHECK(loads.front().from == "p0.t0-0:u0");
  CHECK(loads[1].from == "p0.t0-0:d0");
  const std::string text = load_text(loads, 2);
  CAPTURE(text);
  CHECK(text.find("and " + std::to_string(loads.size() - 2) + " more") != std::string::npos);
  CHECK(text.find("100.0 %") != std::string::npos);
  for (size_t at = 0, end = 0; at < text.size(); at = end + 1) {
    end = std::min(text.find('\n', at), text.size());
    CHECK(end - at <= 80);
  }
}

}  // namespace
}  // namespace mrclab::lab
