// Faults as they are read from files, on octet:
//
//   h0 h1 h2 h3 -- p0.t0-0 (optic o0 carries all four links) -- p0.t1-0 .. p0.t1-3

#include "faults/fault.h"

#include <doctest/doctest.h>

#include <set>

#include "fabric/node/effect_fields.h"
#include "fabric/node/effect_text.h"
#include "fabric/topology/fabric_file.h"
#include "faults/schedule.h"
#include "tests/faults/read_fault.h"
#include "tests/support/errors.h"
#include "tests/support/fabrics.h"
#include "tests/support/shipped_fabric.h"

using namespace mrclab;
using namespace mrclab::faults;
using mrclab::test::read_fault;

namespace {

std::string error_of(const Topology& topology, const std::string& text) {
  return test::error_of([&] { read_fault(topology, text); });
}

}  // namespace

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
  CHECK(replay(compile({fault}, t), FabricTime::from_us(350)).all_healthy());
  CHECK(error_of(t, R"({at: 3us, healed: 3us, nic_dead: {host: h1}})").find("an instant after") !=
        std::string::npos);
  CHECK(error_of(t, R"({at: 3us, every: 5us, times: 2, healed: 9us, nic_dead: {host: h1}})")
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

TEST_CASE("a fault written as text reads back as the same fault") {
  const Topology t = test::octet();
  for (const char* text :
       {R"({at: 300us, optic_glitch: {optic: "p*.t0-0:o0", down: 100us, stagger: 20us}})",
        R"({at: 1500ns, link_down: {link: "h[0-3]:p2"}})",
        R"({at: 1rtt, link_down: {link: "p1.t0-0:u2", for: 6rtt}})",
        R"x({at: 0us, wire_loss: {link: "random(3, h*:p*)", direction: down, loss: 0.1%}})x",
        R"({wire_loss: {wire: "h3:p2->p2.t0-0:d3", carrier: lost, for: 1us}, at: 7us})"}) {
    const Fault fault = read_fault(t, text);
    CHECK(read_fault(t, to_yaml(fault, t)) == fault);
  }
}

TEST_CASE("bad faults get an exact error") {
  const Topology t = test::octet();
  struct Row {
    const char* text;
    const char* expected;
  };
  for (const Row& row : {
           Row{"{link_down: {link: \"h0:p0\"}}",
               "f.yaml:1:3: found no \"at\": expected \"at: ...\""},
           Row{"{at: 1us}",
               "f.yaml:1:3: found no fault beside \"at\": expected one of link_down, blackhole, "
               "wire_loss, bit_errors, delay, jitter, reorder, duplicate, rate, optic_glitch, "
               "optic_dead, flap, port_down, nic_dead, switch_hang, switch_crash, switch_reboot, "
               "switch_wrong_route, switch_missing_route, stale_table, trim_off, ecn_off, "
               "ecn_always, buffer, plane_down, host_pause, host_restart, lossy_ev, incast, "
               "denylist, slow_receiver, pcie_stall, "
               "pause_storm"},
           Row{"{at: 1us, slow_receiver: {host: h1}}",
               "f.yaml:1:28: found no rate: expected one of them: to (a rate) or share (of the "
               "line rate)"},
           Row{"{at: 1us, slow_receiver: {host: h1, to: 1Gb/s, share: 1%}}",
               "f.yaml:1:28: found \"to\" and \"share\": expected one of them: to (a rate) or "
               "share (of the line rate)"},
           Row{"{at: 1us, pcie_stall: {host: p0.t0-0}}",
               "f.yaml:1:32: found \"p0.t0-0\", which names no host: expected a name such as "
               "\"h0\""},
           Row{"{at: 1us, link_dwn: {link: \"h0:p0\"}}",
               "f.yaml:1:13: found the fault \"link_dwn\": expected \"link_down\""},
           Row{"{at: 1us, link_down: {link: \"h0:p0\"}, wire_loss: {}}",
               "f.yaml:1:41: found a second fault \"wire_loss\": expected one fault per entry"},
           Row{"{at: soon, link_down: {link: \"h0:p0\"}}",
               "f.yaml:1:8: found \"soon\": expected a duration such as 300us (ps, ns, us, ms, s, "
               "rtt)"},
           Row{"{at: 1us, link_down: {link: \"h8:p0\"}}",
               "f.yaml:1:31: found \"h8:p0\", which names no link: expected a name such as "
               "\"h0:p0\""},
           Row{"{at: 1us, link_down: {link: \"h0:p0\", for: 0us}}",
               "f.yaml:1:45: found \"0us\": expected at least 1ps"},
           Row{"{at: 1us, link_down: {links: \"h0:p0\"}}",
               "f.yaml:1:25: found the key \"links\": expected \"link\""},
           Row{"{at: 1us, link_down: \"h0:p0\"}",
               "f.yaml:1:24: found \"h0:p0\": expected a map (key: value)"},
           Row{"{at: 1us, optic_glitch: {optic: \"p0.t0-0:o1\", down: 1us}}",
               "f.yaml:1:35: found \"p0.t0-0:o1\", which names no optic: expected a name such as "
               "\"p0.t0-0:o0\""},
           Row{"{at: 1us, optic_glitch: {optic: \"p0.t0-0:o0\"}}",
               "f.yaml:1:27: found no \"down\": expected \"down: ...\""},
           Row{"{at: 1us, wire_loss: {link: \"h0:p0\", direction: left, loss: 20%}}",
               "f.yaml:1:51: found \"left\": expected one of both, up, down"},
           Row{"{at: 1us, wire_loss: {loss: 20%}}",
               "f.yaml:1:24: found no \"link\": expected \"link: ...\""},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0\", loss: 20%}}",
               "f.yaml:1:31: found \"h0:p0\", which names no wire: expected a name such as "
               "\"h0:p0->p0.t0-0:d0\""},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0->p0.t0-0:d0\"}}",
               "f.yaml:1:24: found no \"loss\": expected \"loss: ...\""},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0->p0.t0-0:d0\", loss: 0%}}",
               "f.yaml:1:58: found \"0%\": expected at least a share above 0%"},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0->p0.t0-0:d0\", loss: 20}}",
               "f.yaml:1:58: found \"20\": expected a share such as 20% or 0.2, from 0% to 100%"},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0->p0.t0-0:d0\", loss: 20%, carrier: lost}}",
               "f.yaml:1:63: found a lost carrier beside a loss: expected one of them: nothing "
               "passes when the carrier is lost"},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0->p0.t0-0:d0\", carrier: gone}}",
               "f.yaml:1:61: found \"gone\": expected one of keep, lost"},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0->p0.t0-0:d0\", direction: up, loss: 1%}}",
               "f.yaml:1:52: found the direction of a wire: expected none: a wire has its own"},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0->p0.t0-0:d0\", link: \"h0:p0\", loss: 1%}}",
               "f.yaml:1:52: found a link and a wire: expected one of them"},
       }) {
    CHECK(error_of(t, row.text) == row.expected);
  }
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
  CHECK(error_of(t, "{at: 5us, denylist: {host: h2, path: p8/u0}}").find("a path of the fabric") !=
        std::string::npos);
}

