// Faults as they are read from files, on octet:
//
//   h0 h1 h2 h3 -- p0.t0-0 (optic o0 carries all four links) -- p0.t1-0 .. p0.t1-3

#include "faults/fault.h"

#include <doctest/doctest.h>

#include "tests/support/fabrics.h"

using namespace mrclab;
using namespace mrclab::faults;

namespace {

Fault parse(const Topology& topology, const std::string& text) {
  NameResolver names(topology, 1);
  const YamlValue list = read_yaml_text("- " + text + "\n", "f.yaml");
  return parse_faults(list.with_rtt(FabricTime::from_us(11)), names).at(0);
}

std::string error_of(const Topology& topology, const std::string& text) {
  try {
    parse(topology, text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("an optic glitch is read with its optic, its outage and its stagger") {
  const Topology t = test::octet();
  const Fault fault =
      parse(t, R"({at: 300us, optic_glitch: {optic: "p0.t0-0:o0", down: 100us, stagger: 20us}})");
  CHECK(fault.at == FabricTime::from_us(300));
  const auto& glitch = std::get<OpticGlitch>(fault.kind);
  REQUIRE(glitch.optics.size() == 1);
  CHECK(t.optic(glitch.optics[0]).name == "p0.t0-0:o0");
  CHECK(glitch.down == FabricTime::from_us(100));
  CHECK(glitch.stagger == FabricTime::from_us(20));
  CHECK(name_of(fault) == "optic_glitch");
  CHECK(describe(fault, t) == "optic_glitch p0.t0-0:o0 at 300us: down 100us each, 20us apart");
  CHECK(interval_of(fault, t) == Interval{FabricTime::from_us(300), FabricTime::from_us(460)});
}

TEST_CASE("an optic glitch affects the links of its optic, in both directions") {
  const Topology t = test::octet();
  const Fault fault = parse(t, R"({at: 1us, optic_glitch: {optic: "p0.t0-0:o0", down: 1us}})");
  const auto links = affected_links(fault, t);
  REQUIRE(links.size() == 4);
  for (uint32_t h = 0; h < 4; ++h) {
    CHECK(t.link_name(links[h]) == "h" + std::to_string(h) + ":p0--p0.t0-0:d" + std::to_string(h));
  }
  CHECK(affected_wires(fault, t).size() == 8);
}

TEST_CASE("a link that goes down loses light both ways and carrier at both ends") {
  const Topology t = test::octet();
  const Fault fault = parse(t, R"({at: 5us, link_down: {link: "p1.t0-0:u2", for: 2rtt}})");
  const auto holds = holds_of(fault, t);
  REQUIRE(holds.size() == 4);
  CHECK(to_string(holds[0].target, t) == "wire p1.t0-0:u2->p1.t1-2:d0");
  CHECK(to_string(holds[1].target, t) == "wire p1.t1-2:d0->p1.t0-0:u2");
  CHECK(to_string(holds[2].target, t) == "carrier of p1.t0-0:u2");
  CHECK(to_string(holds[3].target, t) == "carrier of p1.t1-2:d0");
  for (const Hold& hold : holds) {
    CHECK(hold.from == FabricTime::from_us(5));
    CHECK(hold.until == FabricTime::from_us(27));
  }
  CHECK(describe(fault, t) == "link_down p1.t0-0:u2--p1.t1-2:d0 at 5us for 22us");
}

TEST_CASE("without a duration a fault does not heal") {
  const Topology t = test::octet();
  const Fault fault = parse(t, R"({at: 5us, link_down: {link: "h0:p*"}})");
  CHECK(affected_links(fault, t).size() == 8);
  CHECK(interval_of(fault, t).last_heal == FabricTime::never());
  CHECK(describe(fault, t) ==
        "link_down h0:p0--p0.t0-0:d0, h0:p1--p1.t0-0:d0, h0:p2--p2.t0-0:d0, h0:p3--p3.t0-0:d0 "
        "and 4 more at 5us, not healed");
}

TEST_CASE("a lossy wire is one direction only, named by itself or by its link and a direction") {
  const Topology t = test::octet();
  const Fault wire = parse(t, R"({at: 5us, wire_loss: {wire: "h3:p2->p2.t0-0:d3", loss: 20%}})");
  const Fault up =
      parse(t, R"({at: 5us, wire_loss: {link: "p2.t0-0:d3", direction: up, loss: 20%}})");
  CHECK(wire == up);
  const auto wires = affected_wires(wire, t);
  REQUIRE(wires.size() == 1);
  CHECK(t.wire_name(wires[0]) == "h3:p2->p2.t0-0:d3");
  const Fault down =
      parse(t, R"({at: 5us, wire_loss: {link: "p2.t0-0:d3", direction: down, loss: 20%}})");
  CHECK(t.wire_name(affected_wires(down, t).at(0)) == "p2.t0-0:d3->h3:p2");
  CHECK(describe(wire, t) == "wire_loss h3:p2->p2.t0-0:d3 at 5us: 20% of frames, not healed");
}

TEST_CASE("a wire that loses its carrier is dark, and only its receiver sees that") {
  const Topology t = test::octet();
  const Fault fault =
      parse(t, R"({at: 5us, wire_loss: {wire: "h3:p2->p2.t0-0:d3", carrier: lost, for: 1us}})");
  const auto holds = holds_of(fault, t);
  REQUIRE(holds.size() == 2);
  CHECK(to_string(holds[0].target, t) == "wire h3:p2->p2.t0-0:d3");
  CHECK(to_string(holds[1].target, t) == "carrier of p2.t0-0:d3");
  CHECK(affected_links(fault, t).size() == 1);
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
    const Fault fault = parse(t, text);
    CHECK(parse(t, to_yaml(fault, t)) == fault);
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
               "f.yaml:1:3: found no fault beside \"at\": expected one of link_down, wire_loss, "
               "optic_glitch, denylist"},
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
               "f.yaml:1:45: found \"0us\": expected a duration above 0"},
           Row{"{at: 1us, link_down: {links: \"h0:p0\"}}",
               "f.yaml:1:25: found the key \"links\": expected \"link\""},
           Row{"{at: 1us, link_down: \"h0:p0\"}",
               "f.yaml:1:24: found \"h0:p0\": expected a map (key: value)"},
           Row{"{at: 1us, optic_glitch: {optic: \"p0.t0-0:o1\", down: 1us}}",
               "f.yaml:1:35: found \"p0.t0-0:o1\", which names no optic: expected a name such as "
               "\"p0.t0-0:o0\""},
           Row{"{at: 1us, optic_glitch: {optic: \"p0.t0-0:o0\"}}",
               "f.yaml:1:27: found no \"down\": expected \"down: ...\""},
           Row{"{at: 1us, wire_loss: {link: \"h0:p0\", loss: 20%}}",
               "f.yaml:1:24: found no \"direction\": expected \"direction: ...\""},
           Row{"{at: 1us, wire_loss: {link: \"h0:p0\", direction: left, loss: 20%}}",
               "f.yaml:1:51: found \"left\": expected up (towards the T1) or down (towards the "
               "host)"},
           Row{"{at: 1us, wire_loss: {loss: 20%}}",
               "f.yaml:1:24: found no \"wire\": expected \"wire: ...\", or \"link: ...\" with "
               "\"direction: up\""},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0\", loss: 20%}}",
               "f.yaml:1:31: found \"h0:p0\", which names no wire: expected a name such as "
               "\"h0:p0->p0.t0-0:d0\""},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0->p0.t0-0:d0\"}}",
               "f.yaml:1:24: found no \"loss\": expected \"loss: ...\""},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0->p0.t0-0:d0\", loss: 0%}}",
               "f.yaml:1:58: found \"0%\": expected a loss above 0%"},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0->p0.t0-0:d0\", loss: 20}}",
               "f.yaml:1:58: found \"20\": expected a share such as 20% or 0.2, from 0% to 100%"},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0->p0.t0-0:d0\", loss: 20%, carrier: lost}}",
               "f.yaml:1:58: found \"20%\": expected 100%, or no loss at all: nothing passes when "
               "the carrier is lost"},
           Row{"{at: 1us, wire_loss: {wire: \"h0:p0->p0.t0-0:d0\", carrier: gone}}",
               "f.yaml:1:61: found \"gone\": expected keep or lost"},
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
  const Fault fault = parse(
      t, R"({at: 5us, denylist: {host: "h[0-1]", path: [p0/u1, "p3/*"], toward: h4, for: 2rtt}})");
  const auto& deny = std::get<DenylistFault>(fault.kind);
  CHECK(deny.hosts == std::vector{NodeId{0}, NodeId{1}});
  CHECK(deny.evs.size() == 6);
  CHECK(deny.toward == std::vector{NodeId{4}});
  const auto holds = holds_of(fault, t);
  REQUIRE(holds.size() == 12);
  CHECK(to_string(holds[0].target, t) == "path p0/u1 on h0 toward h4");
  CHECK(affected_wires(fault, t).empty());
  CHECK(interval_of(fault, t) == Interval{FabricTime::from_us(5), FabricTime::from_us(27)});
  CHECK(describe(fault, t) ==
        "denylist p0/u1, p3/u0, p3/u1, p3/u2 and 2 more on h0, h1 toward h4 at 5us for 22us");
  CHECK(parse(t, to_yaml(fault, t)) == fault);
  const Fault all = parse(t, R"({at: 5us, denylist: {host: h2, path: p7/u0}})");
  CHECK(to_string(holds_of(all, t).at(0).target, t) == "path p7/u0 on h2");
  CHECK(parse(t, to_yaml(all, t)) == all);
  CHECK(error_of(t, "{at: 5us, denylist: {host: h2, path: p8/u0}}").find("a path of the fabric") !=
        std::string::npos);
}
