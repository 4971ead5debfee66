// What faults of each kind break, and their texts, on octet:
//
//   h0 h1 h2 h3 -- p0.t0-0 (optic o0 carries all four links) -- p0.t1-0 .. p0.t1-3

#include "faults/fault.h"

#include <doctest/doctest.h>

#include <set>

#include "fabric/node/effect_text.h"
#include "fabric/topology/fabric_file.h"
#include "faults/schedule.h"
#include "tests/faults/fault_effects.h"
#include "tests/faults/read_fault.h"
#include "tests/support/fabrics.h"
#include "tests/support/shipped_fabric.h"

using namespace mrclab;
using namespace mrclab::faults;
using mrclab::test::fault_error;
using mrclab::test::read_fault;

TEST_CASE("of a graph, a plane goes down with its NIC links, and no link between switches") {
  const Topology t = read_fabric_file(test::shipped_fabric("ai-backend"));
  const Fault fault = read_fault(t, "{at: 1us, plane_down: {plane: p1, for: 10us}}");
  std::set<LinkId> dark;
  for (const auto& hold : holds_of(fault, t)) {
    if (const auto* wire = std::get_if<WireState>(&hold.effect))
      dark.insert(t.wire(wire->wire).link);
  }
  std::set<LinkId> expected;
  for (uint32_t h = 0; h < t.host_count(); ++h) {
    expected.insert(t.port({t.host(h), PortId{1}}).link);
  }
  CHECK(dark == expected);
}

TEST_CASE("an optic glitch is read with its optic, its outage and its stagger") {
  const Topology t = test::octet();
  const Fault fault = read_fault(
      t, R"({at: 300us, optic_glitch: {optic: "p0.t0-0:o0", down: 100us, stagger: 20us}})");
  CHECK(fault.at == FabricTime::from_us(300));
  REQUIRE(fault.targets.optics.size() == 1);
  CHECK(t.optic(fault.targets.optics[0]).name == "p0.t0-0:o0");
  CHECK(fault.settings.time(Parameter::kDown) == FabricTime::from_us(100));
  CHECK(fault.settings.time(Parameter::kStagger) == FabricTime::from_us(20));
  CHECK(name_of(fault) == "optic_glitch");
  CHECK(describe(fault, t) == "optic_glitch p0.t0-0:o0 at 300us: down 100us, stagger 20us");
  CHECK(interval_of(fault, t) == Interval{FabricTime::from_us(300), FabricTime::from_us(460)});
}

TEST_CASE("what was healed by hand ends there, and what would have come later does not come") {
  const Topology t = test::octet();
  const Fault fault =
      read_fault(t, R"({at: 300us, healed: 350us, optic_glitch: {optic: "p0.t0-0:o0", down: 40us,
                   stagger: 20us}})");
  CHECK(interval_of(fault, t) == Interval{FabricTime::from_us(300), FabricTime::from_us(350)});
  CHECK(affected_wires(fault, t).size() == 6);  // the fourth link would have begun at 360us
  CHECK(describe(fault, t) ==
        "optic_glitch p0.t0-0:o0 at 300us: down 40us, stagger 20us, healed at 350us");
  CHECK(read_fault(t, to_yaml(fault, t)) == fault);
  CHECK(replay(compile({fault}, t), FabricTime::from_us(350)).degraded_targets().empty());
  CHECK(
      fault_error(t, R"({at: 3us, healed: 3us, nic_dead: {host: h1}})").find("an instant after") !=
      std::string::npos);
  CHECK(fault_error(t, R"({at: 3us, every: 5us, times: 2, healed: 9us, nic_dead: {host: h1}})")
            .find("every") != std::string::npos);
}

TEST_CASE("an optic glitch affects the links of its optic, in both directions") {
  const Topology t = test::octet();
  const Fault fault = read_fault(t, R"({at: 1us, optic_glitch: {optic: "p0.t0-0:o0", down: 1us}})");
  const auto wires = affected_wires(fault, t);
  REQUIRE(wires.size() == 8);
  for (const WireId wire : wires) {
    CHECK(t.link_name(t.wire(wire).link).find("p0.t0-0:d") != std::string::npos);
  }
}

TEST_CASE("a link that goes down loses light both ways and carrier at both ends") {
  const Topology t = test::octet();
  const Fault fault = read_fault(t, R"({at: 5us, link_down: {link: "p1.t0-0:u2", for: 2rtt}})");
  const auto holds = holds_of(fault, t);
  REQUIRE(holds.size() == 4);
  CHECK(describe(t, holds[0].effect) == "wire_state p1.t0-0:u2->p1.t1-2:d0 up=no");
  CHECK(describe(t, holds[1].effect) == "wire_state p1.t1-2:d0->p1.t0-0:u2 up=no");
  CHECK(describe(t, holds[2].effect) == "port_carrier p1.t0-0:u2 up=no");
  CHECK(describe(t, holds[3].effect) == "port_carrier p1.t1-2:d0 up=no");
  for (const Hold& hold : holds) {
    CHECK(hold.from == FabricTime::from_us(5));
    CHECK(hold.until == FabricTime::from_us(27));
  }
  CHECK(describe(fault, t) == "link_down p1.t0-0:u2--p1.t1-2:d0 at 5us for 22us");
}

