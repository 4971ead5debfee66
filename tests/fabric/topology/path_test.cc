// EV <-> path <-> carrier (MRC paper §2.2-2.3) and the uSID chain (RFC 9800 §4.1.1).

#include "fabric/topology/path.h"
#include "fabric/paths/path_list.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>

#include <set>

#include "tests/support/bytes.h"
#include "tests/support/fabrics.h"
#include "tests/support/property.h"

using namespace mrclab;
using namespace mrclab::test;

namespace {

Ipv6Address address_of(std::string_view hex) {
  const std::vector<uint8_t> bytes = from_hex(hex);
  Ipv6Address address{};
  REQUIRE(bytes.size() == address.size());
  std::copy(bytes.begin(), bytes.end(), address.begin());
  return address;
}

}  // namespace

TEST_CASE("the example carrier: plane 3, T0 5 over T1 7 to T0 9, host port 2") {
  const Topology t = build_topology(shape_of("big", 4, 10, 8, 3));
  const uint32_t source = 5 * 3 + 1, destination = 9 * 3 + 2;
  const Ipv6Address carrier = make_carrier(t, source, destination, Path{3, 7});
  CHECK(to_string(carrier) == "5f00:0:2305:1307:2309:e302::");
  CHECK(carrier == address_of("5f00 0000 2305 1307 2309 e302 0000 0000"));
  CHECK(to_string(make_carrier(t, source, destination, Path{3, 7}, UsidRole::kHostKernel)) ==
        "5f00:0:2305:1307:2309:f302::");
  CHECK(parse_carrier(t, carrier) == CarrierRoute{5, 9, 2, UsidRole::kNicPort, Path{3, 7}});
}

TEST_CASE("a T0-local carrier is the T0 and the port, and only the plane varies") {
  const Topology t = octet();
  CHECK(to_string(make_carrier(t, 0, 3, Path{2, kT0LocalUplink})) == "5f00:0:2200:e203::");
}

TEST_CASE("each switch takes one uSID off the carrier, as the Linux kernel does") {
  // Destination addresses that tcpdump showed at each ingress of a chain leaf, spine, leaf, host of
  // Linux 6.18 network namespaces with End next-csid (32+16).
  Ipv6Address da = address_of("5f00 0000 0100 0500 0300 0a03 0000 0000");
  CHECK(to_string(da) == "5f00:0:100:500:300:a03::");
  CHECK(active_usid(da) == Usid{0x0100});
  shift_carrier(da);
  CHECK(da == address_of("5f00 0000 0500 0300 0a03 0000 0000 0000"));
  CHECK(to_string(da) == "5f00:0:500:300:a03::");
  shift_carrier(da);
  CHECK(da == address_of("5f00 0000 0300 0a03 0000 0000 0000 0000"));
  CHECK(to_string(da) == "5f00:0:300:a03::");
  CHECK_FALSE(end_of_carrier(da));
  shift_carrier(da);
  CHECK(da == address_of("5f00 0000 0a03 0000 0000 0000 0000 0000"));
  CHECK(to_string(da) == "5f00:0:a03::");
  CHECK(end_of_carrier(da));
  shift_carrier(da);
  CHECK(active_usid(da) == Usid{0});  // CSID 0 is reserved: end of container
}

TEST_CASE("k shifts drop k uSIDs, fill with zeros and leave the block alone") {
  CHECK(counterexample([] {
          const auto usids =
              *rc::gen::container<std::array<uint16_t, 6>>(rc::gen::arbitrary<uint16_t>());
          Ipv6Address carrier{0x5f, 0x00, 0x00, 0x00};
          for (size_t i = 0; i < usids.size(); ++i) {
            carrier[4 + 2 * i] = static_cast<uint8_t>(usids[i] >> 8);
            carrier[5 + 2 * i] = static_cast<uint8_t>(usids[i]);
          }
          for (size_t k = 0; k <= usids.size(); ++k) {
            RC_ASSERT(in_usid_block(carrier));
            RC_ASSERT(active_usid(carrier).value == (k < usids.size() ? usids[k] : 0));
            bool empty = true;
            for (size_t i = k + 1; i < usids.size(); ++i) empty = empty && usids[i] == 0;
            RC_ASSERT(end_of_carrier(carrier) == empty);
            shift_carrier(carrier);
          }
        }) == "");
}

