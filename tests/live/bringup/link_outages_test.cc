#include "live/bringup/link_outages.h"

#include <doctest/doctest.h>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"

namespace mrclab::lab {
namespace {

constexpr double kDilation = 20000;
constexpr FabricTime kDown = FabricTime::from_us(10), kUp = FabricTime::from_us(20);

Topology kernel_switches() {
  return build_topology(
      parse_fabric(read_yaml_text("name: two\nplanes: 1\nt0: 2\nt1: 1\nhosts_per_t0: 1\necn: "
                                  "off\ntrim: off\nforwarding: kernel\n",
                                  "two.yaml")));
}

std::vector<ScheduledEffect> outage_of(const Link& link) {
  return {{kDown, PortCarrier{link.a, false}, 0, 0, false},
          {kDown, PortCarrier{link.b, false}, 1, 0, false},
          {kUp, PortCarrier{link.a, true}, 2, 0, true},
          {kUp, PortCarrier{link.b, true}, 3, 0, true}};
}

/// When the link of a port goes down and up in the kernel, by steps of a nanosecond.
std::vector<FabricTime> changes_of(std::string_view port, LinkOutages::Links links) {
  const Topology topology = kernel_switches();
  LinkOutages outages(topology, links);
  outages.replace(outage_of(topology.link(topology.port(*topology.find_port(port)).link)));
  std::vector<FabricTime> changes;
  for (FabricTime now = FabricTime::from_us(9); now < FabricTime::from_us(21);
       now += FabricTime::from_ns(1)) {
    outages.step(
        now, kDilation, FabricTime::never(), [](const auto&) { return true; },
        [&](const auto&, LinkOutages::Change) { changes.push_back(now); });
  }
  return changes;
}

}  // namespace

TEST_CASE("a link between switches that are not ours goes down and up at the instants themselves") {
  CHECK(changes_of("p0.t0-0:u0", LinkOutages::Links::kForeign) ==
        std::vector<FabricTime>{kDown, kUp});
}

TEST_CASE("where one of its ends is ours, a link goes down after its last frames and up ahead") {
  const Topology topology = kernel_switches();
  const Link& link = topology.link(topology.port(*topology.find_port("h0:p0")).link);
  const std::vector<FabricTime> changes = changes_of("h0:p0", LinkOutages::Links::kForeign);
  REQUIRE(changes.size() == 2);
  CHECK(changes[0] >= kDown + topology.lookahead(link.a_to_b()));
  CHECK(changes[0] >= kDown + topology.lookahead(link.b_to_a()));
  CHECK(changes[1] == kUp - LinkOutages::ahead(kDilation));
}

TEST_CASE("each of the two components sets its own links and leaves the others alone") {
  CHECK(changes_of("h0:p0", LinkOutages::Links::kOurs).empty());
  CHECK(changes_of("p0.t0-0:u0", LinkOutages::Links::kOurs).empty());
}

}  // namespace mrclab::lab
