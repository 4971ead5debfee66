// Keys of a fault's entry, whatever its kind is, and the error of one that cannot be read.

#include <doctest/doctest.h>

#include "fabric/node/effect_fields.h"
#include "fabric/node/effect_text.h"
#include "faults/fault.h"
#include "faults/schedule.h"
#include "tests/faults/fault_effects.h"
#include "tests/faults/read_fault.h"
#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::faults;
using mrclab::test::fault_error;
using mrclab::test::read_fault;

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
               "pause_storm, line_card, power_loss, drain, attack, verbs"},
           Row{"{at: 1us, slow_receiver: {host: h1}}",
               "f.yaml:1:28: found no rate: expected one of them: to (a rate) or share (of the "
               "line rate)"},
           Row{"{at: 1us, slow_receiver: {host: h1, to: 1Gb/s, share: 1%}}",
               "f.yaml:1:28: found \"to\" and \"share\": expected one of them: to (a rate) or "
               "share (of the line rate)"},
           Row{"{at: 1us, verbs: {host: h1, status: none}}",
               "f.yaml:1:39: found \"none\": expected one of fatal, retry_exceeded, "
               "rnr_retry_exceeded, remote_access, remote_invalid_request, remote_operation, "
               "local_protection, local_length"},
           Row{"{at: 1us, verbs: {host: h1, qp: 0, status: fatal}}",
               "f.yaml:1:35: found \"0\": expected a whole number from 1 to 4095"},
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
    CHECK(fault_error(t, row.text) == row.expected);
  }
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
    CHECK(replay(schedule, FabricTime::from_us(9)).degraded_targets().empty());
    const bool once = happens_once(holds[0].effect);
    CHECK(replay(schedule, FabricTime::from_us(10)).degraded_targets().empty() == once);
    CHECK(replay(schedule).degraded_targets().empty());
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
    CHECK(fault_error(t, with("colour: red")).find("the key \"colour\"") != std::string::npos);
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
          fault_error(t, "{at: 10us, " + std::string(row.name) + ": " + without + "}");
      CHECK(error.find("found no \"" + key + "\"") != std::string::npos);
    }
  }
}

TEST_CASE("until is another way to say for how long") {
  const Topology t = test::octet();
  CHECK(read_fault(t, R"({at: 10us, nic_dead: {host: h0, until: 30us}})") ==
        read_fault(t, R"({at: 10us, nic_dead: {host: h0, for: 20us}})"));
  CHECK(fault_error(t, "{at: 10us, nic_dead: {host: h0, until: 10us}}").find("after 10us") !=
        std::string::npos);
  CHECK(fault_error(t, "{at: 10us, nic_dead: {host: h0, until: 20us, for: 1us}}")
            .find("one of them") != std::string::npos);
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
