// Faults of switches that are not ours: what effects become there, what is refused, and that the kernel is
// afterwards what it was.

#include "live/external/foreign_switches.h"

#include <doctest/doctest.h>

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <thread>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "lab/run/scenario_run.h"
#include "live/world/live_lab.h"
#include "netio/kernel/link.h"
#include "netio/kernel/open_vswitch.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/nightly.h"
#include "tests/support/texts.h"

namespace mrclab::lab {
namespace {

constexpr const char* kFabric = R"(
  name: four
  planes: 2
  t0: 2
  t1: 2
  hosts_per_t0: 2
  ecn: off
  trim: off
)";

Scenario scenario_with(const std::string& forwarding, const std::string& rest) {
  const std::string text = "name: foreign\nfabric:\n" + std::string(kFabric) +
                           "  forwarding: " + forwarding +
                           "\ntiming: wall\ndilation: 20000\n"
                           "workload:\n  - permutation: {hosts: all, load: 50%, message: 64KiB, "
                           "shift: 2}\n" +
                           rest;
  return parse_scenario(read_yaml_text(text, "foreign.yaml"));
}

Topology four_kernel_switches() {
  return build_topology(
      parse_fabric(read_yaml_text(std::string(kFabric) + "  forwarding: kernel\n", "four.yaml")));
}

WireId out_of(const Topology& topology, const char* port) {
  return topology.port(*topology.find_port(port)).out;
}

std::string refused(const std::string& forwarding, const std::string& fault) {
  try {
    scenario_with(forwarding, "faults:\n  - {at: 20us, " + fault + "}\nend: 40us\n");
  } catch (const InputError& error) {
    return error.what();
  }
  return "accepted";
}

/// The details of the lab's own events, by kind.
std::multimap<std::string, std::string> lab_events(const RunResult& run) {
  std::multimap<std::string, std::string> events;
  std::ifstream file(run.folder.path / "events.jsonl");
  for (std::string line; std::getline(file, line);) {
    const auto event = nlohmann::json::parse(line);
    if (event.at("node") == "lab") events.emplace(event.at("kind"), event.at("detail"));
  }
  return events;
}

/// By the wall clock a busy machine does everything all the same, but may be too late, and reports that. Nothing
/// else may be amiss.
bool was_too_busy(const std::multimap<std::string, std::string>& events) {
  bool too_busy = false;
  for (const auto& [kind, detail] : events) {
    if (kind == "outside_fault" && test::mentions(detail, "the machine was too busy")) {
      too_busy = true;
    } else if (kind == "undo_failed" || kind == "outside_fault") {
      FAIL_CHECK(kind << ": " << detail);
    }
  }
  return too_busy;
}

}  // namespace

