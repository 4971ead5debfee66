// Paths that a hash chooses: entropy values without a path, the published hash, groups that shrink.

#include "fabric/paths/ecmp.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

#include "fabric/packet/headers.h"
#include "fabric/paths/path_pattern.h"
#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "tests/support/bytes.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;

namespace {

Topology fabric_of(RoutingChoice routing, uint32_t uplinks = 4) {
  FabricShape shape;
  shape.name = "hashing";
  shape.planes = 4;
  shape.t0 = 2;
  shape.t1 = uplinks;
  shape.hosts_per_t0 = 2;
  shape.routing = routing;
  return build_topology(shape);
}

constexpr RoutingChoice kIpv6Ecmp{Routing::kEcmp};

/// How many of `evs` values of plane 0 come to each uplink, from one host to another.
std::vector<uint32_t> spread(const Topology& t, uint32_t evs, Chosen chosen) {
  std::vector<uint32_t> count(t.t1_per_plane);
  for (uint32_t n = 0; n < evs; ++n) ++count[path_between(t, 0, 2, {0, n, chosen})->uplink];
  return count;
}

std::vector<PortId> ports(uint32_t count) {
  std::vector<PortId> list;
  for (uint32_t i = 0; i < count; ++i) list.push_back(PortId{i});
  return list;
}

}  // namespace

TEST_CASE("a hashed entropy value says its plane in both halves, and its source port is RoCEv2's") {
  std::set<uint32_t> low_halves;
  for (const Chosen chosen : {Chosen::kByHashIpv6, Chosen::kByHashIpv4}) {
    for (uint32_t plane = 0; plane < kMaxHashedPlanes; ++plane) {
      for (const uint32_t number : {0u, 1u, 511u, kHashNumbers - 1}) {
        const Path path{plane, number, chosen};
        const EntropyValue ev = ev_of(path);
        CHECK(path_of(ev) == path);
        CHECK(parse_path(to_string(path)) == path);
        CHECK(source_port_of(ev) >= 0xC000);
        CHECK(ev_of({plane, number}) != ev);
        if (chosen == Chosen::kByHashIpv6) {
          CHECK(reflected(ev) == ev);
          continue;
        }
        CHECK(low_halves.insert(source_port_of(ev)).second);
        CHECK(reflected(ev) == EntropyValue{source_port_of(ev)});
        CHECK(hashed_ev_ipv4(source_port_of(ev)) == ev);
      }
    }
  }
  CHECK(to_string(Path{3, 17, Chosen::kByHashIpv6}) == "p3/e17");
  CHECK_FALSE(parse_path("p3/e1024"));
  CHECK_FALSE(parse_path("p16/f0"));
  CHECK_FALSE(path_of({0x8001C000}));  // the halves disagree about the plane
  CHECK(reflected(ev_of({3, 1})) == ev_of({3, 1}));
}

TEST_CASE("an IPv4 address is its host's number in 10.0.0.0/8") {
  const Topology t = fabric_of({Routing::kEcmp, Underlay::kIpv4});
  CHECK(to_string(host_address_ipv4(3)) == "::ffff:10.0.0.3");
  CHECK(to_string(host_address_ipv4(0x020304)) == "::ffff:10.2.3.4");
  for (uint32_t host = 0; host < t.host_count(); ++host) {
    CHECK(host_of_address(t, host_address_ipv4(host)) == host);
  }
  CHECK_FALSE(host_of_address(t, host_address_ipv4(t.host_count())));
  Ipv6Address other = host_address_ipv4(1);
  other[12] = 11;
  CHECK_FALSE(host_of_address(t, other));
  other = host_address_ipv4(1);
  other[0] = 1;
  CHECK_FALSE(host_of_address(t, other));
}

TEST_CASE("what is written in any encapsulation is parsed again") {
  for (const auto kind : {Encapsulation::kSrv6, Encapsulation::kIpv6, Encapsulation::kIpv4}) {
    for (const Opcode opcode : {Opcode::kWriteOnly, Opcode::kSack, Opcode::kProbeRequest}) {
      MrcFrameSpec spec = test::random_spec(opcode, 7, 1001);
      spec.encapsulation = kind;
      spec.ev = ev_of({2, 77, Chosen::kByHashIpv4});
      if (kind == Encapsulation::kIpv4) {
        spec.inner_source = host_address_ipv4(1);
        spec.inner_destination = host_address_ipv4(2);
      }
      std::vector<uint8_t> frame = test::build_frame(spec);
      REQUIRE(encapsulation_of(frame) == kind);
      CHECK(entropy_of(frame, kind) == spec.ev);
      MrcPacket packet;
      REQUIRE(parse_mrc_frame(frame, packet) == ParseError::kNone);
      CHECK(packet.encapsulation == kind);
      CHECK(packet.entropy() == spec.ev);
      CHECK(packet.inner.source == spec.inner_source);
      CHECK(packet.outer.dscp() == spec.dscp);
      CHECK(packet.extension == spec.extension);
      CHECK(icrc_ok(frame));
      CHECK(test::to_hex(test::build_frame(test::spec_of(packet))) == test::to_hex(frame));
    }
  }
}

