// LLDP frames as bytes, ours and others', and what a node makes of them.

#include <doctest/doctest.h>

#include <vector>

#include "fabric/neighbours/neighbour_agent.h"
#include "fabric/packet/header_values.h"
#include "fabric/topology/fabric_file.h"

using namespace mrclab;

namespace {

using FrameBytes = std::vector<uint8_t>;

Topology wired(const std::string& more = "") {
  return build_topology(parse_fabric(read_yaml_text(
      "name: f\nplanes: 1\nt0: 2\nt1: 2\nhosts_per_t0: 1\norchestrator: {period: 10us}\n" + more,
      "f")));
}

PortRef port_named(const Topology& topology, const char* name) {
  return topology.find_port(name).value();
}

FrameBytes ours(const Topology& topology, const char* port, const LldpService& service = {}) {
  FramePool pool(4);
  const Frame frame = make_lldp(pool, topology, port_named(topology, port), kLldpTtl_s, service);
  return {frame.bytes().begin(), frame.bytes().end()};
}

/// Ethernet header and TLVs, each given as type and value.
FrameBytes with_tlvs(const std::vector<std::pair<int, std::string>>& tlvs) {
  FrameBytes bytes{1, 0x80, 0xC2, 0, 0, 0xE, 2, 0, 0, 0, 0, 1, 0x88, 0xCC};
  for (const auto& [type, value] : tlvs) {
    bytes.push_back(static_cast<uint8_t>(type << 1 | static_cast<int>(value.size() >> 8)));
    bytes.push_back(static_cast<uint8_t>(value.size()));
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
  return bytes;
}

const std::pair<int, std::string> kMac{1, std::string("\x04\x00\x11\x22\x33\x44\x55", 7)};
const std::pair<int, std::string> kName{2,
                                        "\x05"
                                        "eth7"};
const std::pair<int, std::string> kLife{3, std::string("\x00\x78", 2)};

}  // namespace

TEST_CASE("an LLDP frame is read back as it was written, and has a simulator's room") {
  const Topology topology = wired();
  LldpService service{false, {}};
  service.unused[0] = service.unused[255] = true;
  const FrameBytes bytes = ours(topology, "p0.t0-1:u1", service);
  CHECK(bytes.size() == kLldpFrameBytes);
  CHECK(bytes.size() <= kHeaderRoom.frame);
  LldpFrame read;
  REQUIRE(parse_lldp(bytes, read) == LldpError::kNone);
  CHECK(sender_of(read) == "p0.t0-1:u1");
  CHECK(read.ttl_s == 121);
  CHECK(read.ours);
  CHECK(read.service == service);
  CHECK(std::equal(bytes.begin() + 6, bytes.begin() + 12,
                   topology.port(port_named(topology, "p0.t0-1:u1")).mac.begin()));
}

TEST_CASE(
    "frames of others are read by name or by address; what breaks a rule of 802.1AB is refused") {
  LldpFrame read;  // it points into the frame
  const FrameBytes by_address = with_tlvs({kMac, kName, kLife});
  REQUIRE(parse_lldp(by_address, read) == LldpError::kNone);
  CHECK(sender_of(read) == "00:11:22:33:44:55:eth7");
  CHECK_FALSE(read.ours);
  const FrameBytes by_name = with_tlvs({kMac,
                                        {2,
                                         "\x03"
                                         "ab"},
                                        kLife,
                                        {5, "leaf\x1b[1m"},
                                        {0, ""}});
  REQUIRE(parse_lldp(by_name, read) == LldpError::kNone);
  CHECK(sender_of(read) == "leaf\\x1b[1m:61:62");
  using Tlvs = std::vector<std::pair<int, std::string>>;
  for (const auto& [tlvs, error] : std::vector<std::pair<Tlvs, LldpError>>{
           {{kMac, kLife, kName}, LldpError::kOrder},
           {{kMac, kName, kLife, kName}, LldpError::kOrder},
           {{kMac, kName}, LldpError::kTooShort},
           {{kMac, kName, {0, ""}}, LldpError::kOrder},
           {{kMac, kName, {3, "x"}}, LldpError::kBadLength},
           {{{1, "\x04"}, kName, kLife}, LldpError::kBadLength},
           {{kMac, kName, kLife, {0, "x"}}, LldpError::kBadLength},
           {{kMac, kName, kLife, {5, ""}}, LldpError::kBadLength},
           {{kMac, kName, kLife, {127, "abc"}}, LldpError::kBadLength},
           {{kMac, kName, kLife, {127, "\x02MC\x01x"}}, LldpError::kBadLength}}) {
    CHECK(parse_lldp(with_tlvs(tlvs), read) == error);
  }
  const Topology topology = wired();
  const FrameBytes whole = ours(topology, "h0:p0");
  for (size_t cut = 0; cut < whole.size();
       ++cut) {  // any beginning of it, in memory of just that size
    const FrameBytes part(whole.begin(), whole.begin() + static_cast<long>(cut));
    parse_lldp(part, read);
  }
  FrameBytes elsewhere = whole;
  elsewhere[5] = 0x42;
  CHECK(parse_lldp(elsewhere, read) == LldpError::kNotLldp);
}

TEST_CASE("an agent sends at once and once a period, and reports who comes, changes and goes") {
  const Topology topology = wired();
  const PortRef up = port_named(topology, "p0.t0-0:u0");
  NeighbourAgent agent(topology, up.node);
  const auto us = [](int64_t n) { return FabricTime::from_us(n); };
  agent.start(us(0));
  CHECK(agent.run(us(0)).size() == 3);
  CHECK(agent.run(us(5)).empty());
  CHECK(agent.deadline() == us(10));
  CHECK(agent.may_use(up.port));  // nothing is known yet
  CHECK_FALSE(agent.has_heard_all());
  agent.receive(up.port, ours(topology, "p0.t1-0:d0"), us(1));
  agent.receive(up.port, ours(topology, "p0.t1-0:d0"), us(2));
  CHECK(agent.may_use(up.port));
  agent.receive(up.port, ours(topology, "p0.t1-1:d0"), us(3));
  CHECK_FALSE(agent.may_use(up.port));
  CHECK(agent.unused_uplinks().count() == 1);
  CHECK(agent.run(us(10)).size() == 3);
  for (int64_t t = 20; t <= 50; t += 10) agent.run(us(t));  // 3 us + 4.03 periods: forgotten
  const std::vector<NeighbourNews> news = agent.take_news();
  REQUIRE(news.size() == 3);
  CHECK(news[0].who == "p0.t1-0:d0");
  CHECK(news[1].kind == NeighbourNews::Kind::kChanged);
  CHECK(news[1].who == "p0.t1-1:d0");
  CHECK(news[2].kind == NeighbourNews::Kind::kGone);
  CHECK(agent.receive(up.port, FrameBytes{1, 2, 3}, us(60)) == LldpError::kNotLldp);
  CHECK(agent.malformed() == 1);
}

TEST_CASE("a switch that does not forward is not used, nor one that was dark, until it is heard") {
  const Topology topology = wired();
  const PortRef up = port_named(topology, "p0.t0-0:u0");
  NeighbourAgent agent(topology, up.node);
  const FabricTime t = FabricTime::from_us(1);
  agent.start(t);
  agent.run(t);
  agent.receive(up.port, ours(topology, "p0.t1-0:d0", {false, {}}), t);
  CHECK_FALSE(agent.may_use(up.port));
  // Only the planned neighbour is heeded.
  agent.receive(PortId{0}, ours(topology, "h1:p0", {false, {}}), t);
  CHECK(agent.service_at(PortId{0}).forwards);
  agent.receive(up.port, ours(topology, "p0.t1-0:d0"), t);
  CHECK(agent.may_use(up.port));
  agent.set_light(up.port, false, t);
  agent.set_light(up.port, true, t);
  CHECK_FALSE(agent.may_use(up.port));
  CHECK(agent.deadline() == t);  // it names itself at once
  CHECK(agent.run(t) == std::vector{up.port});
}
