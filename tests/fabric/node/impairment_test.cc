#include "fabric/node/impairment.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "fabric/node/effect_fields.h"
#include "fabric/topology/path.h"
#include "fabric/topology/routes.h"
#include "tests/support/fabrics.h"

using namespace mrclab;

namespace {

PortRef port(const Topology& topology, const char* name) {
  return topology.find_port(name).value();
}

}  // namespace

TEST_CASE("every uSID of a switch leads out of exactly the port that it is behind") {
  const Topology topology = test::octet();
  for (const NodeSite& site : topology.nodes) {
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const PortRef ref{site.id, PortId{i}};
      const std::vector<Usid> behind = usids_behind(topology, ref);
      const bool host_behind = topology.node(site.ports[i].peer.node).role == NodeRole::kHost;
      CHECK(behind.size() == (site.role == NodeRole::kHost ? 0 : host_behind ? 2 : 1));
      for (const Usid usid : behind) CHECK(port_toward(topology, site.id, usid) == PortId{i});
    }
  }
  const PortRef uplink = port(topology, "p2.t0-1:u3");
  CHECK(usids_behind(topology, uplink) == std::vector{topology.usids.make(UsidRole::kT1, 2, 3)});
  CHECK_FALSE(port_toward(topology, uplink.node, topology.usids.make(UsidRole::kT0, 2, 1)));
  CHECK_FALSE(port_toward(topology, topology.host(0), topology.usids.make(UsidRole::kT0, 0, 0)));
}

TEST_CASE("an effect impairs the wires that it keeps from carrying everything once and in time") {
  const Topology topology = test::octet();
  const PortRef up = port(topology, "p0.t0-1:u2");
  const WireId out = topology.port(up).out;
  std::vector<WireId> into;
  for (const Port& p : topology.node(up.node).ports) into.push_back(p.in);
  std::sort(into.begin(), into.end());
  const Usid usid = usids_behind(topology, up).front();
  struct Case {
    Effect effect;
    std::vector<WireId> wires;
  };
  const Case cases[] = {
      {WireState{out, false}, {out}},
      {random_loss(out, {1}), {out}},
      {WireErrors{out, {1}}, {out}},
      {WireDelay{out, FabricTime::from_ns(1), {}, {1}, false}, {out}},
      {WireDuplicates{out, {1}}, {out}},
      {WireRate{out, BitRate::from_gbps(1)}, {out}},
      {PortCarrier{up, false}, {out}},
      {EvDenial{topology.host(0), ev_of({0, 0}), {}, true}, {}},
      {SwitchState{up.node, SwitchWork::kHung}, into},
      {SwitchErrors{up.node, {1}}, into},
      {SwitchRoute{up.node, usid, RouteKind::kMissing, {}}, {out}},
      {SwitchRoute{up.node, usid, RouteKind::kWrong, PortId{0}}, {out}},
      {SwitchRoute{up.node, {0x9999}, RouteKind::kWrong, PortId{0}}, {}},
      {SwitchTrim{up.node, true}, {}},
      {SwitchEcn{up.node, EcnKind::kAlways}, {}},
      {SwitchBuffer{up.node, {1}}, {}},
      {HostState{topology.host(0), HostWork::kDown}, {}},
      {HostBurst{topology.host(0), topology.host(1), {1}}, {}},
      {HostVerbs{topology.host(0), 0, VerbsStatus::kFatal}, {}},
      {HostDrain{topology.host(0), DrainKind::kStalled, {}}, {}},
  };
  for (const Case& c : cases) {
    CAPTURE(name_of(c.effect));
    CHECK(wires_impaired_by(topology, c.effect) == c.wires);
    CHECK(wires_impaired_by(topology, as_built(c.effect)).empty());
  }
}
