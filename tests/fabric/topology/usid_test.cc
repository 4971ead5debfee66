// The two uSID layouts, and paths through a fabric of 131,072 hosts as the full one names them.

#include "fabric/topology/usid.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>

#include <set>

#include "fabric/topology/path.h"
#include "tests/support/fabrics.h"
#include "tests/support/property.h"

using namespace mrclab;
using namespace mrclab::test;

namespace {

constexpr UsidLayout kLab = UsidLayout::of(AddressPlan::kLab);
constexpr UsidLayout kFull = UsidLayout::of(AddressPlan::kFull);
constexpr UsidRole kRoles[] = {UsidRole::kT1,         UsidRole::kT0,        UsidRole::kNicPort,
                               UsidRole::kHostKernel, UsidRole::kAdjacency, UsidRole::kT2};

FabricShape full_shape() {
  FabricShape shape = shape_of("paper", 8, 512, 256, 256);
  shape.address_plan = AddressPlan::kFull;
  return shape;
}

/// Follows a carrier through the fabric by each layout field, as its switches would.
uint32_t host_reached(const Topology& t, uint32_t source, Ipv6Address carrier) {
  const auto take = [&] {
    const auto fields = t.usids.parse(active_usid(carrier));
    shift_carrier(carrier);
    return fields.value_or(UsidFields{UsidRole::kT1, 99, 0});
  };
  UsidFields t0 = take();
  RC_ASSERT(t0.role == UsidRole::kT0);
  RC_ASSERT(t0.index == t.host_row(source));
  UsidFields next = take();
  if (next.role == UsidRole::kT1) {
    RC_ASSERT(next.plane == t0.plane);
    t0 = take();
    RC_ASSERT(t0.role == UsidRole::kT0);
    RC_ASSERT(t0.plane == next.plane);
    next = take();
  }
  RC_ASSERT(next.role == UsidRole::kNicPort);
  RC_ASSERT(next.plane == t0.plane);
  RC_ASSERT(active_usid(carrier) == Usid{0});
  return t0.index * t.hosts_per_t0 + next.index;
}

/// A number below `end`, often one of the two extremes.
uint32_t below(uint32_t end) {
  switch (*rc::gen::inRange(0, 4)) {
    case 0: return 0;
    case 1: return end - 1;
    default: return *rc::gen::inRange(0u, end);
  }
}

}  // namespace

TEST_CASE("lab: one nibble role, one nibble plane, one byte index") {
  CHECK(kLab.make(UsidRole::kT0, 3, 5) == Usid{0x2305});
  CHECK(kLab.parse({0x1307}) == UsidFields{UsidRole::kT1, 3, 7});
  CHECK(kLab.parse({0xffff}) == UsidFields{UsidRole::kHostKernel, 15, 255});
  CHECK_FALSE(kLab.parse({0}));
  CHECK_FALSE(kLab.parse({0x0305}));
  CHECK(kLab.parse({0x3305}) == UsidFields{UsidRole::kT2, 3, 5});
  CHECK_FALSE(kLab.parse({0x4305}));
}

TEST_CASE("full: two bits role, three bits plane, eleven bits index") {
  CHECK(kFull.make(UsidRole::kT0, 0, 0) == Usid{0b01'000'00000000000});
  CHECK(kFull.make(UsidRole::kT0, 7, 511) == Usid{0b01'111'00111111111});
  CHECK(kFull.make(UsidRole::kT1, 3, 255) == Usid{0b10'011'00011111111});
  CHECK(kFull.make(UsidRole::kNicPort, 5, 17) == Usid{0b11'101'00000010001});
  CHECK(kFull.make(UsidRole::kHostKernel, 5, 17) == Usid{0b11'101'10000010001});
  CHECK(kFull.make(UsidRole::kAdjacency, 5, 17) == Usid{0b00'101'10000010001});
  for (const uint16_t nobody :
       {uint16_t{0}, uint16_t{0x03FF}, uint16_t{0x4000 + 512}, uint16_t{0x8000 + 256},
        uint16_t{0x8400 + 256}, uint16_t{0xC000 + 256}, uint16_t{0xC400 - 1},
        uint16_t{0xC400 + 256}, uint16_t{0xFFFF}}) {
    CAPTURE(nobody);
    CHECK_FALSE(kFull.parse({nobody}));
  }
}

TEST_CASE("of all 65,536 uSIDs each that means something is made from what it means, once") {
  for (const UsidLayout& usids : {kLab, kFull}) {
    CAPTURE(usids.name());
    size_t meaningful = 0;
    for (uint32_t value = 0; value < 0x1'0000; ++value) {
      const Usid usid{static_cast<uint16_t>(value)};
      const auto fields = usids.parse(usid);
      if (!fields) continue;
      ++meaningful;
      const bool same = fields->plane < usids.planes() &&
                        fields->index < usids.count(fields->role) &&
                        usids.make(fields->role, fields->plane, fields->index) == usid;
      if (!same) FAIL_CHECK("uSID " << value << " means something else");
    }
    size_t places = 0;
    for (const UsidRole role : kRoles) places += size_t{usids.planes()} * usids.count(role);
    CHECK(meaningful == places);  // so no two places share one, and no parse is made up
  }
}

