// ECMP end to end: what a run loses when an uplink dies, what is shown of a hash, and that packets
// without a carrier cross real namespaces as they cross the simulator.

#include <doctest/doctest.h>

#include "fabric/packet/headers.h"
#include "fabric/paths/ecmp.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "lab/run/scenario_run.h"
#include "live/conform/forwarding_probe.h"
#include "live/external/ovs_switches.h"
#include "plan/ecmp_view.h"
#include "plan/path_trace.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/errors.h"
#include "tests/support/texts.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

Scenario ecmp_scenario(const std::string& name) {
  return load_scenario(MRCLAB_SOURCE_DIR "/tests/scenarios/" + name + ".yaml");
}

/// From h0 to h1 with an entropy value of its own, and in it a flow label by which it is found again.
ProbeFrame hashed_frame(const Topology& topology, uint32_t number) {
  const PortRef nic{topology.host(0), PortId{0}};
  MrcFrameSpec spec;
  spec.encapsulation = Encapsulation::kIpv6;
  spec.source_mac = topology.port(nic).mac;
  spec.destination_mac = topology.port(topology.port(nic).peer).mac;
  spec.inner_source = host_address(topology, 0);
  spec.inner_destination = host_address(topology, 1);
  spec.ev = EntropyValue{number << 16 | (number * 40503 & 0xFFFF)};
  ProbeFrame frame{"", 0, 0, std::vector<uint8_t>(150)};
  write_datagram(spec, frame.bytes.size(), frame.bytes);
  return frame;
}

}  // namespace

TEST_CASE("what is shown of a hash adds up, and a resilient group moves no other uplink's values") {
  for (const bool resilient : {false, true}) {
    FabricShape shape = parse_fabric(read_yaml_file(lab::find_fabric("ecmp-octet")));
    shape.routing.resilient = resilient;
    const Topology t = build_topology(shape);
    EcmpQuestion question{"h0", "h5", 256, 1, "p1.t0-0:u2"};
    const auto shown = explain_ecmp(t, question);
    CHECK(shown.at("values").size() == 256);
    for (const auto& plane : shown.at("planes")) {
      uint32_t sum = 0;
      for (const auto& count : plane.at("uplinks")) sum += count.get<uint32_t>();
      CHECK(sum == 32);
      CHECK(plane.at("busiest_of_mean").get<double>() > 1);
      CHECK(plane.at("next_tier").get<double>() > 2);
    }
    const auto& down = shown.at("down");
    CHECK(down.at("carried") == shown.at("planes")[1].at("uplinks")[2]);
    CHECK((down.at("moved_of_others").get<uint32_t>() == 0) == resilient);
    CHECK(test::widest_line(ecmp_text(shown)) <= 80);
  }
}

TEST_CASE("with one seed for all switches a second tier would use one member: polarisation") {
  FabricShape shape = parse_fabric(read_yaml_file(lab::find_fabric("ecmp-octet")));
  shape.routing.same_seed = true;
  const auto shown = explain_ecmp(build_topology(shape), {"h0", "h5", 256, 1, {}});
  for (const auto& plane : shown.at("planes")) CHECK(plane.at("next_tier").get<double>() == 1);
}

TEST_CASE(
    "a SACK that reflects half of a value finds it: over IPv4 only what was lost is sent again") {
  for (const std::string name : {"ecmp-live", "ecmp-live-ipv4"}) {
    CAPTURE(name);
    const test::TemporaryRuns folder;
    const RunResult run = run_scenario(ecmp_scenario(name), folder.options(World::kSim));
    CAPTURE(analysis::to_table(run.verdict));
    CHECK(run.verdict.result == analysis::Result::kPass);
    CHECK(run.verdict.metrics.lost > 0);
    CHECK(run.verdict.metrics.retransmitted == run.verdict.metrics.lost);
  }
}

TEST_CASE("a hashed value is explained hop by hop, and its uplink is the published one") {
  const Topology t = read_fabric_file(lab::find_fabric("ecmp-octet-ipv4"));
  const auto shown = explain_path(t, *parse_path("p3/f17"), "h0", "h5");
  CHECK(shown.at("carrier") == "::ffff:10.0.0.5");
  CHECK(shown.at("hops").size() == 4);
  const auto built = path_between(t, 0, 5, {3, 17, Chosen::kByHashIpv4});
  CHECK(shown.at("leads_over") == to_string(*built));
  CHECK(test::widest_line(path_trace_text(shown)) <= 80);
}