TEST_CASE("EV, path and carrier are one to one over all pairs of octet") {
  const Topology t = octet();
  size_t carriers = 0;
  for (uint32_t from = 0; from < t.host_count(); ++from) {
    for (uint32_t to = 0; to < t.host_count(); ++to) {
      if (from == to) continue;
      std::set<Ipv6Address> seen;
      std::set<EntropyValue> evs;
      for (const Path path : paths_between(t, from, to)) {
        const EntropyValue ev = ev_of(path);
        CHECK(evs.insert(ev).second);
        CHECK(path_of(ev) == path);
        const Ipv6Address carrier = make_carrier(t, from, to, path);
        CHECK(seen.insert(carrier).second);
        const auto route = parse_carrier(t, carrier);
        REQUIRE(route);
        CHECK(route->path == path);
        CHECK(route->source_row == t.host_row(from));
        CHECK(route->destination_row == t.host_row(to));
        CHECK(route->downlink == t.host_downlink(to));
        ++carriers;
      }
      CHECK(seen.size() == (t.host_row(from) == t.host_row(to) ? 8u : 32u));
    }
  }
  CHECK(carriers == 8 * 3 * 8 + 8 * 4 * 32);
}

TEST_CASE("the carrier leads through the topology along the links of its path") {
  const Topology t = octet();
  Ipv6Address da = make_carrier(t, 1, 6, Path{3, 2});
  NodeId at = t.port({t.host(1), PortId{3}}).peer.node;
  for (int hop = 0; hop < 3; ++hop) {
    const auto own = t.usids.parse(active_usid(da));
    REQUIRE(own);
    CHECK(own->plane == t.node(at).plane);
    CHECK(own->index == t.node(at).index);
    CHECK((own->role == UsidRole::kT0) == (t.node(at).role == NodeRole::kT0));
    shift_carrier(da);
    const auto next = t.usids.parse(active_usid(da));
    REQUIRE(next);
    const std::string name = t.node(at).role == NodeRole::kT0 && hop == 0
                                 ? "u" + std::to_string(next->index)
                                 : "d" + std::to_string(next->index);
    const auto port = t.find_port(t.node(at).name + ":" + name);
    REQUIRE(port);
    at = t.port(*port).peer.node;
  }
  CHECK(at == t.host(6));
  CHECK(end_of_carrier(da));
}