TEST_CASE("every kind of the table is read, told, written back and undone") {
  const Topology t = test::octet();
  for (const FaultInfo& row : all_faults()) {
    CAPTURE(row.name);
    const Fault fault = read_fault(
        t, "{at: 10us, " + std::string(row.name) + ": " + std::string(row.example) + "}");
    CHECK(fault.kind == row.kind);
    CHECK(read_fault(t, to_yaml(fault, t)) == fault);
    CHECK(describe(fault, t).substr(0, row.name.size()) == row.name);
    const std::vector<Hold> holds = holds_of(fault, t);
    CHECK_FALSE(holds.empty());
    for (const Hold& hold : holds) {
      CHECK_FALSE(is_as_built(hold.effect));
      // A line of a daemon's schedule reads back as the same effect.
      const auto back =
          parse_effect(t, to_text(ScheduledEffect{hold.from, hold.effect, 1, 0, false}));
      REQUIRE(back);
      CHECK(back->effect == hold.effect);
    }
    const auto schedule = compile({fault}, t);
    CHECK(replay(schedule, FabricTime::from_us(9)).all_healthy());
    const bool once = happens_once(holds[0].effect);
    CHECK(replay(schedule, FabricTime::from_us(10)).all_healthy() == once);
    CHECK(replay(schedule).all_healthy());
    CHECK(is_healed(fault, t, replay(schedule)));
    CHECK(interval_of(fault, t).last_heal < FabricTime::never());
  }
}

