#include <doctest/doctest.h>
#include <map>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/pattern.h"
#include "tests/support/errors.h"
#include "tests/support/shipped_fabric.h"

using namespace mrclab;

namespace {

const std::string kSmall = "name: x\nplanes: 2\nt0: 2\nt1: 1\nhosts_per_t0: 1\n";

FabricShape shape_in(const std::string& text, uint64_t max_nodes = kMaxNodes) {
  return parse_fabric(read_yaml_text(text, "f.yaml"), max_nodes);
}

std::string error_with(const std::string& more) {
  return test::error_of([&] { build_topology(shape_in(kSmall + more)); });
}

}  // namespace

TEST_CASE("the three fabrics have the sizes that their files say") {
  const Topology octet = read_fabric_file(test::shipped_fabric("octet"));
  CHECK(octet.nodes.size() == 56);
  CHECK(octet.links.size() == 128);
  CHECK(octet.host_count() == 8);
  const Topology pair = read_fabric_file(test::shipped_fabric("pair"));
  CHECK(pair.planes == 2);
  CHECK(pair.host_count() == 2);
  CHECK(pair.host_row(0) != pair.host_row(1));  // so a packet crosses three switches
  const Topology hall = read_fabric_file(test::shipped_fabric("hall"));
  CHECK(hall.host_count() == 16);
  CHECK(hall.nodes.size() == 16 + 8 * 8);
  CHECK(read_fabric_file(test::shipped_fabric("pair-kernel")).has_forwarding(Forwarding::kKernel));
}

TEST_CASE("who speaks for a switch is a choice of its own, and the kernel forwards there") {
  const Topology t = read_fabric_file(test::shipped_fabric("speakers"));
  const std::map<std::string, std::pair<Forwarding, SpeakerProgram>> expected{
      {"p0.t0-0", {Forwarding::kSwitchd, SpeakerProgram::kBgpd}},
      {"p0.t1-0", {Forwarding::kKernel, SpeakerProgram::kFrr}},
      {"p1.t0-0", {Forwarding::kKernel, SpeakerProgram::kFrr}},
      {"p1.t0-1", {Forwarding::kKernel, SpeakerProgram::kBird}},
      {"p1.t1-0", {Forwarding::kKernel, SpeakerProgram::kBgpd}}};
  size_t found = 0;
  for (const NodeSite& site : t.nodes) {
    const auto row = expected.find(site.name);
    if (row == expected.end()) continue;
    CAPTURE(site.name);
    CHECK(site.forwarding == row->second.first);
    CHECK(site.speaker == row->second.second);
    ++found;
  }
  CHECK(found == expected.size());
  CHECK_FALSE(t.carries_time());
}

