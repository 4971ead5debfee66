// Counters at equal steps: what stands where, and bounds.

#include "telemetry/counter_series.h"

#include <doctest/doctest.h>

#include "fabric/text/input_error.h"
#include "fabric/topology/fabric_file.h"
#include "tests/support/shipped_fabric.h"

namespace mrclab::telemetry {
namespace {

const CounterRow& trims() { return *find_counter(Counts::kPort, "trimmed"); }

struct SteppedPair {
  Topology topology = read_fabric_file(test::shipped_fabric("pair"));
  PortRef port = topology.find_port("p0.t0-0:u0").value();
};

TEST_CASE("what happened at a step's instant or before it is counted at it") {
  const SteppedPair pair;
  CounterSeries series(pair.topology, FabricTime::from_us(10));
  series.add(pair.port, trims(), FabricTime::from_us(10), 1);
  series.add(pair.port, trims(), FabricTime::from_ps(10'000'001), 2);
  series.reach(FabricTime::from_us(30));
  const auto lines = series.lines();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].values == std::vector<uint64_t>{0, 1, 3, 3});
  CHECK(series.csv() ==
        "time_us,node,port,plane,counter,value\n0,p0.t0-0,u0,0,trimmed,0\n"
        "10,p0.t0-0,u0,0,trimmed,1\n20,p0.t0-0,u0,0,trimmed,3\n30,p0.t0-0,u0,0,trimmed,3\n");
  const std::string text = series.open_metrics();
  const std::string name =
      "\nmrclab_port_trimmed_packets_total{node=\"p0.t0-0\",port=\"u0\",plane=\"0\"} ";
  CHECK(text.find(name + "0 0" + name + "1 1" + name + "3 2" + name + "3 3\n# EOF\n") !=
        std::string::npos);
}

TEST_CASE("of a depth each step has what it is then, and the most since the step before") {
  const SteppedPair pair;
  CounterSeries series(pair.topology, FabricTime::from_us(10));
  const CounterRow& now = *find_counter(Counts::kPort, "data_depth_bytes");
  const CounterRow& most = *find_counter(Counts::kPort, "data_depth_max_bytes");
  const auto us = [](int64_t t) { return FabricTime::from_us(t); };
  series.hold(pair.port, now, most, us(1), us(4), 100);
  series.hold(pair.port, now, most, us(8), us(22), 40);
  series.reach(us(40));
  const auto lines = series.lines();
  REQUIRE(lines.size() == 2);
  const auto& first = lines[0].row == &now ? lines[0] : lines[1];
  const auto& second = lines[0].row == &now ? lines[1] : lines[0];
  CHECK(first.values == std::vector<uint64_t>{0, 40, 40, 0, 0});
  CHECK(second.values == std::vector<uint64_t>{0, 100, 40, 40, 0});
}

TEST_CASE(
    "a stretch of time is counted in the steps in which it passes, in seconds for a scraper") {
  const SteppedPair pair;
  CounterSeries series(pair.topology, FabricTime::from_us(10));
  const CounterRow& paused = *find_counter(Counts::kPort, "paused_ps");
  series.spread(pair.port, paused, FabricTime::from_us(5), FabricTime::from_us(22));
  const auto lines = series.lines();
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].values == std::vector<uint64_t>{0, 5'000'000, 15'000'000, 17'000'000});
  CHECK(series.open_metrics().find("priority=\"3\"} 1.7e-05 3\n") != std::string::npos);
}

TEST_CASE("a counter that never changed is left out, and what is too much is refused") {
  const SteppedPair pair;
  CounterSeries series(pair.topology, FabricTime::from_ns(1));
  CHECK(series.lines().empty());
  CHECK_NOTHROW(series.add(pair.port, trims(), FabricTime::from_ns(kMaxSteps - 1), 1));
  CHECK_THROWS_AS(series.add(pair.port, trims(), FabricTime::from_ns(kMaxSteps), 1), InputError);
  CHECK_THROWS_AS(series.reach(FabricTime::from_us(11)), InputError);
  CHECK_THROWS_AS(CounterSeries(pair.topology, FabricTime()), InputError);
}

}  // namespace
}  // namespace mrclab::telemetry
