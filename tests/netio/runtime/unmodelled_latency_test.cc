#include "netio/runtime/unmodelled_latency.h"

#include <doctest/doctest.h>

#include <vector>

#include "fabric/packet/headers.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/shipped_fabric.h"

namespace mrclab::netio {
namespace {

constexpr int64_t kSent = Ipv6Header{}.hop_limit;

/// As it arrives at h2 from h0, with that hop limit.
std::vector<uint8_t> arrived(const Topology& topology, Encapsulation encapsulation, Path path,
                             int64_t hop_limit) {
  const bool ipv4 = encapsulation == Encapsulation::kIpv4;
  MrcFrameSpec spec;
  spec.encapsulation = encapsulation;
  spec.outer_source = host_address(topology, 0);
  spec.carrier = make_carrier(topology, 0, 2, path);
  spec.inner_source = ipv4 ? host_address_ipv4(0) : host_address(topology, 0);
  spec.inner_destination = ipv4 ? host_address_ipv4(2) : host_address(topology, 2);
  spec.hop_limit = static_cast<uint8_t>(hop_limit);
  spec.ev = ev_of(path);
  std::vector<uint8_t> frame(200);
  write_datagram(spec, frame.size(), frame);
  return frame;
}

}  // namespace

TEST_CASE("a frame that no switch of ours carried is later by the pipelines and wires of its way") {
  FabricShape shape = mrclab::test::shape_of("quad", 2, 2, 2, 2);
  shape.forwarding.exceptions = {{"p0", Forwarding::kKernel}};
  const Topology topology = build_topology(shape);
  const UnmodelledLatency untaken(topology);
  const Port& foreign = topology.port(*topology.find_port("h2:p0"));
  const Port& ours = topology.port(*topology.find_port("h2:p1"));
  const FabricTime pipeline = topology.switch_latency, wire = shape.propagation;
  const auto frame = [&](int64_t hop_limit) {
    return arrived(topology, Encapsulation::kSrv6, {0, 0}, hop_limit);
  };
  CHECK(untaken.latency_of(foreign, frame(kSent - 1)) == pipeline + wire * 2);
  CHECK(untaken.latency_of(foreign, frame(kSent - 3)) == pipeline * 3 + wire * 4);
  CHECK(untaken.latency_of(ours, frame(kSent - 3)) == FabricTime::zero());
  for (const auto& [encapsulation, chosen] :
       {std::pair{Encapsulation::kIpv6, Chosen::kByHashIpv6},
        std::pair{Encapsulation::kIpv4, Chosen::kByHashIpv4}}) {
    CHECK(untaken.latency_of(foreign, arrived(topology, encapsulation, {0, 7, chosen},
                                              kSent - 3)) == pipeline * 3 + wire * 4);
  }
  // Nobody's of ours: over no switch, over more than there are, too short to read.
  CHECK(untaken.latency_of(foreign, frame(kSent)) == FabricTime::zero());
  CHECK(untaken.latency_of(foreign, frame(1)) == FabricTime::zero());
  CHECK(untaken.latency_of(foreign, std::vector<uint8_t>(21)) == FabricTime::zero());
}

TEST_CASE("of a frame whose carrier a leaf has taken off, the path says the way") {
  FabricShape shape = parse_fabric(read_yaml_file(mrclab::test::shipped_fabric("ai-backend")));
  shape.forwarding = Forwarding::kKernel;
  const Topology topology = build_topology(shape);
  const UnmodelledLatency untaken(topology);
  const Port& nic = topology.port(*topology.find_port("h2:p0"));
  CHECK(untaken.latency_of(nic, arrived(topology, Encapsulation::kIpv6, {0, 0}, kSent - 1)) ==
        topology.switch_latency * 3 + shape.propagation * 4);
}

}  // namespace mrclab::netio