TEST_CASE("what the file says arrives in the topology") {
  const FabricShape shape = shape_in(
      "name: y\nplanes: 4\nt0: 2\nt1: 3\nhosts_per_t0: 5\nhost_rate: 200Gb/s\n"
      "fabric_rate: 400Gb/s\npropagation: 20ns\nswitch_latency: 300ns\nhost_latency: 1us\n"
      "pmtu: 1024\noptics: {t0_downlinks: 2}\nwires: fast\necn: {min: 0.1, max: 0.5}\n"
      "trim: {threshold: 0.75, last_hop: 2}\nqueues: {control: 0.5, tail_drop: 3}\n"
      "dscp: {no_trim: 5, trimmable: 6, trimmable_retx: 6, trimmed: 20, trimmed_last_hop: 22, "
      "control: 48}\n"
      "nic: {name: slow, port_down_delay: 10us, port_up_delay: 5us}\n");
  const Topology t = build_topology(shape);
  CHECK(t.host_count() == 10);
  CHECK(t.host_rate == BitRate::from_gbps(200));
  CHECK(t.link(t.port(*t.find_port("p0.t0-0:u1")).link).rate == BitRate::from_gbps(400));
  CHECK(t.links[0].propagation == FabricTime::from_ns(20));
  CHECK(t.switch_latency == FabricTime::from_ns(300));
  CHECK(t.host_latency == FabricTime::from_us(1));
  CHECK(t.pmtu == 1024);
  CHECK(t.optics.size() == 4 * 2 * 3);  // 5 downlinks, 2 to an optic
  CHECK(t.wires == WireMode::kFast);
  const uint64_t bdp = bytes_in(t.host_rate, t.base_rtt).value;
  CHECK(t.queues.ecn_min.value == bdp * 100 / 1000);
  CHECK(t.queues.ecn_max.value == bdp * 500 / 1000);
  CHECK(t.queues.trim_threshold.value == bdp * 750 / 1000);
  CHECK(t.queues.trim_threshold_last_hop.value == bdp * 2);
  CHECK(t.queues.control_limit.value == bdp * 500 / 1000);
  CHECK(t.queues.tail_drop.value == bdp * 3);
  // A port toward a switch has the thresholds of its own link.
  const Wire& up = t.wire(t.port(*t.find_port("p0.t0-0:u1")).out);
  const Wire& down = t.wire(t.port(*t.find_port("p0.t0-0:d1")).out);
  const uint64_t fabric_bdp = bytes_in(BitRate::from_gbps(400), t.base_rtt).value;
  CHECK(t.queues_of(up).ecn_min.value == fabric_bdp * 100 / 1000);
  CHECK(t.queues_of(up).trim_threshold.value == fabric_bdp * 750 / 1000);
  CHECK(t.queues_of(up).tail_drop.value == fabric_bdp * 3);
  CHECK(t.queues_of(down).trim_threshold_last_hop.value == bdp * 2);
  CHECK(t.queues_of(down).tail_drop.value == bdp * 3);
  CHECK(t.dscps == DscpMap{5, 6, 6, 20, 22, 48});
  CHECK(t.nic.name == "slow");
  CHECK(t.nic.port_down_delay == FabricTime::from_us(10));
}

TEST_CASE(
    "short forms switch ECN, trimming and optics off, and the fabric rate follows the hosts'") {
  const Topology t =
      build_topology(shape_in(kSmall + "ecn: off\ntrim: off\noptics: off\nhost_rate: 200Gb/s\n"));
  CHECK_FALSE(t.queues.ecn);
  CHECK_FALSE(t.queues.trim);
  CHECK(t.optics.empty());
  for (const Link& link : t.links) CHECK(link.rate == BitRate::from_gbps(200));
}

TEST_CASE("a cx8 NIC has the times that were seen, each divided by the compression") {
  const NicProfile real = shape_in(kSmall + "nic: cx8\n").nic;
  CHECK(real.remap_down.min == FabricTime::from_ms(200));
  CHECK(real.remap_down.max == FabricTime::from_ms(1600));
  CHECK(real.remap_up.min == FabricTime::from_ms(200));
  CHECK(real.remap_up.max == FabricTime::from_ms(500));
  const NicProfile lab = shape_in(kSmall + "nic: {profile: cx8, compress: 2000}\n").nic;
  CHECK(lab.port_down_delay == FabricTime::from_us(5));
  CHECK(lab.remap_down.min == FabricTime::from_us(100));
  CHECK(lab.remap_down.max == FabricTime::from_us(800));
  CHECK(lab.name == "cx8");
  CHECK(shape_in(kSmall).nic.remap_down.max == FabricTime::zero());
}

TEST_CASE("a NIC has a way of its own to find losses, by its model or by keys") {
  CHECK(shape_in(kSmall).nic.losses == NicLosses{});
  const NicProfile pollara = shape_in(kSmall + "nic: pollara\n").nic;
  CHECK(pollara.name == "pollara");
  CHECK(pollara.port_down_delay == FabricTime::zero());
  CHECK(pollara.losses.tail_probe > FabricTime::from_us(100));
  CHECK(pollara.losses == shape_in(kSmall + "nic: cx8\n").nic.losses);
  CHECK(shape_in(kSmall + "nic: {profile: pollara, compress: 4}\n").nic.losses.tail_probe ==
        pollara.losses.tail_probe / 4);
  const NicProfile own =
      shape_in(kSmall +
               "nic: {name: own, reorder_window: 9us, tail_probe: 1ms, ack_timeout: 2ms, "
               "exponential_retries: 5}\n")
          .nic;
  CHECK(own.losses ==
        NicLosses{FabricTime::from_us(9), FabricTime::from_ms(1), FabricTime::from_ms(2), 5});
}