TEST_CASE("questions that a hash has no answer for say what is wrong") {
  const Topology t = read_fabric_file(lab::find_fabric("ecmp-octet"));
  const auto refused = [&](const EcmpQuestion& question) {
    return test::error_of([&] { explain_ecmp(t, question); });
  };
  CHECK(test::mentions(refused({"h0", "h1", 8, 1, {}}), "one T0"));
  CHECK(test::mentions(refused({"h0", "h9", 8, 1, {}}), "no host"));
  CHECK(test::mentions(refused({"h0", "h5", 8, 1, "p1.t0-1:u0"}), "no uplink of the sender's"));
  const Topology listed = read_fabric_file(lab::find_fabric("ai-backend"));
  CHECK(test::mentions(test::error_of([&] {
                         explain_ecmp(listed, {"h0", "h2", 8, 1, {}});
                       }),
                       "which lists its switches"));
  const Topology mixed = read_fabric_file(lab::find_fabric("mixed"));
  CHECK(test::mentions(test::error_of([&] {
                         explain_ecmp(mixed, {"h0", "h2", 8, 1, "p2.t0-0:u0"});
                       }),
                       "a switch that is not ours"));
}

TEST_CASE("a workload may not hash where the kernel forwards carriers") {
  const std::string text =
      "name: f\nfabric: pair-kernel\ntiming: wall\ndilation: 5000\nend: 50us\nworkload:\n"
      "  - write: {from: h0, to: h1, size: 4KiB, routing: ecmp}\n";
  CHECK(test::mentions(
      test::error_of([&] { parse_scenario(read_yaml_text(text, "f.yaml")); }),
      "f.yaml:7:52: found ecmp in a fabric with switches of the kernel: expected srv6"));
}

TEST_SUITE("root: ecmp runs") {
  TEST_CASE(
      "without carriers, beside SRv6 and over both underlays, live is sim, packet for packet") {
    for (const std::string name : {"ecmp-live", "ecmp-live-ipv4"}) {
      CAPTURE(name);
      const test::TemporaryRuns folder;
      const Scenario scenario = ecmp_scenario(name);
      const RunResult live = run_scenario(scenario, folder.options(World::kLive));
      CAPTURE(analysis::to_table(live.verdict));
      CHECK(live.verdict.result == analysis::Result::kPass);
      CHECK(live.verdict.timing.faithful);
      CHECK(live.verdict.metrics.lost > 0);
      CHECK(live.verdict.metrics.history_sha256 ==
            run_scenario(scenario, folder.options(World::kSim)).verdict.metrics.history_sha256);
    }
  }

  TEST_CASE("a group of Open vSwitch carries hashed queue pairs beside our switch") {
    for (const std::string name : {"ecmp-ovs", "ecmp-ovs-ipv4"}) {
      CAPTURE(name);
      const test::TemporaryRuns folder;
      const RunResult run = run_scenario(ecmp_scenario(name), folder.options(World::kLive));
      CAPTURE(analysis::to_table(run.verdict));
      CHECK(run.verdict.result == analysis::Result::kPass);
      CHECK(run.verdict.metrics.delivered > 200);
    }
  }

  TEST_CASE("a group of Open vSwitch spreads entropy values evenly, and sends each the same way") {
    enter_sandbox();
    FabricShape shape = parse_fabric(read_yaml_text(R"(
name: even
planes: 1
t0: 2
t1: 4
hosts_per_t0: 1
forwarding: ovs
routing: ecmp
ecn: off
trim: off
)",
                                                    "even.yaml"));
    const Topology topology = build_topology(shape);
    ForwardingProbe probe(topology, shape, "t_even_" + std::to_string(::getpid()),
                          MRCLAB_BINARY_DIR);
    constexpr size_t kValues = 256;
    std::vector<ProbeFrame> frames;
    for (uint32_t i = 1; i <= kValues; ++i) frames.push_back(hashed_frame(topology, i));
    std::vector<const ProbeFrame*> all;
    for (const ProbeFrame& frame : frames) all.push_back(&frame);
    const std::vector<ProbeOutcome> first = probe.send(all, kTestPatience);
    const std::vector<ProbeOutcome> again = probe.send(all, kTestPatience);
    std::map<std::string, size_t> by_spine;
    for (size_t i = 0; i < kValues; ++i) {
      for (const ProbeOutcome* outcome : {&first[i], &again[i]}) {
        REQUIRE(outcome->seen.size() == 4);  // both T0s, a T1 between them, and the host
        CHECK(topology.node(outcome->seen[3].at.node).name == "h1");
      }
      CHECK(first[i].seen[1].at == again[i].seen[1].at);
      ++by_spine[topology.node(first[i].seen[1].at.node).name];
    }
    // 64 each, and five standard deviations of a binomial distribution either way.
    REQUIRE(by_spine.size() == 4);
    for (const auto& entry : by_spine) {
      CHECK(entry.second > 64 - 35);
      CHECK(entry.second < 64 + 35);
    }
  }
}
