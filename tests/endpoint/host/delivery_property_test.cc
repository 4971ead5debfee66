// Every promised byte is delivered and verified: random fabrics, sizes, first PSNs and losses, with
// real switches in between. Reordering comes from planes of different length.

#include <doctest/doctest.h>

#include "endpoint/options/profile_maker.h"
#include "fabric/topology/build_topology.h"
#include "tests/support/fabrics.h"
#include "tests/support/nightly.h"
#include "tests/support/property.h"
#include "tests/support/sim_fabric.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::counterexample;
using mrclab::test::SimFabric;

namespace {

struct Transfer {
  uint32_t planes = 1;
  uint32_t uplinks = 0;  // 0: both hosts on one T0
  uint32_t pmtu = 4096;
  uint32_t first_psn = 0;
  uint32_t size = 1;
  uint32_t count = 1;
  bool both_ways = false;
  bool icrc = true;
  uint32_t loss_percent = 0;  // on every wire
  uint32_t longer_hops = 0;   // planes differ in length by this many hops
  uint64_t seed = 1;
};

void showValue(const Transfer& t, std::ostream& out) {  // rapidcheck finds it by its name
  out << t.planes << " planes, " << t.uplinks << " uplinks, PMTU " << t.pmtu << ", first PSN "
      << t.first_psn << ", " << t.count << " x " << t.size << " bytes"
      << (t.both_ways ? " both ways" : "") << (t.icrc ? "" : ", no ICRC") << ", loss "
      << t.loss_percent << " %, longer by " << t.longer_hops << ", seed " << t.seed;
}

rc::Gen<Transfer> transfers() {
  return rc::gen::exec([] {
    const auto in = [](uint32_t from, uint32_t below) {
      return *rc::gen::inRange<uint32_t>(from, below);
    };
    Transfer t;
    t.planes = in(1, 9);
    t.uplinks = in(0, 4);
    t.pmtu = 256u << in(0, 5);
    t.first_psn = *rc::gen::element(0u, 1u, 0xFF'FFFFu, 0xFF'FF80u, 0x80'0000u, 0x7F'FFFEu);
    const uint32_t packets = in(0, 8) == 0 ? in(200, 700) : in(0, 20);  // MPR is 128 here
    t.size = std::max(1u, packets * t.pmtu + in(0, t.pmtu));
    t.count = in(1, 5);
    t.both_ways = in(0, 2) == 1;
    t.icrc = in(0, 4) != 0;
    t.loss_percent = in(0, 2) == 0 ? 0 : in(0, 21);
    t.longer_hops = in(0, 5);
    t.seed = in(0, 1000);
    return t;
  });
}

Topology fabric_of(const Transfer& t) {
  FabricShape shape = t.uplinks == 0 ? test::shape_of("pair", t.planes, 1, 0, 2)
                                     : test::shape_of("rows", t.planes, 2, t.uplinks, 1);
  shape.pmtu = t.pmtu;
  Topology topology = build_topology(shape);
  topology.change_cabling([&](Cabling& cables) {
    for (Link& link : cables.kept_links) {
      const uint32_t plane = topology.port(link.a).plane;
      link.propagation = link.propagation * (1 + int64_t{t.longer_hops} * plane / 2);
    }
  });
  return topology;
}

std::string deliver(const Transfer& t, uint64_t& losses) {
  SimFabric::Options options;
  options.seed = t.seed;
  for (uint32_t from = 0; from < (t.both_ways ? 2u : 1u); ++from) {
    WriteSpec write;
    write.from = from;
    write.to = 1 - from;
    write.size = {t.size};
    write.count = t.count;
    options.workloads.emplace_back(write);
  }
  const Topology topology = fabric_of(t);
  options.profile = make_profile("lab", topology);
  options.profile->first_psn = Psn{t.first_psn};
  options.profile->icrc = t.icrc;
  options.profile->max_psn_range = 128;
  SimFabric fabric(topology, options);
  for (const Wire& wire : topology.all_wires()) {
    fabric.apply(FabricTime::zero(), random_loss(wire.id, {t.loss_percent * 10'000'000}));
  }
  fabric.run_until(topology.base_rtt * 200'000);
  for (uint32_t from = 0; from < (t.both_ways ? 2u : 1u); ++from) {
    const HostStats sender = fabric.stats(from), receiver = fabric.stats(1 - from);
    losses += sender.losses_detected;
    if (receiver.bytes_mismatched != 0) return "a wrong byte";
    // Up to 4 hops there and 4 back: with 20 % on each, one packet in six gets an answer.
    if (sender.qps_in_error != 0 && t.loss_percent >= 10) continue;
    if (sender.qps_in_error != 0) return "a queue pair failed";
    if (sender.writes_completed != t.count) return "not every write completed";
    if (receiver.bytes_verified != uint64_t{t.size} * t.count) return "not every byte arrived";
    if (receiver.goodput_bytes() != uint64_t{t.size} * t.count) return "a byte placed twice";
    if (t.loss_percent == 0 && t.longer_hops == 0 && sender.retransmissions != 0 &&
        receiver.trims_seen == 0) {
      return "a retransmission without a loss";
    }
  }
  return "";
}

}  // namespace

TEST_CASE("every promised byte is delivered, whatever the fabric, the sizes and the losses") {
  const uint32_t transfers_tried = test::nightly() ? 500 : 200;
  uint64_t total_losses = 0;
  CHECK(counterexample(
            [&] {
              const Transfer t = *transfers();
              const std::string problem = deliver(t, total_losses);
              if (!problem.empty()) RC_FAIL(problem);
            },
            static_cast<int>(transfers_tried)) == "");
  // The losses happened, and messages spanned several windows.
  CHECK(total_losses > 2 * transfers_tried);
}