TEST_CASE("a shape written as text reads back as the same shape") {
  for (const char* more :
       {"", "ecn: off\ntrim: off\noptics: off\n", "wires: fast\n", "forwarding: kernel\n",
        "forwarding: {all: ovs, p0: kernel, \"p*.t0-*\": switchd}\n",
        "ecn: {min: 0.123, max: 1}\nnic: {name: slow, port_down_delay: 1us}\npmtu: 257\n",
        "address_plan: full\n", "nic: {profile: cx8, compress: 3}\n", "nic: pollara\n",
        "nic: {name: y, tail_probe: 7us, exponential_retries: 2}\n",
        "nic: {name: x, remap_down: [1us, 2us]}\n", "dscp: {trimmed: 20, control: 48}\n"}) {
    const std::string text = to_yaml(shape_in(kSmall + more));
    CHECK(to_yaml(shape_in(text)) == text);
    CHECK(text.find("name: x\n") == 0);
  }
}

TEST_CASE("a fabric names its address plan, and is told when the other one has the room") {
  const auto of = [](const char* t0, const char* planes, const char* more) {
    return std::string("name: x\nplanes: ") + planes + "\nt0: " + t0 +
           "\nt1: 1\nhosts_per_t0: 1\n" + more;
  };
  CHECK(shape_in(kSmall).address_plan == AddressPlan::kLab);
  const FabricShape full = shape_in(of("512", "8", "address_plan: full\n"), 10'000);
  CHECK(full.t0 == 512);
  CHECK(outline_topology(full).usids.name() == "full");
  const auto error = [&of](const char* t0, const char* planes, const char* more) {
    try {
      shape_in(of(t0, planes, more));
    } catch (const InputError& refused) {
      return std::string(refused.what());
    }
    return std::string("no error");
  };
  CHECK(error("512", "1", "") ==
        "f.yaml:3:5: found \"512\": expected at most 256 with address_plan: lab (512 with "
        "address_plan: full)");
  CHECK(error("2", "9", "address_plan: full\n") ==
        "f.yaml:2:9: found \"9\": expected at most 8 with address_plan: full (16 with "
        "address_plan: lab)");
  CHECK(error("513", "1", "") ==
        "f.yaml:3:5: found \"513\": expected a whole number from 1 to 512");
  CHECK(error("512", "8", "address_plan: full\n") ==
        "f.yaml:2:9: found 4616 nodes in all: expected at most 4096");
  CHECK(error("2", "1", "address_plan: ful\n") == "f.yaml:6:15: found \"ful\": expected \"full\"");
}

TEST_CASE("bad fabric files get an exact error") {
  struct Row {
    const char* more;
    const char* expected;
  };
  for (
      const Row& row : {
          Row{"plane: 3\n", "f.yaml:6:1: found the key \"plane\": expected \"planes\""},
          Row{"dscp: {trimed: 20}\n", "f.yaml:6:8: found the key \"trimed\": expected \"trimmed\""},
          Row{"dscp: {trimmed: 64}\n",
              "f.yaml:6:17: found \"64\": expected a whole number from 0 to 63"},
          Row{"dscp: {trimmed: 4}\n",
              "f.yaml:6:7: found trimmable and trimmed are both 4: expected classes with "
              "distinct values"},
          Row{"pmtu: 100\n", "f.yaml:6:7: found \"100\": expected a whole number from 256 to 4096"},
          Row{"pmtu: 9000\n",
              "f.yaml:6:7: found \"9000\": expected a whole number from 256 to 4096"},
          Row{"host_rate: 100\n",
              "f.yaml:6:12: found \"100\": expected a rate such as 100Gb/s (kb/s, Mb/s, Gb/s, "
              "Tb/s), from 1Mb/s to 10Tb/s"},
          Row{"propagation: 6rtt\n",
              "f.yaml:6:14: found \"6rtt\": expected a duration in ps, ns, us, ms or s: no RTT "
              "is known here"},
          Row{"propagation: 1000s\n", "f.yaml:6:14: found \"1000s\": expected at most 10ms"},
          Row{"propagation: 0ns\nswitch_latency: 0ns\n",
              "f.yaml:7:17: found no propagation and no switch_latency: expected one of them "
              "above 0: a frame needs a lookahead"},
          Row{"host_latency: 0ns\npropagation: 0ns\n",
              "f.yaml:6:15: found no propagation and no host_latency: expected one of them above "
              "0: a frame needs a lookahead"},
          Row{"forwarding: kernal\n", "f.yaml:6:13: found \"kernal\": expected \"kernel\""},
          Row{"forwarding: kernel\nwires: fast\n",
              "f.yaml:7:8: found \"fast\": expected veth: others than our switches forward over "
              "nothing else"},
          Row{"routing: bgp\n", "f.yaml:6:10: found \"bgp\": expected one of srv6, ecmp, fare"},
          Row{"forwarding: {p0: kernel}\nrouting: ecmp\n",
              "f.yaml:7:10: found ecmp, beside \"forwarding: kernel\": expected srv6: such "
              "switches get routes for carriers only"},
          Row{"routing: {underlay: ipv5}\n", "f.yaml:6:21: found \"ipv5\": expected \"ipv6\""},
          Row{"routing: {default: ecmp, spray: flow}\n",
              "f.yaml:6:26: found \"spray\": expected \"default: fare\" beside it"},
          Row{"routing: {default: fare, resilient: on}\n",
              "f.yaml:6:26: found \"resilient\", beside \"default: fare\": expected nothing: "
              "FARE's packets are IPv6, and its groups are lists of members"},
          Row{"routing: {default: fare, bfd: 1us}\n",
              "f.yaml:6:31: found \"1us\": expected off, or whole microseconds, at least 10us"},
          Row{"routing: {default: fare, bfd: 20500ns}\n",
              "f.yaml:6:31: found \"20500ns\": expected off, or whole microseconds, at least "
              "10us"},
          Row{"routing: {default: fare, ready: 0us}\n",
              "f.yaml:6:33: found \"0us\": expected a time above 0"},
          Row{"forwarding: {p0: ovs}\nrouting: fare\n",
              "f.yaml:7:10: found fare, beside \"forwarding: ovs\": expected \"forwarding: "
              "switchd\" or kernel: only for those is there a speaker"},
          Row{"speaker: frr\n",
              "f.yaml:6:10: found a speaker in a fabric whose switches do not route by themselves: "
              "expected \"routing: fare\" beside it"},
          Row{"routing: fare\nspeaker: quagga\n",
              "f.yaml:7:10: found \"quagga\": expected one of bgpd, frr, bird, exabgp"},
          Row{"routing: fare\nspeaker: {p9: frr}\n",
              "f.yaml:7:15: found \"p9\", which names no plane or switch of this fabric: expected "
              "all, a plane such as p2, or a switch such as p2.t0-1, or a pattern of these"},
          Row{"routing: fare\nspeaker: {\"p[0-9]\": frr}\n",
              "f.yaml:7:21: found \"p[0-9]\", which names \"p2\": no plane or switch of this "
              "fabric has that name (8 of the 10 are missing): expected only what is there, such "
              "as \"p0\", \"p1\""},
          Row{"link_rates: [{links: \"p[0-9].t0-*:u0\", rate: 10Gb/s}]\n",
              "f.yaml:6:22: found \"p[0-9].t0-*:u0\", which names \"p2.t0-*:u0\": no link matches "
              "that (8 of the 10 are missing): expected only what is there, such as "
              "\"p0.t0-0:u0\", \"p0.t0-1:u0\", \"p1.t0-0:u0\", \"p1.t0-1:u0\""},
          Row{"routing: fare\nspeaker: {\"p0.t1-*\": exabgp}\n",
              "f.yaml:7:10: found exabgp for p0.t1-0, which has no hosts: expected bgpd, frr or "
              "bird: ExaBGP announces routes, but passes none on"},
          Row{"routing: fare\nroce: {adaptive_routing: on}\n",
              "f.yaml:7:7: found adaptive_routing, beside \"routing: fare\": expected off: such "
              "switches choose by weight"},
          Row{"wires: copper\n", "f.yaml:6:8: found \"copper\": expected one of veth, fast"},
          Row{"ecn: maybe\n", "f.yaml:6:6: found \"maybe\": expected on or off"},
          Row{"ecn: {min: 0.9}\n", "f.yaml:6:6: found min at or above max: expected min below max"},
          Row{"trim: {threshold: 1.5rtt}\n",
              "f.yaml:6:19: found \"1.5rtt\": expected a multiple of the plane BDP such as 0.8, "
              "from 0.001 to 100"},
          Row{"queues: {controll: 1}\n",
              "f.yaml:6:10: found the key \"controll\": expected \"control\""},
          Row{"optics: none\n", "f.yaml:6:9: found \"none\": expected off or {t0_downlinks: 4}"},
          Row{"nic: ideel\n", "f.yaml:6:6: found \"ideel\": expected \"ideal\""},
          Row{"nic: {profile: cx8, compress: 0}\n",
              "f.yaml:6:31: found \"0\": expected a whole number from 1 to 1000000"},
          Row{"nic: {name: x, remap_up: [2us, 1us]}\n",
              "f.yaml:6:32: found \"1us\": expected at least the shortest"},
          Row{"optics: [1]\n", "f.yaml:6:9: found a list: expected a map (key: value)"},
      }) {
    CHECK(error_with(row.more) == row.expected);
  }
}

TEST_CASE("sizes that a uSID or a machine cannot hold are refused") {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      shape_in(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  CHECK(error_of("name: x\nplanes: 17\nt0: 1\nt1: 1\nhosts_per_t0: 1\n") ==
        "f.yaml:2:9: found \"17\": expected a whole number from 1 to 16");
  CHECK(error_of("name: x\nplanes: 1\nt0: 513\nt1: 1\nhosts_per_t0: 1\n") ==
        "f.yaml:3:5: found \"513\": expected a whole number from 1 to 512");
  CHECK(error_of("name: x\nplanes: 1\nt0: 2\nt1: 0\nhosts_per_t0: 1\n") ==
        "f.yaml:4:5: found \"0\": expected at least one T1: several T0s of a plane meet there");
  CHECK(error_of("name: x\nplanes: 1\nt0: 256\nt1: 1\nhosts_per_t0: 256\n") ==
        "f.yaml:2:9: found 65793 nodes in all: expected at most 4096");
  CHECK(error_of("name: X Y\nplanes: 1\nt0: 1\nt1: 1\nhosts_per_t0: 1\n") ==
        "f.yaml:1:7: found \"X Y\": expected a name of at most 32 lower-case letters, digits and "
        "dashes");
  CHECK(error_of("name: x\nplanes: 1\nt0: 1\nhosts_per_t0: 1\n") ==
        "f.yaml:1:1: found no \"t1\": expected \"t1: ...\"");
  CHECK(error_of("name: x\nfabric: octet\nseed: 1\nend: 1ms\n") ==
        "f.yaml:2:1: found a scenario: expected a fabric, such as the one below this key");
  CHECK(error_of("- a\n") == "f.yaml:1:1: found a list: expected a map (key: value)");
}

TEST_CASE("a wire without lookahead is an error that names the wire") {
  Topology t = build_topology(shape_in(kSmall));
  CHECK_NOTHROW(check_lookahead(t));
  const Wire wire = t.wire(WireId{2});
  t.change_cabling([&](Cabling& cables) {
    cables.kept_links[wire.link.value].propagation =
        FabricTime::zero() - t.lookahead(wire.id) + wire.propagation;
  });
  CHECK_THROWS_WITH_AS(check_lookahead(t),
                       ("fabric x: found no lookahead on the wire " + t.wire_name(wire.id) +
                        ": expected a propagation or an ingress latency above 0")
                           .c_str(),
                       InputError);
}