TEST_CASE("without a duration a fault does not heal") {
  const Topology t = test::octet();
  const Fault fault = read_fault(t, R"({at: 5us, link_down: {link: "h0:p*"}})");
  CHECK(affected_wires(fault, t).size() == 16);
  CHECK(interval_of(fault, t).last_heal == FabricTime::never());
  CHECK(describe(fault, t) ==
        "link_down h0:p0--p0.t0-0:d0, h0:p1--p1.t0-0:d0, h0:p2--p2.t0-0:d0, h0:p3--p3.t0-0:d0 "
        "and 4 more at 5us, not healed");
}

TEST_CASE("a lossy wire is one direction only, named by itself or by its link and a direction") {
  const Topology t = test::octet();
  const Fault wire =
      read_fault(t, R"({at: 5us, wire_loss: {wire: "h3:p2->p2.t0-0:d3", loss: 20%}})");
  const Fault up =
      read_fault(t, R"({at: 5us, wire_loss: {link: "p2.t0-0:d3", direction: up, loss: 20%}})");
  CHECK(wire == up);
  const auto wires = affected_wires(wire, t);
  REQUIRE(wires.size() == 1);
  CHECK(t.wire_name(wires[0]) == "h3:p2->p2.t0-0:d3");
  const Fault down =
      read_fault(t, R"({at: 5us, wire_loss: {link: "p2.t0-0:d3", direction: down, loss: 20%}})");
  CHECK(t.wire_name(affected_wires(down, t).at(0)) == "p2.t0-0:d3->h3:p2");
  CHECK(describe(wire, t) == "wire_loss h3:p2->p2.t0-0:d3 at 5us: loss 20%, not healed");
}

TEST_CASE("a wire that loses its carrier is dark, and only its receiver sees that") {
  const Topology t = test::octet();
  const Fault fault = read_fault(
      t, R"({at: 5us, wire_loss: {wire: "h3:p2->p2.t0-0:d3", carrier: lost, for: 1us}})");
  const auto holds = holds_of(fault, t);
  REQUIRE(holds.size() == 2);
  CHECK(describe(t, holds[0].effect) == "wire_state h3:p2->p2.t0-0:d3 up=no");
  CHECK(describe(t, holds[1].effect) == "port_carrier p2.t0-0:d3 up=no");
  // The receiving port without carrier starts no frames: the way back is affected as well.
  CHECK(affected_wires(fault, t).size() == 2);
}