TEST_CASE("a kind takes what its row says, and refuses everything else") {
  const Topology t = test::octet();
  for (const FaultInfo& row : all_faults()) {
    CAPTURE(row.name);
    const std::string body(row.example);
    const auto with = [&](const std::string& more) {
      return "{at: 10us, " + std::string(row.name) + ": " + body.substr(0, body.size() - 1) + ", " +
             more + "}}";
    };
    CHECK(error_of(t, with("colour: red")).find("the key \"colour\"") != std::string::npos);
    for (const ParameterUse& use : row.parameters) {
      if (!use.required) continue;
      const std::string key(info(use.parameter).name);
      CAPTURE(key);
      const size_t from = body.find(key + ":");
      REQUIRE(from != std::string::npos);
      const size_t comma = body.find(',', from);
      const std::string without = comma == std::string::npos
                                      ? body.substr(0, body.rfind(',', from)) + "}"
                                      : body.substr(0, from) + body.substr(comma + 2);
      const std::string error =
          error_of(t, "{at: 10us, " + std::string(row.name) + ": " + without + "}");
      CHECK(error.find("found no \"" + key + "\"") != std::string::npos);
    }
  }
}

TEST_CASE("until is another way to say for how long") {
  const Topology t = test::octet();
  CHECK(read_fault(t, R"({at: 10us, nic_dead: {host: h0, until: 30us}})") ==
        read_fault(t, R"({at: 10us, nic_dead: {host: h0, for: 20us}})"));
  CHECK(error_of(t, "{at: 10us, nic_dead: {host: h0, until: 10us}}").find("after 10us") !=
        std::string::npos);
  CHECK(
      error_of(t, "{at: 10us, nic_dead: {host: h0, until: 20us, for: 1us}}").find("one of them") !=
      std::string::npos);
}

TEST_CASE("an entry repeats with every, until or times, and draws anew each time") {
  const Topology t = test::octet();
  const auto parse_all = [&](const std::string& text, FabricTime end = FabricTime::from_us(1000)) {
    NameResolver names(t, 1);
    return parse_faults(read_yaml_text("- " + text + "\n", "f.yaml"), names, end);
  };
  const auto storm = parse_all(
      R"x({at: 300us, every: 100us, until: 700us, link_down: {link: "random(1, p*.t0-*:u*)", for: 20us}})x");
  REQUIRE(storm.size() == 4);
  CHECK(storm[3].at == FabricTime::from_us(600));
  CHECK((storm[0].targets != storm[1].targets || storm[1].targets != storm[2].targets));
  CHECK(parse_all(R"({at: 0us, every: 1us, times: 7, nic_dead: {host: h0, for: 1ns}})").size() ==
        7);
  CHECK(
      parse_all(R"({at: 0us, every: 1us, nic_dead: {host: h0, for: 1ns}})", FabricTime::from_us(9))
          .size() == 9);
  CHECK_THROWS_AS(parse_all(R"({at: 0us, every: 1ps, nic_dead: {host: h0, for: 1ns}})"),
                  InputError);
  CHECK_THROWS_AS(parse_all(R"({at: 0us, times: 2, nic_dead: {host: h0, for: 1ns}})"), InputError);
  CHECK_THROWS_AS(parse_all(R"({at: 1000us, nic_dead: {host: h0, for: 1ns}})"), InputError);
}

TEST_CASE("parallel faults begin together, and only faults stand in the list") {
  const Topology t = test::octet();
  const auto parse_all = [&](const std::string& text) {
    NameResolver names(t, 1);
    return parse_faults(read_yaml_text("- " + text + "\n", "f.yaml"), names,
                        FabricTime::from_us(1000));
  };
  const auto both = parse_all(
      R"({at: 5us, every: 10us, times: 2, parallel: [{nic_dead: {host: h0, for: 1us}}, {trim_off: {switch: p0.t0-0}}]})");
  REQUIRE(both.size() == 4);
  CHECK(both[0].at == both[1].at);
  CHECK(both[2].at == FabricTime::from_us(15));
  for (const char* bad :
       {R"({at: 5us, parallel: []})", R"({at: 5us, parallel: [{at: 1us, nic_dead: {host: h0}}]})",
        R"({at: 5us, nic_dead: {host: h0}, parallel: [{nic_dead: {host: h0}}]})"}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(parse_all(bad), InputError);
  }
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
  CHECK(error_of(t, R"({at: 1us, switch_wrong_route: {route: "p0.t0-0:u1", to: "p0.t0-1:u1"}})")
            .find("the same switch") != std::string::npos);
  CHECK(error_of(t, R"({at: 1us, stale_table: {route: "p0.t0-0:u1"}})").find("two or more") !=
        std::string::npos);
  CHECK(error_of(t, R"({at: 1us, switch_missing_route: {route: "h0:p1"}})")
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
  CHECK(
      error_of(t, R"({at: 1us, wire_loss: {link: "h0:p0", loss: 50%, burst: 10}})").find("both") !=
      std::string::npos);
  CHECK(error_of(t, R"({at: 1us, wire_loss: {link: "h0:p0", loss: 50%, every: 10}})")
            .find("one of them") != std::string::npos);
}
