#include <doctest/doctest.h>

#include "fixture.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

/// One row of the packet table: what comes in, what is decided, what would leave.
struct Row {
  const char* about;
  FrameText in;
  DropCause drop;
  uint32_t port = 0;
  const char* carrier_out = "";
  uint8_t hop_limit_out = 0;
};

void check_row(const Topology& topology, NodeId self, const Row& row) {
  INFO(row.about);
  const ForwardingTable table(topology, self);
  std::vector<uint8_t> frame = bytes_of(row.in);
  const std::vector<uint8_t> before = frame;
  const ForwardingDecision decision = table.forward(frame, {frame.size()});
  CHECK(name_of(decision.drop) == name_of(row.drop));
  if (row.drop != DropCause::kNone) {
    CHECK(frame == before);
    return;
  }
  REQUIRE(decision.port == PortId{row.port});
  CHECK(decision.dscp == row.in.dscp);
  std::vector<uint8_t> expected = before;
  const Port& port = topology.port({self, decision.port});
  const MacAddress peer = topology.port(port.peer).mac;
  std::copy(peer.begin(), peer.end(), expected.begin());
  std::copy(port.mac.begin(), port.mac.end(), expected.begin() + 6);
  expected[21] = row.hop_limit_out;
  const Ipv6Address carrier = address(row.carrier_out);
  std::copy(carrier.begin(), carrier.end(), expected.begin() + 38);
  CHECK(frame == expected);
}

constexpr DropCause kPass = DropCause::kNone;

}  // namespace

TEST_CASE("a T0 shifts its own uSID and sends to the neighbour that the next one names") {
  const Topology topology = bench_fabric();
  const NodeId t0 = topology.find_node("p1.t0-0").value();
  const Row rows[] = {
      {"up over uplink 0",
       {.carrier = "5f00:0:2100:1100:2101:e100::"},
       kPass,
       2,
       "5f00:0:1100:2101:e100::",
       63},
      {"up over uplink 1",
       {.carrier = "5f00:0:2100:1101:2101:e100::"},
       kPass,
       3,
       "5f00:0:1101:2101:e100::",
       63},
      {"down to a NIC port", {.carrier = "5f00:0:2100:e101::"}, kPass, 1, "5f00:0:e101::", 63},
      {"down to a host's kernel", {.carrier = "5f00:0:2100:f100::"}, kPass, 0, "5f00:0:f100::", 63},
      {"a full carrier of six",
       {.carrier = "5f00:0:2100:1100:2100:1101:2100:e100"},
       kPass,
       2,
       "5f00:0:1100:2100:1101:2100:e100:0",
       63},
      {"the smallest frame",
       {.carrier = "5f00:0:2100:e100::", .size = 54},
       kPass,
       0,
       "5f00:0:e100::",
       63},
      {"hop limit 2 still leaves",
       {.carrier = "5f00:0:2100:e100::", .hop_limit = 2},
       kPass,
       0,
       "5f00:0:e100::",
       1},
      {"the own uSID twice is consumed twice",
       {.carrier = "5f00:0:2100:2100:e100::"},
       kPass,
       0,
       "5f00:0:e100::",
       62},
      {"not shifted: a direct neighbour's uSID is active",
       {.carrier = "5f00:0:1101:2101:e100::"},
       kPass,
       3,
       "5f00:0:1101:2101:e100::",
       63},
      {"not shifted: a host's uSID is active",
       {.carrier = "5f00:0:e100::"},
       kPass,
       0,
       "5f00:0:e100::",
       63},
      {"DSCP is handed on",
       {.carrier = "5f00:0:2100:e100::", .dscp = kDscpControl},
       kPass,
       0,
       "5f00:0:e100::",
       63},
  };
  for (const Row& row : rows) check_row(topology, t0, row);
}