TEST_CASE("effects at a switch of the kernel's become rules, rates and routes") {
  const Topology topology = four_kernel_switches();
  const NodeId t0 = *topology.find_node("p0.t0-0");
  const PortRef uplink = *topology.find_port("p0.t0-0:u1");
  const WireId wire = out_of(topology, "p0.t0-0:u1");
  const auto impairment = [&](const std::vector<Effect>& effects) {
    return impairment_of(topology, t0, effects);
  };
  const auto rules = [&](const std::vector<Effect>& effects) {
    return egress_rules(impairment(effects).ports[uplink.port.value], Forwarding::kKernel);
  };
  CHECK(rules({}).empty());
  CHECK(rules({random_loss(wire, {250'000'000})}) ==
        std::vector<std::string>{"numgen random mod 1000000000 < 250000000 counter drop"});
  PortImpairment dark;
  dark.dark = true;
  CHECK(egress_rules(dark, Forwarding::kOvs) == std::vector<std::string>{"counter fwd to \"lo\""});
  CHECK(rules({random_loss(wire, {Probability::kOne})}) ==
        std::vector<std::string>{"counter drop"});
  WireLoss nth;
  nth.wire = wire, nth.kind = LossKind::kEveryNth, nth.every = 7;
  CHECK(rules({nth}) == std::vector<std::string>{"numgen inc mod 7 6 counter drop"});
  CHECK(rules({WireState{wire, false}}) == std::vector<std::string>{"counter drop"});
  CHECK(rules({PortCarrier{uplink, false}}) == std::vector<std::string>{"counter drop"});
  CHECK(rules({SwitchState{t0, SwitchWork::kHung}}) == std::vector<std::string>{"counter drop"});
  // A link that is dark at both ends is set down instead.
  CHECK(rules({WireState{wire, false}, PortCarrier{uplink, false},
               PortCarrier{topology.port(uplink).peer, false}})
            .empty());
  // One to a host is, too, and comes up early: the rule stays until it is time.
  const PortRef downlink = *topology.find_port("p0.t0-0:d0");
  const SwitchImpairment to_host =
      impairment({WireState{topology.port(downlink).out, false}, PortCarrier{downlink, false},
                  PortCarrier{topology.port(downlink).peer, false}});
  CHECK(to_host.ports[downlink.port.value].dark);
  // What another switch sends is none of this one's business.
  CHECK(rules({WireState{topology.port(uplink).in, false}}).empty());

  const netio::Shaper built = shaper_of(topology, uplink, {}, 10'000);
  CHECK(built.bytes_per_second == 1'250'000);  // 100 Gb/s, ten thousand times slower
  CHECK(built.queue == topology.queues.tail_drop.value);
  const SwitchImpairment slow =
      impairment({WireRate{wire, BitRate::from_gbps(25)}, SwitchBuffer{t0, {500'000'000}}});
  const netio::Shaper slower = shaper_of(topology, uplink, slow.ports[uplink.port.value], 10'000);
  CHECK(slower.bytes_per_second == 312'500);
  CHECK(slower.queue == topology.queues.tail_drop.value / 2);

  const SwitchRoute wrong{t0, topology.usids.make(UsidRole::kT1, 0, 0), RouteKind::kWrong,
                          uplink.port};
  CHECK(impairment({wrong}).routes == std::vector<SwitchRoute>{wrong});
  // Without a table nothing leaves, by whatever it would have been forwarded.
  const SwitchImpairment empty = impairment({SwitchState{t0, SwitchWork::kNoTable}});
  for (const PortImpairment& port : empty.ports) CHECK(port.dark);
}

TEST_CASE("bit errors hit long frames more often than short ones") {
  PortImpairment impairment;
  impairment.errors = {1'000'000'000};  // 1e-6 a bit
  const std::vector<std::string> rules = egress_rules(impairment, Forwarding::kKernel);
  REQUIRE(rules.size() > 10);
  // 128 and 4,224 bytes are the middles of their classes: 1 - (1 - 1e-6)^bits.
  CHECK(rules[0] == "meta length 0-255 numgen random mod 1000000000 < 1023476 counter drop");
  CHECK(test::mentions(rules[16], "meta length 4096-4351 numgen random mod 1000000000 < 33227"));
}

TEST_CASE("what such switches cannot do is refused with its place and the reason") {
  CHECK(test::mentions(
      refused("kernel", "delay: {link: \"p0.t0-0:u0\", by: 2us, for: 5us}"),
      "foreign.yaml:17:23: found an extra delay on p0.t0-0:u0->p0.t1-0:d0, where the "
      "kernel forwards in p0.t0-0: expected a wire between nodes of ours"));
  CHECK(test::mentions(refused("ovs", "delay: {link: \"h0:p0\", direction: up, by: 2us, for: 5us}"),
                       "where Open vSwitch forwards in p0.t0-0"));
  CHECK(test::mentions(refused("kernel", "duplicate: {link: \"h0:p0\", share: 5%, for: 5us}"),
                       "frames twice on p0.t0-0:d0->h0:p0"));
  CHECK(test::mentions(refused("kernel",
                               "wire_loss: {link: \"p0.t0-0:u0\", loss: 50%, burst: 4, gap: 40, "
                               "for: 5us}"),
                       "a loss in bursts"));
  CHECK(test::mentions(refused("ovs", "trim_off: {switch: p1.t1-0, for: 5us}"), "never trims"));
  CHECK(
      test::mentions(refused("kernel", "ecn_always: {switch: p1.t1-0, for: 5us}"), "never marks"));
  // A sender of ours does all that a wire can do, and a switch of ours everything.
  CHECK(refused("kernel", "duplicate: {link: \"h0:p0\", direction: up, share: 5%, for: 5us}") ==
        "accepted");
  CHECK(refused("kernel", "lossy_ev: {host: h0, path: p1/u1, loss: 20%, for: 5us}") == "accepted");
  CHECK(refused("{p1: kernel}", "delay: {link: \"p0.t0-0:u0\", by: 2us, for: 5us}") == "accepted");
  CHECK(refused("{p1: kernel}", "trim_off: {switch: p0.t1-0, for: 5us}") == "accepted");
  // A BPF program trims and marks, and so can be kept from it.
  CHECK(refused("bpf", "trim_off: {switch: p1.t1-0, for: 5us}") == "accepted");
  CHECK(refused("bpf", "ecn_always: {switch: p1.t1-0, for: 5us}") == "accepted");
  CHECK(test::mentions(refused("bpf", "delay: {link: \"p0.t0-0:u0\", by: 2us, for: 5us}"),
                       "where a BPF program forwards in p0.t0-0"));
  CHECK_THROWS_WITH_AS(scenario_with("kernel", "end: 40us\nexpect:\n  - trims: {at_least: 1}\n"),
                       doctest::Contains("those do not trim"), InputError);
}

TEST_CASE(
    "a run may exchange all switches, and is then by the wall clock without ECN and trimming") {
  ScenarioOverrides overrides;
  overrides.forwarding = Forwarding::kKernel;
  const Scenario scenario = load_scenario("link-flap", overrides);
  CHECK_FALSE(scenario.topology.has_forwarding(Forwarding::kSwitchd));
  CHECK(scenario.timing == TimingMode::kWall);
  CHECK(scenario.dilation.value_or(0) > 0);
  CHECK_FALSE(scenario.topology.queues.ecn);
  CHECK_FALSE(scenario.topology.queues.trim);
  // The recorded scenario is the run as it was, without the override.
  const Scenario again = parse_scenario(read_yaml_text(to_yaml(scenario), "again.yaml"));
  CHECK(again.topology.has_forwarding(Forwarding::kKernel));
  CHECK(again.timing == TimingMode::kWall);
  CHECK(again.dilation == scenario.dilation);

  overrides.forwarding = Forwarding::kOvs;
  CHECK_THROWS_WITH_AS(load_scenario("ev-contention", overrides),
                       doctest::Contains("a scenario that needs ecn"), InputError);
  CHECK_THROWS_WITH_AS(load_scenario("incast-victim", overrides),
                       doctest::Contains("a scenario that needs trim"), InputError);
  CHECK_THROWS_WITH_AS(load_scenario("ai-backend-spine", overrides),
                       doctest::Contains("does not strip IPv6 from IPv6"), InputError);
  overrides.forwarding = Forwarding::kKernel;
  CHECK_THROWS_WITH_AS(load_scenario("ecmp-rehash", overrides),
                       doctest::Contains("such switches get routes for carriers only"), InputError);
}

TEST_SUITE("root: faults of switches that are not ours") {
  TEST_CASE("every fault is made of kernel objects, undone, and the kernel read back as before") {
    constexpr const char* kFaults = R"(
faults:
  - {at: 30us, link_down: {link: "p0.t0-0:u0", for: 10us}}
  - {at: 30us, link_down: {link: "h1:p1", for: 10us}}
  - {at: 30us, wire_loss: {link: "p1.t0-0:u0", direction: up, loss: 30%, for: 10us}}
  - {at: 30us, blackhole: {wire: "p1.t0-1:d1->h3:p1", for: 10us}}
  - {at: 45us, bit_errors: {link: "p1.t0-1:u1", rate: 1e-5, for: 10us}}
  - {at: 45us, bit_errors: {switch: p1.t1-0, rate: 1e-5, for: 10us}}
  - {at: 45us, rate: {link: "p0.t0-1:u1", to: 10Gb/s, for: 10us}}
  - {at: 45us, switch_missing_route: {route: "p0.t0-0:u1", for: 10us}}
  - {at: 60us, switch_hang: {switch: p1.t1-0, for: 10us}}
  - {at: 60us, switch_wrong_route: {route: "p0.t0-0:u1", to: "p0.t0-0:u0", for: 10us}}
  - {at: 60us, switch_reboot: {switch: p0.t1-1, down: 5us, reload: 5us}}
  - {at: 60us, wire_loss: {link: "h2:p0", direction: up, carrier: lost, for: 10us}}
end: 160us
expect: [no_qp_error, memory_intact]
)";
    for (const std::string forwarding : {"kernel", "ovs", "bpf"}) {
      CAPTURE(forwarding);
      const test::TemporaryRuns folder;
      const Scenario scenario = scenario_with(forwarding, kFaults);
      const RunResult run = run_scenario(scenario, folder.options(World::kLive));
      CAPTURE(analysis::to_table(run.verdict));
      const auto events = lab_events(run);
      const bool too_busy = was_too_busy(events);
      CHECK(run.verdict.result ==
            (too_busy ? analysis::Result::kInconclusive : analysis::Result::kPass));
      CHECK(events.count("kernel_link_down") == 4);  // two, and both of the switch that reboots
      CHECK(events.count("kernel_link_up") == 4);
      std::set<std::string> restored;
      for (auto [at, end] = events.equal_range("undo_verified"); at != end; ++at) {
        restored.insert(at->second);
      }
      CHECK(restored == std::set<std::string>{"h1", "p0.t0-0", "p0.t0-1", "p0.t1-0", "p0.t1-1",
                                              "p1.t0-0", "p1.t0-1", "p1.t1-0", "p1.t1-1"});
      if (too_busy) continue;
      CHECK(run.verdict.metrics.lost > 0);  // no node recorded a drop: sent, and never seen again
    }
  }

  TEST_CASE(
      "an outage of a moment at a host is one, and links of our own beside it are no impairment") {
    const Scenario scenario = parse_scenario(read_yaml_text(R"(
name: moment
fabric: mixed
timing: wall
dilation: 8000
workload:
  - permutation: {hosts: all, load: 40%, message: 64KiB, shift: 2}
faults:
  - {at: 50us, link_down: {link: "h1:p0", for: 60us}}  # ours
  - {at: 60us, link_down: {link: "h1:p1", for: 15us}}  # the kernel's, and 120 ms of the lab's time
end: 300us
expect: [no_qp_error, memory_intact]
)",
                                                            "moment.yaml"));
    const test::TemporaryRuns folder;
    const RunResult run = run_scenario(scenario, folder.options(World::kLive));
    const auto events = lab_events(run);
    const bool too_busy = was_too_busy(events);
    CHECK(events.count("undo_verified") >= 2);  // for the host, and for its switch
    if (too_busy) return;
    // Nothing came to h1:p1 meanwhile: its switch had reported where it sends.
    bool dropped = false;
    for (auto [at, end] = events.equal_range("kernel_filter"); at != end; ++at) {
      dropped = dropped || at->second == "p1.t0-0:d1: counter drop";
    }
    CHECK(dropped);
  }

  TEST_CASE("an undo that leaves something behind is told") {
    const Topology topology = four_kernel_switches();
    const NodeId t0 = *topology.find_node("p0.t0-0");
    const WireId wire = out_of(topology, "p0.t0-0:u1");
    const auto at = [](int us) { return FabricTime::from_us(us); };
    const std::vector<ScheduledEffect> schedule{
        {at(1), random_loss(wire, {Probability::kOne}), 0, 0, false},
        {at(2), random_loss(wire, {}), 1, 0, true}};
    // Changes that another program makes meanwhile.
    std::string expected;
    std::function<void(netio::RouteBatch&)> meddle;
    SUBCASE("a route") {
      meddle = [&](netio::RouteBatch& batch) {
        batch.remove_route(switch_route(topology, t0, topology.usids.make(UsidRole::kT1, 0, 1),
                                        topology.find_port("p0.t0-0:u1")->port));
      };
      expected = "missing: route 5f00:0:1001::/48 via fe80::1 dev u1";
    }
    SUBCASE("a neighbour") {
      meddle = [](netio::RouteBatch& batch) {
        batch.neighbour("u1", netio::parse_address("fe80::1"), {2, 0xbb, 0, 0, 0, 1});
      };
      const PortRef end = topology.port(*topology.find_port("p0.t0-0:u1")).peer;
      expected = "missing: neighbour fe80::1 is " + to_string(topology.port(end).mac) + " dev u1";
    }
    LiveFabric fabric(topology, "t_undo_" + std::to_string(::getpid()));
    FabricTime clock;
    ForeignSwitches switches(fabric, nullptr, nullptr, schedule, 1000,
                             [&clock] { return clock += FabricTime::from_ps(1); });
    const auto step = [&](int us) {
      clock = at(us);
      switches.apply_due();
    };
    netio::PacketFilter filter(fabric.network_namespace(t0));
    step(0);
    CHECK(filter.rules().empty());
    step(1);
    CHECK(filter.rules()["u1"] == std::vector<std::string>{"counter drop"});
    // Noted with the time when it was in place, not when it was due or begun.
    REQUIRE(switches.notes().size() == 1);
    CHECK(switches.notes()[0].t == at(1) + FabricTime::from_ps(2));
    netio::RouteBatch batch(fabric.netlink(t0));
    meddle(batch);
    batch.commit();
    step(2);
    CHECK(filter.rules().empty());
    const std::vector<std::string> problems = switches.take_problems();
    REQUIRE(problems.size() == 1);
    CAPTURE(problems[0]);
    CHECK(test::mentions(problems[0], "p0.t0-0 is not what it was before its fault"));
    CHECK(test::mentions(problems[0], expected));
  }

  TEST_CASE("what was over before it took effect is done all the same, and told") {
    const Topology topology = four_kernel_switches();
    const auto at = [](int us) { return FabricTime::from_us(us); };
    const Link& link = topology.link(topology.port(*topology.find_port("p0.t0-0:u1")).link);
    const WireId wire = out_of(topology, "p1.t0-0:u1");
    const std::vector<ScheduledEffect> schedule{
        {at(10), random_loss(wire, {Probability::kOne}), 0, 0, false},
        {at(20), random_loss(wire, {}), 1, 0, true},
        {at(30), PortCarrier{link.a, false}, 2, 1, false},
        {at(30), PortCarrier{link.b, false}, 3, 1, false},
        {at(40), PortCarrier{link.a, true}, 4, 1, true},
        {at(40), PortCarrier{link.b, true}, 5, 1, true}};
    LiveFabric fabric(topology, "t_late_" + std::to_string(::getpid()));
    FabricTime clock;
    ForeignSwitches switches(fabric, nullptr, nullptr, schedule, 1000, [&clock] { return clock; });
    const auto problems_after = [&](int us) {
      clock = at(us);
      switches.apply_due();
      return switches.take_problems();
    };
    const auto kinds = [&] {
      std::vector<std::string> out;
      for (const SwitchNote& note : switches.notes()) out.emplace_back(note.kind);
      switches.forget_notes();
      return out;
    };
    CHECK(problems_after(0).empty());
    SUBCASE("a machine that keeps up") {
      for (int us = 5; us <= 45; us += 5) CHECK(problems_after(us).empty());
    }
    SUBCASE("a machine that is too busy") {
      const std::vector<std::string> filter = problems_after(25);
      REQUIRE(filter.size() == 1);
      CHECK(filter[0] ==
            "p1.t0-0: the change that the schedule has from 10us took effect after 20us, when it "
            "was over; the machine was too busy");
      CHECK(kinds() == std::vector<std::string>{"kernel_filter", "kernel_filter", "undo_verified"});
      const std::vector<std::string> outage = problems_after(45);
      REQUIRE(outage.size() == 1);
      CHECK(test::mentions(outage[0], "from 30us took effect after 40us"));
    }
    switches.look_again();
    CHECK(switches.take_problems().empty());
    const std::vector<std::string> done = kinds();
    CHECK(std::count(done.begin(), done.end(), "kernel_link_down") == 1);
    CHECK(std::count(done.begin(), done.end(), "kernel_link_up") == 1);
    // One for each end; the last ends were read back by look_again().
    CHECK(std::count(done.begin(), done.end(), "undo_verified") >= 2);
  }

  TEST_CASE("shipped incidents pass on switches that are not ours") {
    // By what forwards: the shipped incidents that it refuses, since they need what it cannot do.
    std::map<Forwarding, std::set<std::string>> refuse{
        {Forwarding::kKernel,
         {"ev-contention", "incast-victim", "random-loss", "ecmp-beside-srv6", "ecmp-rehash"}},
        {Forwarding::kOvs,
         {"ev-contention", "incast-victim", "random-loss", "ai-backend-spine", "ai-backend-nic"}},
        {Forwarding::kBpf,
         {"ai-backend-spine", "ai-backend-nic", "ecmp-beside-srv6", "ecmp-rehash"}}};
    for (auto& entry : refuse) {  // no other T0 than ours checks programs
      entry.second.insert(
          {"attack-loop", "attack-spoof", "attack-probes", "attack-flood", "attack-no-ecn"});
    }
    for (const auto& entry : refuse) {
      for (const std::string& incident : mrclab::lab::shipped_names("incidents")) {
        if (!test::nightly() || entry.second.contains(incident)) continue;
        CAPTURE(incident);
        const test::TemporaryRuns folder;
        ScenarioOverrides overrides;
        overrides.forwarding = entry.first;
        const RunResult run =
            run_scenario(load_scenario(incident, overrides), folder.options(World::kLive));
        CAPTURE(analysis::to_table(run.verdict));
        // Such switches take no modelled time, and the hash of Open vSwitch is its own.
        const bool unknown = incident == "latency-bandwidth" || incident == "ecmp-rehash";
        CHECK(run.verdict.result ==
              (unknown ? analysis::Result::kInconclusive : analysis::Result::kPass));
        CHECK(run.verdict.timing.mode == analysis::TimingMode::kWall);
      }
    }
  }
}

}  // namespace mrclab::lab
