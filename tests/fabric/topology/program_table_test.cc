// Which carriers a host may send: held against all carriers that hosts' own paths make, written out one by one.

#include <doctest/doctest.h>

#include <set>
#include <vector>

#include "fabric/base/byte_order.h"
#include "fabric/base/random.h"
#include "fabric/paths/long_carrier.h"
#include "fabric/paths/path_list.h"
#include "fabric/probes/probe_route.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/path.h"
#include "fabric/topology/programs/program_table.h"
#include "tests/support/fabrics.h"
#include "tests/support/nightly.h"

using namespace mrclab;

namespace {

constexpr char kListedPrograms[] =
    "name: listed\nswitches: {a: 0100, b: 0200, s: 0300, z: 0400}\n"
    "hosts: [[a, a], [b, b], [a, a], [b, b]]\nlinks: {\"[ab]\": [s, z]}\n";
Topology guarded(FabricShape shape) {
  shape.authorise = Authorise::kBoth;
  return build_topology(shape);
}

/// By what each carrier leads to: a host of the sender's tenant, or of another.
struct Known {
  std::set<Ipv6Address> own, other;
};

/// All that a host may send out of a port, and what would be right but for the tenant.
Known known_of(const Topology& t, PortRef nic) {
  Known known;
  const uint32_t self = t.node(nic.node).index, plane = nic.port.value;
  for (uint32_t to = 0; to < t.host_count(); ++to) {
    if (to == self) continue;
    std::vector<Path> paths = paths_between(t, self, to);
    for (uint32_t u = 0; t.regular() && u < t.t1_per_plane; ++u) paths.push_back({plane, u});
    for (const Path path : paths) {
      if (path.plane != plane) continue;
      for (const UsidRole role : {UsidRole::kNicPort, UsidRole::kHostKernel}) {
        (same_tenant(t, self, to) ? known.own : known.other)
            .insert(make_carrier(t, self, to, path, role));
      }
    }
  }
  return known;
}

void put(Ipv6Address& carrier, uint32_t place, uint16_t usid) {
  store_be<uint16_t>(carrier.data() + 4 + 2 * place, usid);
}

/// One of the fabric's uSIDs, of any node, or any number, or the end.
uint16_t any_usid(const Topology& t, uint64_t draws) {
  if (draws % 16 == 0) return static_cast<uint16_t>(draws >> 8);
  if (draws % 16 < 4) return 0;
  const NodeSite& site = t.nodes[(draws >> 8) % t.nodes.size()];
  const Port& port = site.ports[(draws >> 40) % site.ports.size()];
  if (site.role != NodeRole::kHost) return site.usid.value;
  return draws % 2 == 0 ? port.nic_usid.value : port.kernel_usid.value;
}

/// Right carriers with a few uSIDs exchanged, and carriers of nothing but random ones.
Ipv6Address random_carrier(const Topology& t, const Known& known, uint64_t seed, uint64_t number) {
  uint64_t at = 0;
  const auto next = [&] {
    return draw(seed, NodeId{}, PortId{}, DrawPurpose::kFault, number * 16 + at++);
  };
  Ipv6Address carrier{};
  store_be<uint32_t>(carrier.data(), kUsidBlock);
  const uint64_t sort = next() % 8;
  const std::set<Ipv6Address>& from = sort == 0 && !known.other.empty() ? known.other : known.own;
  if (sort < 6 && !from.empty()) {
    carrier = *std::next(from.begin(), static_cast<std::ptrdiff_t>(next() % from.size()));
    if (sort < 2) return carrier;
    for (uint64_t changes = 1 + next() % 2; changes > 0; --changes) {
      put(carrier, static_cast<uint32_t>(next() % kUsidsInCarrier), any_usid(t, next()));
    }
    return carrier;
  }
  for (uint32_t place = 0; place < kUsidsInCarrier; ++place)
    put(carrier, place, any_usid(t, next()));
  return carrier;
}

}  // namespace

