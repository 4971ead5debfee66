// The published examples of FARE, by speakers with BGP sessions to each other.

#include <doctest/doctest.h>

#include "tests/routing/speaker_net.h"

using namespace mrclab;
using namespace mrclab::routing;
using mrclab::test::SpeakerNet;

namespace {

constexpr const char* kTarget = "2001:db8:100::1";

BitRate gb(uint64_t rate) { return BitRate::from_gbps(rate); }

void per_link(SpeakerParameters& parameters) {
  parameters.shares.granularity = ShareGranularity::kPerLink;
}

void originate_at(SpeakerNet& net, const std::string& node, const char* prefix = kTarget) {
  net.change(node, [&](Speaker& speaker) { speaker.originate(*Prefix::parse(prefix), net.now); });
}

/// White paper 2.2.1: two leaves, two spines, two links each; L1 is of 50 Gb/s.
void build_two_spines(SpeakerNet& net, const SpeakerNet::Adjust& adjust) {
  net.node("far", 65101, adjust);
  net.node("spine1", 65200, adjust);
  net.node("spine2", 65200, adjust);
  net.node("near", 65102, adjust);
  net.link({"far", "spine1", gb(50)});
  net.link({"far", "spine2"});
  net.link({"far", "spine1"});
  net.link({"far", "spine2"});
  for (const char* spine : {"spine1", "spine1", "spine2", "spine2"}) net.link({"near", spine});
  net.start();
  net.run_ms(3'000);
  originate_at(net, "far");
  net.run_ms(100);
}

}  // namespace

TEST_CASE("3:3:4:4, every link for itself: 150 by two links is 75") {
  SpeakerNet net;
  build_two_spines(net, per_link);
  CHECK(net.told_mbps("spine1", "near", kTarget) == 75'000);
  CHECK(net.told_mbps("spine2", "near", kTarget) == 100'000);
  CHECK(net.hops("near", kTarget) == "spine1*3 spine1*3 spine2*4 spine2*4");
}

TEST_CASE("3:3:4:4, per node: 150 of 200 is spread evenly over two links") {
  SpeakerNet net;
  build_two_spines(net, {});
  CHECK(net.told_mbps("spine1", "near", kTarget) == 150'000);
  CHECK(net.told_mbps("spine2", "near", kTarget) == 200'000);
  CHECK(net.hops("near", kTarget) == "spine1*3 spine1*3 spine2*4 spine2*4");
}

namespace {

/// White paper 3.2: spines 1 to 4 with links of 100, 5 to 8 with links of 200; the links of a spine in a row.
std::vector<std::vector<size_t>> build_eight_spines(SpeakerNet& net, uint32_t leaves) {
  std::vector<std::vector<size_t>> links;
  for (uint32_t leaf = 1; leaf <= leaves; ++leaf)
    net.node("leaf" + std::to_string(leaf), 65100 + leaf);
  for (uint32_t spine = 1; spine <= 8; ++spine) {
    net.node("spine" + std::to_string(spine), 65200);
    links.emplace_back();
    for (uint32_t leaf = 1; leaf <= leaves; ++leaf) {
      links.back().push_back(
          net.link({"leaf" + std::to_string(leaf), "spine" + std::to_string(spine),
                    gb(spine <= 4 ? 100 : 200)}));
    }
  }
  net.start();
  net.run_ms(3'000);
  return links;
}

}  // namespace

TEST_CASE("eight spines of two speeds carry a third and two thirds") {
  SpeakerNet net;
  build_eight_spines(net, 3);
  originate_at(net, "leaf3");
  net.run_ms(100);
  CHECK(net.hops("leaf1", kTarget) ==
        "spine1*1 spine2*1 spine3*1 spine4*1 spine5*2 spine6*2 spine7*2 spine8*2");
}

TEST_CASE(
    "Spine4-Leaf9 fails: its twelfth moves to the others in proportion, and traffic to other "
    "leaves sees fair shares") {
  SpeakerNet net;
  const auto links = build_eight_spines(net, 9);
  originate_at(net, "leaf9");
  originate_at(net, "leaf8", "2001:db8:200::1");
  net.run_ms(100);
  CHECK(net.hops("leaf1", kTarget) ==
        "spine1*1 spine2*1 spine3*1 spine4*1 spine5*2 spine6*2 spine7*2 spine8*2");
  net.set_carrier(links[3][8], false);
  net.run_ms(100);
  CHECK(net.hops("leaf1", kTarget) ==
        "spine1*1 spine2*1 spine3*1 spine5*2 spine6*2 spine7*2 spine8*2");
  // The trap: of spine 4's eight other leaves one is gone, so it divides by one less for the rest.
  CHECK(net.told_mbps("spine4", "leaf1", "2001:db8:200::1") == 14'286);
  CHECK(net.told_mbps("spine3", "leaf1", "2001:db8:200::1") == 12'500);
  CHECK(net.hops("leaf1", "2001:db8:200::1") ==
        "spine1*7 spine2*7 spine3*7 spine4*8 spine5*14 spine6*14 spine7*14 spine8*14");
  net.set_carrier(links[3][8], true);
  net.run_ms(3'000);
  CHECK(net.hops("leaf1", kTarget) ==
        "spine1*1 spine2*1 spine3*1 spine4*1 spine5*2 spine6*2 spine7*2 spine8*2");
}

TEST_CASE("members 1:1:2:2 are a group of six") {
  SpeakerNet net;
  for (uint32_t spine = 1; spine <= 4; ++spine) net.node("s" + std::to_string(spine), 65200);
  net.node("near", 65101);
  net.node("far", 65102);
  for (uint32_t spine = 1; spine <= 4; ++spine) {
    net.link({"near", "s" + std::to_string(spine), gb(spine <= 2 ? 50 : 100)});
    net.link({"far", "s" + std::to_string(spine), gb(spine <= 2 ? 50 : 100)});
  }
  net.start();
  net.run_ms(3'000);
  originate_at(net, "far");
  net.run_ms(100);
  CHECK(net.hops("near", kTarget) == "s1*1 s2*1 s3*2 s4*2");
  uint32_t members = 0;
  for (const WeightedHop& hop :
       net["near"].table().routes().at(*Prefix::parse(kTarget)).written.hops) {
    members += hop.weight;
  }
  CHECK(members == 6);
}

namespace {

/// Two hosts with a port in each plane; planes of some leaves with hosts and spines.
class PlaneNet : public SpeakerNet {
 public:
  struct Shape {
    std::string planes;
    uint32_t leaves = 2, hosts_per_leaf = 1, spines = 2;
    BitRate fabric = gb(100), nic = gb(400);
    Adjust leaf = {}, host = {}, any = {};
  };

  explicit PlaneNet(const Shape& shape) : shape_(shape) {
    for (uint32_t host = 0; host < shape.leaves * shape.hosts_per_leaf; ++host) {
      node(host_name(host), 4'200'000'000 + host, [&](SpeakerParameters& p) {
        p.transit = false;
        if (shape_.any) shape_.any(p);
        if (shape_.host) shape_.host(p);
      });
    }
    for (const char plane : shape.planes) {
      for (uint32_t i = 0; i < shape.leaves; ++i) {
        node(leaf_name(plane, i), 65100 + i, [&](SpeakerParameters& p) {
          if (shape_.any) shape_.any(p);
          if (shape_.leaf) shape_.leaf(p);
        });
      }
      for (uint32_t i = 0; i < shape.spines; ++i) {
        node(spine_name(plane, i), 65200, shape_.any);
      }
      for (uint32_t host = 0; host < shape.leaves * shape.hosts_per_leaf; ++host) {
        host_links[{plane, host}] = link(
            {host_name(host), leaf_name(plane, host / shape.hosts_per_leaf), shape.nic, {}, true});
      }
      for (uint32_t leaf = 0; leaf < shape.leaves; ++leaf) {
        for (uint32_t spine = 0; spine < shape.spines; ++spine) {
          fabric_links[{plane, leaf, spine}] =
              link({leaf_name(plane, leaf), spine_name(plane, spine), shape.fabric});
        }
      }
    }
    start();
    run_ms(3'000);
    for (uint32_t host = 0; host < shape.leaves * shape.hosts_per_leaf; ++host) {
      originate_at(*this, host_name(host), address(host).c_str());
    }
    run_ms(100);
  }

  static std::string host_name(uint32_t host) { return "h" + std::to_string(host); }
  static std::string leaf_name(char plane, uint32_t leaf) {
    return std::string(1, plane) + "l" + std::to_string(leaf);
  }
  static std::string spine_name(char plane, uint32_t spine) {
    return std::string(1, plane) + "s" + std::to_string(spine);
  }
  static std::string address(uint32_t host) { return "2001:db8:100::" + std::to_string(host + 1); }

  std::map<std::pair<char, uint32_t>, size_t> host_links;
  std::map<std::tuple<char, uint32_t, uint32_t>, size_t> fabric_links;

 private:
  Shape shape_;
};

}  // namespace

TEST_CASE("a NIC port at half rate gets half the share, under either reading of N") {
  for (const WaysOutScope scope : {WaysOutScope::kFabricPorts, WaysOutScope::kAllPorts}) {
    PlaneNet net({.planes = "ABCD", .leaves = 2, .spines = 4, .any = [&](SpeakerParameters& p) {
                    p.shares.scope = scope;
                  }});
    CHECK(net.hops("h0", net.address(1)) == "Al0*1 Bl0*1 Cl0*1 Dl0*1");
    net.set_rate(net.host_links.at({'A', 1}), gb(200));
    net.run_ms(100);
    CHECK(net.hops("h0", net.address(1)) == "Al0*1 Bl0*2 Cl0*2 Dl0*2");
  }
}

TEST_CASE(
    "trap 1: with host ports in N a leaf that lost an uplink gets too much; by default they do not "
    "count") {
  struct Row {
    WaysOutScope scope;
    const char* hops;
  };
  for (const Row& row : {Row{WaysOutScope::kFabricPorts, "Al0*3 Bl0*4"},
                         Row{WaysOutScope::kAllPorts, "Al0*7 Bl0*8"}}) {
    PlaneNet net({.planes = "AB",
                  .leaves = 4,
                  .hosts_per_leaf = 4,
                  .spines = 4,
                  .any = [&](SpeakerParameters& p) { p.shares.scope = row.scope; }});
    net.set_carrier(net.fabric_links.at({'A', 3, 0}), false);
    net.run_ms(100);
    CHECK(net.hops("h0", net.address(12)) == row.hops);
  }
}

TEST_CASE("trap 2: a spine that lost an unrelated leaf is promised more, and that is left so") {
  PlaneNet net({.planes = "A", .leaves = 4, .spines = 2});
  CHECK(net.hops("Al0", net.address(3)) == "As0*1 As1*1");
  net.set_carrier(net.fabric_links.at({'A', 2, 0}), false);
  net.run_ms(100);
  CHECK(net.told_mbps("As0", "Al0", net.address(3)) == 50'000);
  CHECK(net.told_mbps("As1", "Al0", net.address(3)) == 33'333);
  CHECK(net.hops("Al0", net.address(3)) == "As0*3 As1*2");
}

TEST_CASE(
    "a host that loses plane A is reached by the other planes: by withdrawal, where host routes "
    "are told") {
  PlaneNet net({.planes = "ABCD", .leaves = 2, .spines = 2});
  net.set_carrier(net.host_links.at({'A', 1}), false);
  net.run_ms(100);
  CHECK(net.hops("h0", net.address(1)) == "Bl0*1 Cl0*1 Dl0*1");
  net.set_carrier(net.host_links.at({'A', 1}), true);
  net.run_ms(3'000);
  CHECK(net.hops("h0", net.address(1)) == "Al0*1 Bl0*1 Cl0*1 Dl0*1");
}

TEST_CASE(
    "a host that loses plane A, with aggregates: the aggregate's next hops without A, until it is "
    "back") {
  PlaneNet net({.planes = "ABCD",
                .leaves = 2,
                .spines = 2,
                .leaf =
                    [](SpeakerParameters& p) {
                      // The aggregate of leaf 1 alone: leaf 0 has none.
                      if (p.as == AsNumber{65101})
                        p.aggregates = {*Prefix::parse("2001:db8:100::/120")};
                    },
                .host = [](SpeakerParameters& p) { p.install_unreachable = true; },
                .any =
                    [](SpeakerParameters& p) {
                      for (auto& n : p.neighbours) n.unreachability = true;
                    }});
  const std::string aggregate = "2001:db8:100::/120", all = "Al0*1 Bl0*1 Cl0*1 Dl0*1";
  CHECK(net.hops("h0", aggregate) == all);
  CHECK(net.hops("h0", net.address(1)) == "none");
  net.set_carrier(net.host_links.at({'A', 1}), false);
  net.run_ms(100);
  CHECK(net.hops("h0", aggregate) == all);
  CHECK(net.hops("h0", net.address(1)) == "Bl0*1 Cl0*1 Dl0*1");
  CHECK(net.hops("As0", net.address(1)) == "none");  // switches need not install it
  // The aggregate is lost in B meanwhile: what is made of it follows.
  for (uint32_t spine = 0; spine < 2; ++spine)
    net.set_carrier(net.fabric_links.at({'B', 1, spine}), false);
  net.run_ms(100);
  CHECK(net.hops("h0", net.address(1)) == "Cl0*1 Dl0*1");
  net.set_carrier(net.host_links.at({'A', 1}), true);
  net.run_ms(3'000);
  CHECK(net.hops("h0", net.address(1)) == "none");
  CHECK(net.hops("h0", aggregate) == "Al0*1 Cl0*1 Dl0*1");
}
