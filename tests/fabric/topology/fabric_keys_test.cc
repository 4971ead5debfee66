#include "fabric/topology/keys/fabric_keys.h"

#include <doctest/doctest.h>

#include "fabric/topology/fabric_file.h"

namespace mrclab {
namespace {

// Everything that a fabric can say, each thing as it is not by itself.
constexpr const char* kRegular = R"(
name: whole
planes: 2
t0: 2
t1: 3
hosts_per_t0: 4
address_plan: full
decap: leaf
segments: adjacency
host_rate: 50Gb/s
fabric_rate: 200Gb/s
link_rates: [{links: "p*.t0-*:u1", rate: 25Gb/s}]
propagation: 400ns
switch_latency: 600ns
switching: cut_through
host_latency: 650ns
nics_per_node: 2
pmtu: 2048
optics: {t0_downlinks: 2, t0_uplinks: 3}
line_cards: {ports: 8}
power_zones: {feed-a: ["p0.*"], feed-b: ["h0", "p1.t1-0"]}
forwarding: {all: switchd, "p1": kernel}
routing: {default: fare, spray: flow, delays: frr, bfd: 50us, nics: wanted, ready: 150us, hash_seed: same}
speaker: {"p1": frr}
wires: veth
ecn: {min: 0.300, max: 0.900, last_hop: on}
trim: {threshold: 1.100, last_hop: 1.600}
queues: {control: 1.100, trimmed: 1.200, tail_drop: 2.200}
dscp: {no_trim: 1, trimmable: 5, trimmable_retx: 9, trimmed: 13, trimmed_last_hop: 17, control: 47, lossless: 27, cnp: 49}
roce: {pfc: on, adaptive_routing: off, red: {min: 0.500, max: 1.500, most: 30%}, tail_drop: 3.500, asic: tomahawk5, buffer: 2.500, alpha: 0.250, mrc_buffer: shared, watchdog: {detect: 200us, restore: 300us, action: forward}}
nic: {name: slow, port_down_delay: 10us, port_up_delay: 11us, remap_down: [1us, 5us], remap_up: [1us, 2us]}
mapper: {period: 12rtt, probes: [t0, cross], form: stamp, timeout: 40us}
denylist: {deny: off, clean: 5, static: ["p0.t0-0:u1"]}
orchestrator: {period: 5rtt, provisioning: 20us, check: off}
miscabled: [["p0.t0-0:u0", "p0.t0-0:u2"]]
authorise: nic
tenants: {a: ["h[0-1]"], b: ["h2", "h3"]}
)";
constexpr const char* kListed =
    "\nswitches: {leaf1: \"0100\", leaf2: \"0200\", spine5: \"0500\"}\n"
    "hosts: [[leaf1, leaf2], [leaf2, leaf1]]\n"
    "links: {leaf1: [spine5], leaf2: [spine5]}\n";

constexpr const char* kPods =
    "\nplanes: 1\nt0: 2\nt1: 2\nhosts_per_t0: 1\npods: 2\nt2: 1\nt2_links: mesh\n";

std::string written_back(const std::string& text) {
  return "\n" + to_yaml(parse_fabric(read_yaml_text(text, "f")));
}

TEST_CASE("every key of a fabric is written as it was read") {
  CHECK(written_back(kRegular) == kRegular);
  const std::string listed = written_back("name: listed" + std::string(kListed));
  CHECK(listed.starts_with("\nname: listed" + std::string(kListed)));
  const std::string pods = written_back("name: pods" + std::string(kPods));
  CHECK(pods.starts_with("\nname: pods" + std::string(kPods)));
  const std::string all = kRegular + listed + pods;
  for (const ValueForm::Key& key : fabric_form().keys) {
    if (key.name == "about") continue;  // for the people who read the file
    CAPTURE(key.name);
    CHECK(all.find("\n" + key.name + ": ") != std::string::npos);
  }
}

TEST_CASE("a fabric with ECMP writes what ECMP has, one that lists no more a word") {
  const std::string planes = "name: a\nplanes: 2\nt0: 1\nt1: 0\nhosts_per_t0: 2\nrouting: ";
  for (const char* routing :
       {"srv6", "ecmp", "{default: ecmp, underlay: ipv4, hash_seed: per_switch, resilient: on}"}) {
    CAPTURE(routing);
    CHECK(written_back(planes + routing).find("\nrouting: " + std::string(routing) + "\n") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace mrclab