TEST_CASE("random carriers are judged as the list of all of a host's own paths has it") {
  std::vector<Topology> fabrics;
  FabricShape octet = test::shape_of("octet", 8, 2, 4, 4);
  octet.tenants = {{"a", {"h[0-2]"}}, {"b", {"h3", "h[4-6]"}}};
  fabrics.push_back(guarded(octet));
  FabricShape full = octet;
  full.address_plan = AddressPlan::kFull;
  fabrics.push_back(guarded(full));
  FabricShape links = octet;
  links.segments = Segments::kAdjacency;
  fabrics.push_back(guarded(links));
  FabricShape pods = test::shape_of("pods", 2, 4, 4, 2);
  pods.pods = 2;
  pods.t2 = 4;
  pods.tenants = {{"a", {"h[0-5]"}}};
  fabrics.push_back(guarded(pods));
  FabricShape listed = parse_fabric(read_yaml_text(kListedPrograms, "listed"));
  listed.tenants = {{"a", {"h0", "h2"}}, {"b", {"h1", "h3"}}};
  fabrics.push_back(guarded(listed));

  const uint64_t each = test::nightly() ? 20'000 : 2'000;  // of five fabrics
  for (const Topology& t : fabrics) {
    CAPTURE(t.name);
    CAPTURE(static_cast<int>(t.segments));
    uint64_t may = 0, other = 0, may_not = 0;
    const PortRef nic{t.host(1), PortId{t.planes - 1}};
    const Known known = known_of(t, nic);
    for (uint64_t number = 0; number < each; ++number) {
      const Ipv6Address carrier = random_carrier(t, known, 7, number);
      const Denial denial = t.programs->judge(t, nic, carrier, std::nullopt);
      const Denial right = known.own.contains(carrier)     ? Denial::kNone
                           : known.other.contains(carrier) ? Denial::kTenant
                                                           : Denial::kProgram;
      CHECK_MESSAGE(denial == right, to_string(carrier));
      ++(right == Denial::kNone ? may : right == Denial::kTenant ? other : may_not);
    }
    CHECK(may > each / 20);
    CHECK(other > each / 100);
    CHECK(may_not > each / 4);
  }
}

TEST_CASE("a carrier that goes up and down again is none of a host's programs") {
  for (FabricShape shape :
       {test::shape_of("octet", 8, 2, 4, 4), test::shape_of("full", 8, 2, 4, 4)}) {
    if (shape.name == "full") shape.address_plan = AddressPlan::kFull;
    for (const Segments segments : {Segments::kNode, Segments::kAdjacency}) {
      shape.segments = segments;
      const Topology t = guarded(shape);
      const PortRef nic{t.host(0), PortId{2}};
      for (const auto& [to, path] :
           {std::pair{5u, Path{2, 1}}, std::pair{1u, Path{2, kT0LocalUplink}}}) {
        const Ipv6Address once = make_carrier(t, 0, to, path);
        const Ipv6Address twice = long_carrier(t, 0, to, path, 0);
        CHECK(twice != once);
        CHECK(t.programs->judge(t, nic, once, std::nullopt) == Denial::kNone);
        CHECK(t.programs->judge(t, nic, twice, std::nullopt) == Denial::kProgram);
        // By a port of another plane it leads nowhere.
        CHECK(t.programs->judge(t, {t.host(0), PortId{1}}, once, std::nullopt) == Denial::kProgram);
        if (segments == Segments::kAdjacency) continue;  // a uA means something at every switch
        CHECK(t.programs->judge(t, {t.host(7), PortId{2}}, once, std::nullopt) == Denial::kProgram);
      }
    }
  }
}

TEST_CASE("where the last switch strips the outer header, the inner address decides who gets it") {
  FabricShape shape = test::shape_of("leaf", 2, 2, 2, 2);
  shape.decap = Decap::kLeaf;
  shape.tenants = {{"a", {"h0", "h2"}}};
  const Topology t = guarded(shape);
  const PortRef nic{t.host(0), PortId{0}};
  const Ipv6Address carrier = make_carrier(t, 0, 2, {0, 1});
  CHECK(t.programs->judge(t, nic, carrier, 2) == Denial::kNone);
  CHECK(t.programs->judge(t, nic, carrier, 3) == Denial::kTenant);
  CHECK(t.programs->judge(t, nic, carrier, 1) == Denial::kProgram);  // hangs on another T0
  CHECK(t.programs->judge(t, nic, carrier, std::nullopt) == Denial::kProgram);
}

TEST_CASE("the mapper's probes lead back to their sender, and only where there is a mapper") {
  FabricShape shape = test::shape_of("octet", 8, 2, 4, 4);
  const Topology without = guarded(shape);
  shape.mapper.on = shape.mapper.cross = true;
  shape.mapper.period = {40, {}};
  shape.tenants = {{"a", {"h0"}}};
  const Topology with = guarded(shape);
  uint32_t probes = 0;
  for (uint64_t period = 0; period < 8; ++period) {
    for (const Probe& probe : probes_of(grid_of(with), with.mapper, 3, 1, period)) {
      const Ipv6Address carrier = probe_carrier(with, 3, probe);
      const PortRef nic{with.host(3), PortId{1}};
      CHECK(with.programs->judge(with, nic, carrier, 3) == Denial::kNone);
      CHECK(without.programs->judge(without, nic, carrier, 3) == Denial::kProgram);
      ++probes;
    }
  }
  CHECK(probes > 8);
}

TEST_CASE("hosts without a tenant are one among themselves") {
  FabricShape shape = test::shape_of("octet", 8, 2, 4, 4);
  shape.tenants = {{"a", {"h[0-1]"}}};
  const Topology t = guarded(shape);
  CHECK(same_tenant(t, 0, 1));
  CHECK(same_tenant(t, 2, 7));
  CHECK_FALSE(same_tenant(t, 1, 2));
  CHECK_FALSE(same_tenant(t, 7, 0));
  CHECK(build_topology(test::shape_of("octet", 8, 2, 4, 4)).programs == nullptr);
}
