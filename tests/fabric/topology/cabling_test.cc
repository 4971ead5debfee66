// Cables that are plugged in elsewhere than planned.

#include <doctest/doctest.h>

#include "fabric/topology/fabric_file.h"
#include "fabric/topology/routes.h"

using namespace mrclab;

namespace {

Topology fabric_with(const std::string& pairs) {
  return build_topology(parse_fabric(read_yaml_text(
      "name: f\nplanes: 2\nt0: 2\nt1: 2\nhosts_per_t0: 2\nmiscabled: " + pairs + "\n", "f.yaml")));
}

std::string refusal_of(const std::string& pairs) {
  try {
    fabric_with(pairs);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

}  // namespace

TEST_CASE("exchanged cables lead elsewhere, and routes stay as planned") {
  const Topology built = fabric_with("[]");
  const Topology t = fabric_with("[[\"p0.t0-0:u0\", \"p0.t0-0:u1\"], [\"h0:p0\", \"h1:p1\"]]");
  const auto at = [&](const char* name) { return t.find_port(name).value(); };
  CHECK(t.port_name(t.port(at("p0.t0-0:u0")).peer) == "p0.t1-1:d0");
  CHECK(t.port_name(t.port(at("p0.t1-1:d0")).peer) == "p0.t0-0:u0");
  CHECK(t.port_name(t.planned_peer(at("p0.t0-0:u0"))) == "p0.t1-0:d0");
  CHECK(t.port_name(t.planned_peer(at("p0.t1-1:d0"))) == "p0.t0-0:u1");
  CHECK(t.port_name(t.port(at("h1:p1")).peer) == "p0.t0-0:d0");
  CHECK(t.planned_peer(at("p1.t0-1:u0")) == t.port(at("p1.t0-1:u0")).peer);
  for (const NodeSite& site : t.nodes) {
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const PortRef port{site.id, PortId{i}};
      CHECK(usids_behind(t, port) == usids_behind(built, port));
      // Wires, links and ports agree on who is at which end.
      const Port& p = t.port(port);
      CHECK(t.wire(p.out).from == port);
      CHECK(t.wire(p.out).to == p.peer);
      CHECK(t.wire(p.in).to == port);
      CHECK(t.port(p.peer).peer == port);
      CHECK((t.link(p.link).a == port || t.link(p.link).b == port));
      if (site.role == NodeRole::kHost) CHECK(t.link(p.link).a == port);
    }
  }
}

TEST_CASE("cables that cannot be exchanged are refused, each with its reason and place") {
  const std::string place = "f.yaml:6:13: found ";
  CHECK(refusal_of("[[\"p0.t0-0:u0\", \"p0.t0-0:u0\"]]").find("one port twice") !=
        std::string::npos);
  CHECK(refusal_of("[[\"p0.t0-0:u0\", \"p0.t1-0:d0\"]]").find("both ends of one cable") !=
        std::string::npos);
  CHECK(refusal_of("[[\"h0:p0\", \"p0.t0-0:d1\"]]").find("would join two hosts") !=
        std::string::npos);
  CHECK(refusal_of("[[\"p0.t9-0:u0\", \"p0.t0-0:u1\"]]").find("p0.t9-0:u0") != std::string::npos);
  CHECK(refusal_of("[[\"p0.t0-0:u0\", \"p0.t0-0:u1\"], [\"p0.t1-0:d0\", \"p1.t1-0:d0\"]]")
            .find("an earlier pair") != std::string::npos);
  CHECK(refusal_of("[[\"p0.t0-0:u0\", \"p0.t0-0:u0\"]]").starts_with(place));
}
