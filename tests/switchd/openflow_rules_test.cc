// A switch as OpenFlow rules, and their counters read back.

#include "switchd/openflow_rules.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "fabric/topology/topology.h"

namespace mrclab::switchd {
namespace {

//   h0 h1 -- t0-0 -- t1-{0,1} -- t0-1 -- h2 h3
Topology two_rows() {
  FabricShape shape;
  shape.t0 = shape.t1 = shape.hosts_per_t0 = 2;
  return build_topology(shape);
}

bool has_rule(const std::vector<std::string>& rules, std::string_view text) {
  return std::any_of(rules.begin(), rules.end(),
                     [&](const std::string& rule) { return rule.find(text) != std::string::npos; });
}

TEST_CASE("a T0 shifts its own uSID and knows a way to every uSID behind its ports") {
  const Topology topology = two_rows();
  const NodeId t0 = topology.t0(0, 1);
  const std::vector<std::string> rules = openflow_rules(topology, t0);
  CHECK(has_rule(rules, "priority=300,ipv6,ipv6_dst=5f00:0:2001::/128,actions=drop"));
  CHECK(has_rule(rules,
                 "priority=200,ipv6,ipv6_dst=5f00:0:2001::/48,actions=move:"
                 "NXM_NX_IPV6_DST[0..79]->NXM_NX_IPV6_DST[16..95]"));
  for (uint32_t i = 0; i < topology.node(t0).ports.size(); ++i) {
    const Port& port = topology.node(t0).ports[i];
    CHECK(has_rule(rules, "mod_dl_dst:" + to_string(topology.port(port.peer).mac) +
                              ",load:0->NXM_OF_IN_PORT[],output:" + std::to_string(i + 1)));
  }
  CHECK(has_rule(rules, "table=1,priority=0,actions=drop"));
}

TEST_CASE("a host without a carrier is behind a port, or behind a group that hashes") {
  for (const Underlay underlay : {Underlay::kIpv6, Underlay::kIpv4}) {
    Topology topology = two_rows();
    topology.routing.underlay = underlay;
    const bool ipv4 = underlay == Underlay::kIpv4;
    const NodeId t0 = topology.t0(0, 1), t1 = topology.t1(0, 0);
    const std::vector<std::string> rules = openflow_rules(topology, t0);
    const std::string h3 = ipv4 ? "ip,nw_dst=10.0.0.3," : "ipv6,ipv6_dst=fd00:1::3,";
    const std::string h0 = ipv4 ? "ip,nw_dst=10.0.0.0," : "ipv6,ipv6_dst=fd00::,";
    CHECK(has_rule(rules, h3 + "actions=dec_ttl,mod_dl_src:"));
    CHECK(has_rule(rules, h0 + "actions=dec_ttl,group:1"));
    CHECK_FALSE(has_rule(openflow_rules(topology, t1), "group:"));
    CHECK(has_rule(openflow_rules(topology, t1), h3 + "actions=dec_ttl,mod_dl_src:"));
    CHECK(openflow_groups(topology, t1).empty());
    const std::vector<std::string> groups = openflow_groups(topology, t0);
    REQUIRE(groups.size() == 1);
    CHECK(has_rule(groups, "group_id=1,type=select,selection_method=hash,fields("));
    CHECK(has_rule(groups, "udp_src"));
    CHECK(has_rule(groups, "ipv6_label") == !ipv4);
    CHECK(has_rule(groups, ",bucket=bucket_id:1,watch_port:4,actions=mod_dl_src:"));
  }
}

TEST_CASE("counters are read by cookie, and what is no rule of ours is left out") {
  const std::string text =
      "OFPST_FLOW reply (OF1.5) (xid=0x2):\n"
      " cookie=0x12001, duration=6.9s, table=0, n_packets=3, n_bytes=534, priority=200,ipv6\n"
      " cookie=0x41100, duration=6.9s, table=1, n_packets=2, n_bytes=356, priority=100,ipv6\n"
      " cookie=0x0, duration=1s, table=0, n_packets=9, n_bytes=9, priority=1 actions=drop\n"
      " cookie=0x5, table=0, n_packets=, n_bytes=1\n";
  const std::vector<RuleCounter> counters = parse_rule_counters(text);
  REQUIRE(counters.size() == 2);
  CHECK(counters[0].kind == RuleKind::kOwnUsid);
  CHECK(counters[0].usid.value == 0x2001);
  CHECK(counters[1].kind == RuleKind::kNextUsid);
  CHECK(counters[1].packets == 2);
  CHECK(counters[1].bytes == 356);
  const auto host = parse_rule_counters(
      "cookie=0x80005, duration=1s, table=0, n_packets=4, n_bytes=9, actions=dec_ttl,group:1");
  REQUIRE(host.size() == 1);
  CHECK(host[0].kind == RuleKind::kHost);
  CHECK(host[0].group);
  CHECK_FALSE(counters[1].group);
  CHECK(parse_rule_counters("").empty());
  CHECK(parse_rule_counters("cookie=0xffffffffffffffffff table=0 n_packets=1 n_bytes=1").empty());
}

}  // namespace
}  // namespace mrclab::switchd
