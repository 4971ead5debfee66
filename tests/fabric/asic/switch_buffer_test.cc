// Buffers and thresholds of switches that exist, by their sources and by hand.

#include "fabric/asic/switch_buffer.h"

#include <doctest/doctest.h>

#include "fabric/asic/red_profile.h"
#include "fabric/text/yaml.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/keys/fabric_keys.h"

using namespace mrclab;

namespace {

constexpr BitRate gbps(uint64_t rate) { return BitRate::from_gbps(rate); }

FabricShape fabric(const std::string& roce) {
  return parse_fabric(
      read_yaml_text("{name: f, planes: 1, t0: 2, t1: 2, hosts_per_t0: 2, "
                     "host_rate: 100Gb/s, fabric_rate: 400Gb/s, roce: " +
                         roce + "}",
                     "f"));
}

}  // namespace

TEST_CASE("an ASIC's buffer is its own; HPCC's grows with the NIC, and its alpha with the port") {
  CHECK(asic_buffer(SwitchAsic::kScaled, gbps(100)) == Bytes{0});
  CHECK(asic_buffer(SwitchAsic::kTomahawk5, gbps(100)) == Bytes{165'000'000});
  CHECK(asic_buffer(SwitchAsic::kTomahawk5, gbps(800)) == Bytes{165'000'000});
  // run.py line 83: 16 x bw / 50 MB of 1024 x 1024 bytes.
  CHECK(asic_buffer(SwitchAsic::kHpcc, gbps(100)) == Bytes{32u << 20});
  CHECK(asic_buffer(SwitchAsic::kHpcc, gbps(25)) == Bytes{8u << 20});
  CHECK(asic_alpha(SwitchAsic::kTomahawk5, 125, gbps(400), gbps(100)) == 125);
  CHECK(asic_alpha(SwitchAsic::kHpcc, 125, gbps(100), gbps(100)) == 125);
  CHECK(asic_alpha(SwitchAsic::kHpcc, 125, gbps(400), gbps(100)) == 500);
  CHECK(asic_alpha(SwitchAsic::kHpcc, 125, gbps(3200), gbps(100)) == 1000);
}

TEST_CASE("RED's thresholds are those of their sources at the rates that these have") {
  using Red = RedThresholds;
  CHECK_FALSE(red_thresholds(RedProfile::kFabric, gbps(100)));
  // run.py lines 96-98: 100 x bw / 25 and 400 x bw / 25 KB.
  CHECK(red_thresholds(RedProfile::kHpcc, gbps(100)) == Red{{400'000}, {1'600'000}, {200'000'000}});
  CHECK(red_thresholds(RedProfile::kHpcc, gbps(25)) == Red{{100'000}, {400'000}, {200'000'000}});
  CHECK(red_thresholds(RedProfile::kSimai, gbps(50)) == Red{{200'000}, {800'000}, {200'000'000}});
  CHECK(red_thresholds(RedProfile::kSimai, gbps(200)) ==
        Red{{300'000}, {1'200'000}, {800'000'000}});
  CHECK(red_thresholds(RedProfile::kSimai, gbps(800)) ==
        Red{{1'600'000}, {6'400'000}, {200'000'000}});
  CHECK(red_thresholds(RedProfile::kPaper, gbps(40)) == Red{{5'000}, {200'000}, {10'000'000}});
}

TEST_CASE("a fabric file names an ASIC and a source of thresholds, and reads back") {
  const FabricShape shape = fabric("{asic: tomahawk5, red: hpcc, mrc_buffer: shared}");
  CHECK(shape.lossless.asic == SwitchAsic::kTomahawk5);
  CHECK(shape.lossless.pools_mrc);
  const Topology topology = build_topology(shape);
  CHECK(topology.queues.red_min == Bytes{400'000});
  CHECK(topology.fabric_queues.red_max == Bytes{6'400'000});
  const FabricShape again = parse_fabric(read_yaml_text(fabric_keys().written(shape), "again"));
  CHECK(again.lossless == shape.lossless);
  CHECK_THROWS_AS(fabric("{asic: tomahawk9}"), InputError);
  CHECK_THROWS_AS(fabric("{red: {min: 2.0, max: 1.0}}"), InputError);
  // Multiples of the BDP are what they were.
  CHECK(build_topology(fabric("{red: {min: 1.0, max: 2.0}}")).queues.red_most.ppb == 200'000'000);
}