TEST_CASE("the low half of an EV is a source port that RoCEv2 senders use") {
  CHECK(ev_of({3, 1}) == EntropyValue{0x0003'C001});
  CHECK(ev_of({2, kT0LocalUplink}) == EntropyValue{0x0002'FFFF});
  CHECK_FALSE(path_of({0x0003'0001}));  // set bits missing
  CHECK_FALSE(path_of({0x0103'C001}));  // high byte not zero
}

TEST_CASE("a carrier with anything wrong is none of this fabric's") {
  const Topology t = octet();
  const std::string_view wrong[] = {
      "5f01 0000 2301 1302 2301 e302 0000 0000",  // another block
      "5f00 0000 2802 1302 2301 e302 0000 0000",  // no plane 8
      "5f00 0000 2302 1302 2301 e302 0000 0000",  // no T0 2
      "5f00 0000 2300 1304 2301 e302 0000 0000",  // no T1 4
      "5f00 0000 2300 1302 2301 e304 0000 0000",  // no downlink 4
      "5f00 0000 2300 1402 2301 e302 0000 0000",  // two planes
      "5f00 0000 2300 1302 2301 e402 0000 0000",  // two planes
      "5f00 0000 2300 1302 2301 e302 0001 0000",  // something behind the end
      "5f00 0000 2300 1302 2301 0000 0000 0000",  // no host port
      "5f00 0000 1302 2301 e302 0000 0000 0000",  // shifted already
      "5f00 0000 e302 0000 0000 0000 0000 0000",  // shifted to the end
      "5f00 0000 0000 0000 0000 0000 0000 0000",
  };
  for (const std::string_view text : wrong) {
    CAPTURE(text);
    CHECK_FALSE(parse_carrier(t, address_of(text)));
  }
}

TEST_CASE("no carrier is made for a path or host that the fabric does not have") {
  const Topology t = octet();
  CHECK(make_carrier(t, 0, 8, Path{0, 0}) == Ipv6Address{});
  CHECK(make_carrier(t, 8, 0, Path{0, 0}) == Ipv6Address{});
  CHECK(make_carrier(t, 0, 7, Path{8, 0}) == Ipv6Address{});
  CHECK(make_carrier(t, 0, 7, Path{0, 4}) == Ipv6Address{});
  CHECK(make_carrier(t, 0, 7, Path{0, kT0LocalUplink}) == Ipv6Address{});
}

TEST_CASE("a carrier that parses is the one that is made from what it says") {
  const Topology t = octet();
  CHECK(counterexample(
            [&t] {
              Ipv6Address carrier =
                  make_carrier(t, *rc::gen::inRange(0u, 8u), *rc::gen::inRange(0u, 8u),
                               Path{*rc::gen::inRange(0u, 8u), *rc::gen::inRange(0u, 4u)});
              for (int n = *rc::gen::inRange(0, 3); n > 0; --n) {
                carrier[*rc::gen::inRange(0, 16)] = *rc::gen::inRange<uint8_t>(0, 16);
              }
              const auto route = parse_carrier(t, carrier);
              if (!route) return;
              const uint32_t from = route->source_row * t.hosts_per_t0;
              const uint32_t to = route->destination_row * t.hosts_per_t0 + route->downlink;
              RC_ASSERT(make_carrier(t, from, to, route->path, route->role) == carrier);
            },
            5000) == "");
}

TEST_CASE("a path is written p2/u0 or p2/- and read back, and nothing else is read") {
  for (const Path path : {Path{0, 0}, Path{2, 17}, Path{255, 0x3FFE}, Path{7, kT0LocalUplink}}) {
    CHECK(parse_path(to_string(path)) == path);
  }
  CHECK(to_string(Path{2, 0}) == "p2/u0");
  CHECK(to_string(Path{2, kT0LocalUplink}) == "p2/-");
  for (const char* text :
       {"", "p", "p/", "/", "p1", "p1/", "p1/u", "p1/x3", "1/u3", "p1/u-3", "p01/u3", "p1/u03",
        "p+1/u3", "p256/u0", "p1/u16383", "p1/u3 ", "p1/--", "p99999999999/u1"}) {
    CAPTURE(text);
    CHECK_FALSE(parse_path(text));
  }
}

TEST_CASE("a host has one address, the same in every plane") {
  const Topology t = octet();
  CHECK(to_string(host_address(t, 0)) == "fd00::");
  CHECK(to_string(host_address(t, 3)) == "fd00::3");
  CHECK(to_string(host_address(t, 5)) == "fd00:1::5");
  for (uint32_t h = 0; h < t.host_count(); ++h) CHECK(host_of_address(t, host_address(t, h)) == h);
  CHECK_FALSE(host_of_address(t, address_of("fd00 0000 0000 0000 0000 0000 0000 0005")));  // row 1
  CHECK_FALSE(host_of_address(t, address_of("fd00 0002 0000 0000 0000 0000 0000 0008")));
  CHECK_FALSE(host_of_address(t, address_of("fd00 0001 0000 0000 0000 0001 0000 0005")));
}