TEST_CASE("IPv4 headers that are wrong are refused under their own reason") {
  MrcFrameSpec spec = test::random_spec(Opcode::kWriteOnly, 3, 100);
  spec.encapsulation = Encapsulation::kIpv4;
  const std::vector<uint8_t> good = test::build_frame(spec);
  const auto broken = [&](size_t offset, uint8_t value, bool heal) {
    std::vector<uint8_t> frame = good;
    frame[kEthernetBytes + offset] = value;
    if (heal) {
      frame[kEthernetBytes + 10] = frame[kEthernetBytes + 11] = 0;
      const uint16_t sum = ipv4_checksum(&frame[kEthernetBytes]);
      frame[kEthernetBytes + 10] = static_cast<uint8_t>(sum >> 8);
      frame[kEthernetBytes + 11] = static_cast<uint8_t>(sum);
    }
    MrcPacket packet;
    return parse_mrc_frame(frame, packet);
  };
  CHECK(broken(8, good[kEthernetBytes + 8] ^ 1, false) == ParseError::kBadIpChecksum);
  CHECK(broken(0, 0x46, true) == ParseError::kBadVersion);  // options
  CHECK(broken(6, 0x20, true) == ParseError::kNotUdp);      // more fragments
  CHECK(broken(9, 6, true) == ParseError::kNotUdp);         // TCP
  CHECK(broken(2, 0x7F, true) == ParseError::kLengthMismatch);
  CHECK(broken(3, 10, true) == ParseError::kLengthMismatch);  // shorter than its header
}

TEST_CASE("1024 entropy values are spread over the uplinks as evenly as chance allows") {
  for (const auto& [underlay, chosen] : {std::pair{Underlay::kIpv6, Chosen::kByHashIpv6},
                                         std::pair{Underlay::kIpv4, Chosen::kByHashIpv4}}) {
    for (const uint32_t uplinks : {2u, 4u, 8u, 16u}) {
      const Topology t = fabric_of({Routing::kEcmp, underlay}, uplinks);
      double chi_square = 0;
      const double expected = static_cast<double>(kHashNumbers) / uplinks;
      for (const uint32_t n : spread(t, kHashNumbers, chosen)) {
        chi_square += (n - expected) * (n - expected) / expected;
      }
      // 99.9 % of chi-square with 15 degrees of freedom; the seeds are fixed.
      CAPTURE(uplinks);
      CHECK(chi_square < 37.7);
      CHECK(chi_square > 0);
    }
  }
}

TEST_CASE("few values collide: eight of them do not find all of eight uplinks") {
  const Topology t = fabric_of(kIpv6Ecmp, 8);
  const std::vector<uint32_t> count = spread(t, 8, Chosen::kByHashIpv6);
  CHECK(std::count(count.begin(), count.end(), 0u) >= 1);
  CHECK(*std::max_element(count.begin(), count.end()) >= 2);
}

TEST_CASE("switches with seeds of their own choose apart, switches with one seed alike") {
  const auto alike = [](bool same_seed) {
    const Topology t = fabric_of({Routing::kEcmp, Underlay::kIpv6, same_seed});
    uint32_t same = 0;
    for (uint32_t n = 0; n < kHashNumbers; ++n) {
      const FlowKey key = flow_of(t, 0, 2, ev_of({0, n, Chosen::kByHashIpv6}));
      const uint64_t here = ecmp_hash(key, ecmp_seed(t, t.t0(0, 0)));
      const uint64_t there = ecmp_hash(key, ecmp_seed(t, t.t1(0, 1)));
      same += here % 4 == there % 4 ? 1 : 0;
    }
    return same;
  };
  CHECK(alike(true) == kHashNumbers);
  CHECK(alike(false) > kHashNumbers / 4 - 90);  // a quarter, by chance
  CHECK(alike(false) < kHashNumbers / 4 + 90);
}