TEST_CASE("a T1 knows every T0 of its plane and nothing else") {
  const Topology topology = bench_fabric();
  const NodeId t1 = topology.find_node("p1.t1-1").value();
  const Row rows[] = {
      {"to T0 0", {.carrier = "5f00:0:1101:2100:e100::"}, kPass, 0, "5f00:0:2100:e100::", 63},
      {"to T0 1", {.carrier = "5f00:0:1101:2101:e100::"}, kPass, 1, "5f00:0:2101:e100::", 63},
      {"a T0 of another plane", {.carrier = "5f00:0:1101:2001:e000::"}, DropCause::kUnknownUsid},
      {"another T1", {.carrier = "5f00:0:1100:2101:e100::"}, DropCause::kUnknownUsid},
      {"a host", {.carrier = "5f00:0:1101:e100::"}, DropCause::kUnknownUsid},
  };
  for (const Row& row : rows) check_row(topology, t1, row);
  CHECK(ForwardingTable(topology, t1).size() == 2);
}

TEST_CASE("what cannot be forwarded is refused under its own name and left as it came") {
  const Topology topology = bench_fabric();
  const NodeId t0 = topology.find_node("p1.t0-0").value();
  const Row rows[] = {
      {"next uSID unknown", {.carrier = "5f00:0:2100:1107:2101:e100::"}, DropCause::kUnknownUsid},
      {"active uSID unknown", {.carrier = "5f00:0:2101:e100::"}, DropCause::kUnknownUsid},
      {"active uSID of another plane", {.carrier = "5f00:0:2000:1000::"}, DropCause::kUnknownUsid},
      {"a downlink nobody has", {.carrier = "5f00:0:2100:e102::"}, DropCause::kUnknownUsid},
      {"active uSID zero", {.carrier = "5f00:0:0:2100:e100::"}, DropCause::kUnknownUsid},
      {"a hole behind the own uSID", {.carrier = "5f00:0:2100:0:e100::"}, DropCause::kUnknownUsid},
      {"own uSID, nothing behind it", {.carrier = "5f00:0:2100::"}, DropCause::kEndOfCarrier},
      {"six times the own uSID",
       {.carrier = "5f00:0:2100:2100:2100:2100:2100:2100"},
       DropCause::kEndOfCarrier},
      {"hop limit 1", {.carrier = "5f00:0:2100:e100::", .hop_limit = 1}, DropCause::kHopLimit},
      {"hop limit 0", {.carrier = "5f00:0:2100:e100::", .hop_limit = 0}, DropCause::kHopLimit},
      {"hop limit 1, not shifted",
       {.carrier = "5f00:0:e100::", .hop_limit = 1},
       DropCause::kHopLimit},
      {"hop limit runs out at the second own uSID",
       {.carrier = "5f00:0:2100:2100:e100::", .hop_limit = 2},
       DropCause::kHopLimit},
      {"another block", {.carrier = "5f00:1:2100:e100::"}, DropCause::kForeignCarrier},
      {"an address that no host has", {.carrier = "fd00:7:0::1"}, DropCause::kForeignCarrier},
      {"multicast", {.carrier = "ff02::1"}, DropCause::kForeignCarrier},
  };
  for (const Row& row : rows) check_row(topology, t0, row);
}

TEST_CASE("malformed frames and other protocols are refused whatever their length") {
  const Topology topology = bench_fabric();
  const ForwardingTable table(topology, topology.find_node("p0.t0-0").value());
  const auto verdict = [&](std::vector<uint8_t> frame) {
    return table.forward(frame, {frame.size()}).drop;
  };
  std::vector<uint8_t> good = bytes_of({.size = 200});
  CHECK(verdict(good) == DropCause::kNone);
  for (size_t size = 0; size < good.size(); ++size) {
    INFO(size);
    CHECK(verdict({good.begin(), good.begin() + static_cast<ptrdiff_t>(size)}) ==
          DropCause::kMalformed);
  }
  std::vector<uint8_t> padded = good;
  padded.resize(260);  // Ethernet padding behind the packet is legal
  CHECK(verdict(padded) == DropCause::kNone);
  std::vector<uint8_t> arp = good;
  arp[12] = 0x08, arp[13] = 0x06;
  CHECK(verdict(arp) == DropCause::kNotIpv6);
  CHECK(verdict({arp.begin(), arp.begin() + 14}) == DropCause::kNotIpv6);
  std::vector<uint8_t> version4 = good;
  version4[14] = 0x45;
  CHECK(verdict(version4) == DropCause::kMalformed);
  std::vector<uint8_t> too_long = good;
  ++too_long[19];
  CHECK(verdict(too_long) == DropCause::kMalformed);
}

