#include "faults/forwarding_limits.h"

#include <doctest/doctest.h>

#include "fabric/topology/fabric_file.h"

namespace mrclab::faults {
namespace {

TEST_CASE(
    "a fault that is a value is refused as one in a file: by effect, and by how much it holds") {
  const Topology topology = build_topology(parse_fabric(read_yaml_text(
      "{name: a, planes: 1, t0: 1, t1: 0, hosts_per_t0: 2, forwarding: kernel}", "f")));
  const Link& link = topology.links.front();
  const Targets wires{.wires = {link.a_to_b(), link.b_to_a()}};
  CHECK_FALSE(refusal(topology, Fault{{}, FaultKind::kLinkDown, {.links = {link.id}}}));
  CHECK_FALSE(refusal(topology, Fault{{}, FaultKind::kBlackhole, wires}));

  Fault slow{{}, FaultKind::kDelay, wires};
  slow.settings.set(Parameter::kBy, FabricTime::from_us(1).ps());
  const auto by_kernel = refusal(topology, slow);
  REQUIRE(by_kernel);
  CHECK(by_kernel->found.find("where the kernel forwards") != std::string::npos);

  const Targets many{.wires = std::vector<WireId>(kMaxHoldsPerFault + 1, link.a_to_b())};
  const auto too_much = refusal(topology, Fault{{}, FaultKind::kBlackhole, many});
  REQUIRE(too_much);
  CHECK(too_much->found == "a fault with too many targets");
}

}  // namespace
}  // namespace mrclab::faults