TEST_CASE(
    "when a member leaves, modulo moves most flows, a resilient group only the member's own") {
  constexpr uint64_t kFlows = 16'384;
  const auto moved = [](bool resilient) {
    const EcmpGroup before(ports(4), resilient);
    EcmpGroup after = before;
    after.set_live(PortId{2}, false);
    std::array<uint64_t, 2> count{};  // flows of the member that left, and of the others
    for (uint64_t hash = 0; hash < kFlows; ++hash) {
      const PortId was = before.choose(hash), is = after.choose(hash);
      CHECK_FALSE(is == PortId{2});
      if (!(was == is)) ++count[was == PortId{2} ? 0 : 1];
    }
    return count;
  };
  CHECK(moved(true) == std::array<uint64_t, 2>{kFlows / 4, 0});
  // 9 of 12 remainders are other members' flows, and 6 of them move.
  CHECK(moved(false)[0] == kFlows / 4);
  CHECK(moved(false)[1] >= kFlows / 2 - 4);
}

TEST_CASE("of a resilient group only the flows of who leaves move, whoever has left before") {
  for (const uint32_t members : {2u, 3u, 4u, 5u, 8u}) {
    EcmpGroup group(ports(members), true);
    for (uint32_t gone = 0; gone + 1 < members; ++gone) {
      const EcmpGroup before = group;
      group.set_live(PortId{gone}, false);
      std::vector<uint32_t> got(members);
      for (uint64_t hash = 0; hash < EcmpGroup::kBuckets; ++hash) {
        const PortId was = before.choose(hash), is = group.choose(hash);
        if (was == PortId{gone}) {
          ++got[is.value];
        } else {
          CHECK(is == was);
        }
      }
      // Not all to one of those that are left.
      const uint32_t moved = std::accumulate(got.begin(), got.end(), 0u);
      const uint32_t left = members - gone - 1;
      if (left > 1) CHECK(*std::max_element(got.begin(), got.end()) < moved);
    }
  }
}

TEST_CASE("a member that is back has its flows again, and a group may be empty") {
  for (const bool resilient : {false, true}) {
    EcmpGroup group(ports(3), resilient);
    std::vector<PortId> first;
    for (uint64_t hash = 0; hash < 999; ++hash) first.push_back(group.choose(hash));
    for (uint32_t i = 0; i < 3; ++i) group.set_live(PortId{i}, false);
    CHECK(group.empty());
    for (const uint32_t i : {2u, 0u, 1u}) group.set_live(PortId{i}, true);
    group.set_live(PortId{9}, false);  // no member
    CHECK(group.live().size() == 3);
    for (uint64_t hash = 0; hash < 999; ++hash) CHECK(group.choose(hash) == first[hash]);
  }
}

TEST_CASE("a fabric says how it routes, and its file reads back") {
  const auto routing_of = [](const std::string& line) {
    return parse_fabric(read_yaml_text("name: f\nplanes: 2\nt0: 2\nt1: 2\nhosts_per_t0: 1\n" + line,
                                       "f.yaml"))
        .routing;
  };
  CHECK(routing_of("") == RoutingChoice{});
  CHECK(routing_of("routing: ecmp\n") == kIpv6Ecmp);
  const RoutingChoice all{Routing::kEcmp, Underlay::kIpv4, true, true};
  CHECK(routing_of("routing: {default: ecmp, underlay: ipv4, hash_seed: same, resilient: on}\n") ==
        all);
  for (const RoutingChoice& choice :
       {RoutingChoice{}, kIpv6Ecmp, all, RoutingChoice{Routing::kSrv6, Underlay::kIpv4}}) {
    FabricShape shape;
    shape.name = "f";
    shape.routing = choice;
    CHECK(parse_fabric(read_yaml_text(to_yaml(shape), "f.yaml")).routing == choice);
  }
}

TEST_CASE("faults and profiles name one hashed value, by name or number") {
  const Topology t = fabric_of(kIpv6Ecmp);
  const auto read = [&](const std::string& text) {
    return read_paths(read_yaml_text(text, "f.yaml"), t);
  };
  const Path path{3, 17, Chosen::kByHashIpv6};
  CHECK(read("p3/e17") == std::vector{path});
  CHECK(read("[p0/u1, \"0x8003cc11\", p3/e17]") == std::vector{Path{0, 1}, path});
  CHECK_THROWS_AS(read("p4/e17"), InputError);
}