TEST_CASE("a frame whose payload is elided is judged by its modelled length") {
  const Topology topology = bench_fabric();
  const ForwardingTable table(topology, topology.find_node("p0.t0-0").value());
  std::vector<uint8_t> frame = bytes_of({.size = 4226});
  frame.resize(200);
  CHECK(table.forward(frame, {4226}).drop == DropCause::kNone);
  frame = bytes_of({.size = 4226});
  frame.resize(200);
  CHECK(table.forward(frame, {4225}).drop == DropCause::kMalformed);
}

TEST_CASE("the table of a T0 holds its uplinks and two uSIDs per host, as the paths name them") {
  const Topology topology = bench_fabric();
  const ForwardingTable table(topology, topology.find_node("p1.t0-1").value());
  CHECK(table.own() == topology.usids.make(UsidRole::kT0, 1, 1));
  CHECK(table.size() == 2 + 2 * 2);
  CHECK(table.next_hop(topology.usids.make(UsidRole::kT1, 1, 1)) == kU1);
  CHECK(table.next_hop(topology.usids.make(UsidRole::kNicPort, 1, 0)) == kD0);
  CHECK(table.next_hop(topology.usids.make(UsidRole::kHostKernel, 1, 1)) == kD1);
  CHECK_FALSE(table.next_hop(table.own()).has_value());
  CHECK_FALSE(table.next_hop(Usid{0}).has_value());
}

TEST_CASE("carriers of every pair, path and role lead through the tables to the right host") {
  const Topology topology = bench_fabric();
  size_t delivered = 0;
  for (uint32_t from = 0; from < topology.host_count(); ++from) {
    for (uint32_t to = 0; to < topology.host_count(); ++to) {
      const bool local = topology.host_row(from) == topology.host_row(to);
      for (uint32_t plane = 0; plane < 2; ++plane) {
        for (uint32_t uplink = 0; uplink < (local ? 1u : 2u); ++uplink) {
          for (const UsidRole role : {UsidRole::kNicPort, UsidRole::kHostKernel}) {
            const Path path{plane, local ? kT0LocalUplink : uplink};
            const Ipv6Address carrier = make_carrier(topology, from, to, path, role);
            std::vector<uint8_t> frame = bytes_of({.size = 100});
            std::copy(carrier.begin(), carrier.end(), frame.begin() + 38);
            PortRef at = topology.port({topology.host(from), PortId{plane}}).peer;
            for (int hop = 0; hop < (local ? 1 : 3); ++hop) {
              const ForwardingTable table(topology, at.node);
              const ForwardingDecision decision = table.forward(frame, {frame.size()});
              REQUIRE(decision.drop == DropCause::kNone);
              at = topology.port({at.node, decision.port}).peer;
            }
            CHECK(at == PortRef{topology.host(to), PortId{plane}});
            Ipv6Address last;
            std::copy_n(frame.begin() + 38, 16, last.begin());
            CHECK(active_usid(last) ==
                  topology.usids.make(role, plane, topology.host_downlink(to)));
            CHECK(end_of_carrier(last));
            ++delivered;
          }
        }
      }
    }
  }
  CHECK(delivered == 8 * 2 * 2 + 8 * 2 * 2 * 2);
}