TEST_CASE("the prefix of a role and plane covers exactly its uSIDs") {
  for (const UsidLayout& usids : {kLab, kFull}) {
    const int shift = 16 - usids.role_and_plane_bits();
    for (uint32_t plane = 0; plane < usids.planes(); ++plane) {
      const uint32_t t0s = usids.make(UsidRole::kT0, plane, 0).value >> shift;
      for (uint32_t i = 0; i < usids.count(UsidRole::kT0); ++i) {
        CHECK((usids.make(UsidRole::kT0, plane, i).value >> shift) == t0s);
      }
      CHECK((usids.make(UsidRole::kT1, plane, 0).value >> shift) != t0s);
      CHECK((usids.make(UsidRole::kNicPort, plane, 0).value >> shift) != t0s);
      if (plane > 0) CHECK((usids.make(UsidRole::kT0, plane - 1, 0).value >> shift) != t0s);
    }
  }
}

TEST_CASE("the outline of a fabric has every number of the fabric and none of its graph") {
  FabricShape shape = shape_of("small", 3, 4, 2, 5);
  shape.host_rate = BitRate::from_gbps(200);
  const Topology graph = build_topology(shape);
  const Topology outline = outline_topology(shape);
  CHECK(outline.nodes.empty());
  CHECK(outline.links.empty());
  CHECK(outline.host_count() == graph.host_count());
  CHECK(outline.base_rtt == graph.base_rtt);
  CHECK(outline.queues.trim_threshold == graph.queues.trim_threshold);
  CHECK(outline.host_rate == graph.host_rate);
  const Path path{2, 1};
  CHECK(make_carrier(outline, 3, 17, path) == make_carrier(graph, 3, 17, path));
  CHECK(host_address(outline, 17) == host_address(graph, 17));
}

TEST_CASE("the farthest corner of 131,072 hosts has a carrier of its own") {
  const Topology t = outline_topology(full_shape());
  CHECK(t.host_count() == 131'072);
  CHECK(to_string(make_carrier(t, 0, 131'071, Path{7, 255})) == "5f00:0:7800:b8ff:79ff:f8ff::");
  CHECK(to_string(make_carrier(t, 131'071, 0, Path{0, 0})) == "5f00:0:41ff:8000:4000:c000::");
  CHECK(to_string(make_carrier(t, 256, 257, Path{7, kT0LocalUplink})) == "5f00:0:7801:f801::");
  CHECK(to_string(host_address(t, 131'071)) == "fd00:1ff::1:ffff");
  CHECK(host_of_address(t, host_address(t, 131'071)) == 131'071);
}

TEST_CASE("at full scale EV, path and carrier are one to one and lead to the destination") {
  const Topology t = outline_topology(full_shape());
  CHECK(counterexample(
            [&t] {
              const uint32_t from = below(t.host_count());
              const uint32_t to = below(t.host_count());
              const bool local = t.host_row(from) == t.host_row(to);
              const Path path{below(t.planes), local ? kT0LocalUplink : below(t.t1_per_plane)};
              RC_ASSERT(path_of(ev_of(path)) == path);
              const Ipv6Address carrier = make_carrier(t, from, to, path);
              RC_ASSERT(host_reached(t, from, carrier) == to);
              const auto route = parse_carrier(t, carrier);
              RC_ASSERT(route.has_value());
              RC_ASSERT(route->path == path);
              RC_ASSERT(route->source_row == t.host_row(from));
              RC_ASSERT(route->destination_row == t.host_row(to));
              RC_ASSERT(route->downlink == t.host_downlink(to));
            },
            3000) == "");
}

TEST_CASE("at full scale a carrier that parses is the one made from what it says") {
  const Topology t = outline_topology(full_shape());
  CHECK(counterexample(
            [&t] {
              Ipv6Address carrier = make_carrier(t, below(t.host_count()), below(t.host_count()),
                                                 Path{below(t.planes), below(t.t1_per_plane)});
              for (int n = *rc::gen::inRange(0, 3); n > 0; --n) {
                carrier[*rc::gen::inRange(0, 16)] ^=
                    static_cast<uint8_t>(1u << *rc::gen::inRange(0, 8));
              }
              const auto route = parse_carrier(t, carrier);
              if (!route) return;
              const uint32_t from = route->source_row * t.hosts_per_t0;
              const uint32_t to = route->destination_row * t.hosts_per_t0 + route->downlink;
              RC_ASSERT(make_carrier(t, from, to, route->path, route->role) == carrier);
            },
            3000) == "");
}

TEST_CASE("a fabric that its address plan has no room for is refused") {
  FabricShape shape = full_shape();
  CHECK_NOTHROW(outline_topology(shape));
  for (uint32_t FabricShape::*const count :
       {&FabricShape::planes, &FabricShape::t0, &FabricShape::t1, &FabricShape::hosts_per_t0}) {
    FabricShape larger = shape;
    ++(larger.*count);
    CHECK_THROWS_AS(outline_topology(larger), std::invalid_argument);
  }
  shape.address_plan = AddressPlan::kLab;
  CHECK_THROWS_AS(outline_topology(shape), std::invalid_argument);  // 512 T0s
}

TEST_CASE("no two ports of a fabric of 131,072 hosts share a MAC address") {
  std::set<MacAddress> macs;
  size_t ports = 0;
  for (const uint32_t host : {0u, 1u, 255u, 256u, 65'535u, 65'536u, 131'071u}) {
    for (const uint32_t port : {0u, 7u}) {
      macs.insert(port_mac(NodeRole::kHost, 0, host, port));
      ++ports;
    }
  }
  for (const uint32_t plane : {0u, 1u, 7u}) {
    for (const uint32_t index : {0u, 1u, 255u, 256u, 511u}) {
      for (const uint32_t port : {0u, 1u, 255u, 256u, 257u, 511u}) {
        macs.insert(port_mac(NodeRole::kT0, plane, index, port));
        macs.insert(port_mac(NodeRole::kT1, plane, index, port));
        ports += 2;
      }
    }
  }
  CHECK(macs.size() == ports);
}