TEST_CASE("a denylist is read with its hosts, paths and peers, and breaks nothing") {
  const Topology t = test::octet();
  const Fault fault = read_fault(
      t, R"({at: 5us, denylist: {host: "h[0-1]", path: [p0/u1, "p3/*"], toward: h4, for: 2rtt}})");
  CHECK(fault.targets.nodes == std::vector{NodeId{0}, NodeId{1}});
  CHECK(fault.targets.evs.size() == 6);
  CHECK(fault.targets.toward == std::vector{NodeId{4}});
  const auto holds = holds_of(fault, t);
  REQUIRE(holds.size() == 12);
  CHECK(target_name(t, holds[0].effect) == "h0 p0/u1 toward h4");
  CHECK(affected_wires(fault, t).empty());
  CHECK(interval_of(fault, t) == Interval{FabricTime::from_us(5), FabricTime::from_us(27)});
  CHECK(describe(fault, t) ==
        "denylist h0, h1 path p0/u1, p3/u0, p3/u1, p3/u2 and 2 more toward h4 at 5us for 22us");
  CHECK(read_fault(t, to_yaml(fault, t)) == fault);
  const Fault all = read_fault(t, R"({at: 5us, denylist: {host: h2, path: p7/u0}})");
  CHECK(target_name(t, holds_of(all, t).at(0).effect) == "h2 p7/u0");
  CHECK(read_fault(t, to_yaml(all, t)) == all);
  CHECK(
      fault_error(t, "{at: 5us, denylist: {host: h2, path: p8/u0}}").find("a path of the fabric") !=
      std::string::npos);
}

TEST_CASE("a flap has its outages, each as long as drawn, the same for the same seed") {
  const Topology t = test::octet();
  const std::string text =
      R"({at: 0us, flap: {link: "h0:p0", count: 3, down: 10us, up: 20us, up_to: 5us, seed: 7}})";
  const Fault fault = read_fault(t, text);
  const auto holds = holds_of(fault, t);
  REQUIRE(holds.size() == 12);
  FabricTime before;
  for (size_t i = 0; i < holds.size(); i += 4) {
    const FabricTime length = holds[i].until - holds[i].from;
    CHECK(length >= FabricTime::from_us(10));
    CHECK(length <= FabricTime::from_us(15));
    if (i > 0) CHECK(holds[i].from >= before + FabricTime::from_us(20));
    before = holds[i].until;
  }
  const auto again = holds_of(read_fault(t, text), t);
  for (size_t i = 0; i < holds.size(); ++i) CHECK(again[i].until == holds[i].until);
}

TEST_CASE("a crashed switch is down and dark; a rebooted one has no table for a while") {
  const Topology t = test::octet();
  const auto schedule = compile(
      {read_fault(t, R"({at: 10us, switch_reboot: {switch: p0.t1-0, down: 50us, reload: 20us}})")},
      t);
  const auto work_at = [&](int64_t us) {
    for (const Effect& effect : replay(schedule, FabricTime::from_us(us)).degraded_targets()) {
      if (const auto* state = std::get_if<SwitchState>(&effect)) return state->work;
    }
    return SwitchWork::kForwarding;
  };
  CHECK(work_at(9) == SwitchWork::kForwarding);
  CHECK(work_at(10) == SwitchWork::kDown);
  CHECK(work_at(60) == SwitchWork::kNoTable);
  CHECK(work_at(80) == SwitchWork::kForwarding);
  CHECK(replay(schedule, FabricTime::from_us(59)).degraded_targets().size() == 1 + 2 * 4);
  CHECK(replay(schedule, FabricTime::from_us(60)).degraded_targets().size() == 1);
}

TEST_CASE("routes of a port go missing, go wrong or rotate, all that lead out of it") {
  const Topology t = test::octet();
  const auto routes = [&](const std::string& text) {
    std::vector<std::string> lines;
    for (const Hold& hold : holds_of(read_fault(t, "{at: 1us, " + text + "}"), t)) {
      lines.push_back(describe(t, hold.effect));
    }
    return lines;
  };
  CHECK(routes(R"(switch_missing_route: {route: "p0.t0-0:d1"})").size() == 2);  // NIC and kernel
  CHECK(routes(R"(switch_missing_route: {route: "p0.t0-0:u1"})") ==
        std::vector<std::string>{"switch_route p0.t0-0 uSID 1001 kind=missing"});
  CHECK(routes(R"(switch_wrong_route: {route: "p0.t0-0:u1", to: "p0.t0-0:u3"})") ==
        std::vector<std::string>{"switch_route p0.t0-0 uSID 1001 kind=wrong port=u3"});
  CHECK(routes(R"(stale_table: {route: "p0.t0-0:u[0-2]"})") ==
        std::vector<std::string>{"switch_route p0.t0-0 uSID 1000 kind=wrong port=u1",
                                 "switch_route p0.t0-0 uSID 1001 kind=wrong port=u2",
                                 "switch_route p0.t0-0 uSID 1002 kind=wrong port=u0"});
  CHECK(fault_error(t, R"({at: 1us, switch_wrong_route: {route: "p0.t0-0:u1", to: "p0.t0-1:u1"}})")
            .find("the same switch") != std::string::npos);
  CHECK(fault_error(t, R"({at: 1us, stale_table: {route: "p0.t0-0:u1"}})").find("two or more") !=
        std::string::npos);
  CHECK(fault_error(t, R"({at: 1us, switch_missing_route: {route: "h0:p1"}})")
            .find("a port of a switch") != std::string::npos);
}

TEST_CASE("bursty loss says how long its stretches are") {
  const Topology t = test::octet();
  const auto loss = std::get<WireLoss>(
      holds_of(
          read_fault(
              t,
              R"({at: 1us, wire_loss: {wire: "h0:p0->p0.t0-0:d0", loss: 50%, burst: 10, gap: 1000}})"),
          t)
          .at(0)
          .effect);
  CHECK(loss.kind == LossKind::kBursty);
  CHECK(loss.leave_bad.ppb == 100'000'000);
  CHECK(loss.enter_bad.ppb == 1'000'000);
  CHECK(fault_error(t, R"({at: 1us, wire_loss: {link: "h0:p0", loss: 50%, burst: 10}})")
            .find("both") != std::string::npos);
  CHECK(fault_error(t, R"({at: 1us, wire_loss: {link: "h0:p0", loss: 50%, every: 10}})")
            .find("one of them") != std::string::npos);
}
