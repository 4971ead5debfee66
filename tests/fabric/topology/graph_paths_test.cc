// Fabrics that are no regular planes: their files, graphs, paths and carriers.

#include "fabric/topology/graph_paths.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "fabric/paths/path_list.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/routes.h"
#include "tests/support/errors.h"

using namespace mrclab;

namespace {

Topology read_text(const std::string& text) {
  return build_topology(parse_fabric(read_yaml_text(text, "f.yaml")));
}

/// The example fabric of draft-filsfils-srv6ops-srv6-ai-backend.
std::string draft_fabric(const std::string& more = {}) {
  return "name: draft\n"
         "switches: {leaf1: 0100, leaf2: 0200, leaf3: 0300, leaf4: 0400, spine5: 0500, spine6: "
         "0600}\n"
         "hosts: [[leaf1, leaf2], [leaf1, leaf2], [leaf3, leaf4], [leaf3, leaf4]]\n"
         "links: {leaf*: [spine5, spine6]}\n" +
         more;
}

std::string refusal(const std::string& text) {
  return test::error_of([&] { read_text(text); });
}

/// Follows a carrier by the switches' routes alone; the ports that it left by, from the NIC on.
std::vector<PortRef> follow(const Topology& t, uint32_t source, uint32_t port,
                            Ipv6Address carrier) {
  std::vector<PortRef> exits{{t.host(source), PortId{port}}};
  for (int hops = 0; hops < 8; ++hops) {
    const NodeId node = t.port(exits.back()).peer.node;
    const NodeSite& site = t.node(node);
    if (site.role == NodeRole::kHost) return exits;
    auto out = port_of_adjacency(t, node, active_usid(carrier));
    if (out || active_usid(carrier) == site.usid) shift_carrier(carrier);
    if (!out) out = port_toward(t, node, active_usid(carrier));
    if (!out) return exits;
    exits.push_back({node, *out});
  }
  return exits;
}

}  // namespace

TEST_CASE(
    "the draft's carrier over Leaf1, Spine6 and Leaf3 ends at Leaf3 where the leaf strips it") {
  const Topology t = read_text(draft_fabric("decap: leaf\n"));
  const auto paths = paths_between(t, 0, 2);
  REQUIRE(paths.size() == 8);  // two NIC ports, two spines, two leaves of h2
  std::vector<std::string> carriers;
  for (const Path path : paths) carriers.push_back(to_string(make_carrier(t, 0, 2, path)));
  CHECK(carriers == std::vector<std::string>{
                        "5f00:0:100:500:300::", "5f00:0:100:500:400::", "5f00:0:100:600:300::",
                        "5f00:0:100:600:400::", "5f00:0:200:500:300::", "5f00:0:200:500:400::",
                        "5f00:0:200:600:300::", "5f00:0:200:600:400::"});
  CHECK(t.node(*t.find_node("leaf1")).role == NodeRole::kT0);
  CHECK(t.node(*t.find_node("spine6")).role == NodeRole::kT1);
  CHECK(t.link_name(t.port(*t.find_port("leaf3:u1")).link) == "leaf3:u1--spine6:d2");
}

TEST_CASE("a carrier of a graph leads over the exits of its path, whatever it names switches by") {
  for (const char* segments : {"node", "adjacency"}) {
    const Topology t = read_text(draft_fabric("segments: " + std::string(segments) + "\n"));
    for (uint32_t from = 0; from < t.host_count(); ++from) {
      for (uint32_t to = 0; to < t.host_count(); ++to) {
        for (const Path path : paths_between(t, from, to)) {
          CAPTURE(segments);
          CAPTURE(to_string(path));
          const auto exits = exits_of(t, from, to, path);
          CHECK(follow(t, from, path.plane, make_carrier(t, from, to, path)) == exits);
          CHECK(t.port(exits.back()).peer.node == t.host(to));
        }
      }
    }
  }
}

TEST_CASE("the way back crosses the same links and leads back again") {
  const Topology t = read_text(draft_fabric());
  for (const Path path : paths_between(t, 0, 3)) {
    const auto back = path_back(t, 0, 3, path);
    REQUIRE(back);
    CHECK(path_back(t, 3, 0, *back) == path);
    std::vector<LinkId> there, here;
    for (const PortRef exit : exits_of(t, 0, 3, path)) there.push_back(t.port(exit).link);
    for (const PortRef exit : exits_of(t, 3, 0, *back)) here.push_back(t.port(exit).link);
    std::reverse(here.begin(), here.end());
    CHECK(there == here);
  }
  CHECK_FALSE(path_back(t, 0, 3, {0, 4}));
  CHECK_FALSE(path_back(t, 0, 0, {0, 0}));
}

TEST_CASE("hosts on one leaf have its path and no other: all shortest ones are listed") {
  const Topology t = read_text(draft_fabric());
  CHECK(paths_between(t, 0, 1) == std::vector<Path>{{0, kT0LocalUplink}, {1, kT0LocalUplink}});
  CHECK(to_string(make_carrier(t, 0, 1, {0, kT0LocalUplink})) == "5f00:0:100:e001::");
  CHECK(t.graph->longest() == 3);
}

TEST_CASE("three tiers make carriers of five switches, and a sixth no carrier holds with the NIC") {
  const std::string rest = "hosts: [[l1], [l2]]\nlinks: {l1: [m1], m1: [s], l2: [m2], m2: [s]}\n";
  const std::string switches =
      "name: deep\nswitches: {l1: 0001, m1: 0002, s: 0003, m2: 0004, l2: 0005";
  const Topology t = read_text(switches + "}\n" + rest);
  CHECK(to_string(make_carrier(t, 0, 1, {0, 0})) == "5f00:0:1:2:3:4:5:e000");
  const std::string deeper =
      "name: deep\nswitches: {l1: 0001, m1: 0002, s: 0003, m2: 0004, l2: 0005, x: 0006}\n"
      "hosts: [[l1], [l2]]\nlinks: {l1: [m1], m1: [s], s: [x], l2: [m2], m2: [x]}\n";
  CHECK(refusal(deeper).find("a path of 7 uSIDs; a carrier holds 6") != std::string::npos);
}

TEST_CASE("a graph reads back from what it is written as") {
  const FabricShape shape =
      parse_fabric(read_yaml_text(draft_fabric("decap: leaf\nsegments: adjacency\n"), "f.yaml"));
  const FabricShape again = parse_fabric(read_yaml_text(to_yaml(shape), "again.yaml"));
  CHECK(again.graph == shape.graph);
  CHECK(again.decap == Decap::kLeaf);
  CHECK(again.segments == Segments::kAdjacency);
  CHECK(to_yaml(again) == to_yaml(shape));
}

TEST_CASE("what is wrong with a graph is said where it stands") {
  const auto replaced = [](const std::string& from, const std::string& to) {
    std::string text = draft_fabric();
    text.replace(text.find(from), from.size(), to);
    return refusal(text);
  };
  CHECK(replaced("0200", "0100").find("f.yaml:2:32") == 0);
  CHECK(replaced("0200", "0100").find("leaf1 has it") != std::string::npos);
  CHECK(replaced("0200", "0000").find("neither zero") != std::string::npos);
  CHECK(replaced("0200", "e001").find("nor from a000 on") != std::string::npos);
  CHECK(replaced("0200", "200").find("four hex digits") != std::string::npos);
  CHECK(replaced("[leaf3, leaf4]", "[leaf3]").find("2, as h0 has") != std::string::npos);
  CHECK(replaced("[leaf1, leaf2]", "[leaf1, leaf7]").find("leaf7") != std::string::npos);
  CHECK(replaced("leaf*:", "loaf*:").find("\"loaf*\"") != std::string::npos);
  CHECK(replaced("leaf*: [spine5, spine6]", "leaf1: [spine5, spine6]")
            .find("no path from h2 to h0") != std::string::npos);
  CHECK(replaced("name: draft", "name: draft\nplanes: 2").find("or regular planes") !=
        std::string::npos);
  CHECK(replaced("leaf2: 0200", "h7: 0200").find("not as a host's") != std::string::npos);
  CHECK(replaced("leaf2: 0200", "a-leaf-of-many: 0200").find("at most 10") != std::string::npos);
  CHECK(replaced("0200", "b001").find("nor from a000 on") != std::string::npos);
  CHECK(replaced("spine6: 0600", "spine6: 0600, lone: 0700").find("lone, on which nothing hangs") !=
        std::string::npos);
}

TEST_CASE("a graph that uSIDs or a carrier cannot name is refused") {
  const auto refused_for = [](const std::string& why, const std::string& text) {
    const std::string said = refusal(text);
    CAPTURE(said);
    CHECK(said.starts_with("f.yaml:"));
    CHECK(said.find(why) != std::string::npos);
  };
  const std::string two = "name: two\nswitches: {a: 0100, b: 0200}\n";
  // h0:p1 reaches h1 over b and a; h1 has only a, which h0:p0 is on.
  refused_for("with no way back", two + "hosts: [[a, b], [a, a]]\nlinks: {b: [a]}\n");
  refused_for("two links between a and b", two + "hosts: [[a], [b]]\nlinks: {a: [b, b]}\n");
  refused_for("two links between b and a", two + "hosts: [[a], [b]]\nlinks: {a: [b], b: [a]}\n");
  CHECK(paths_between(read_text(two + "segments: adjacency\nhosts: [[a], [b]]\n"
                                      "links: {a: [b, b]}\n"),
                      0, 1)
            .size() == 2);
  const std::string twice = "hosts: [[a, a], [b, b]]\nlinks: {a: [b]}\n";
  refused_for("two ports of a host on one switch", two + "decap: leaf\n" + twice);
  CHECK(paths_between(read_text(two + twice), 0, 1).size() == 4);

  std::string many = "name: many\nswitches: {a: 0100}\nhosts: [";
  for (int h = 0; h < 17; ++h) many += "[a,a,a,a,a,a,a,a,a,a,a,a,a,a,a,a],";
  refused_for("more NIC ports on a", many + "]\n");
  std::string links = two + "segments: adjacency\nhosts: [[a], [b]]\nlinks: {a: [b";
  for (int i = 0; i < 66'000; ++i) links += ",b";
  refused_for("at most 65536", links + "]}\n");
  links.resize(links.size() - 2 * 65'500);
  refused_for("more links at a", links + "]}\n");
  refused_for("more links than uSIDs",
              "name: wide\nplanes: 1\nt0: 2\nt1: 200\nhosts_per_t0: 100\nsegments: adjacency\n");
}

namespace {

/// All shortest ways from a NIC port to a host by trying every port of every switch, in the order of the ports.
class EveryWay {
 public:
  EveryWay(const Topology& t, NodeId to) : t_(t), to_(to) {}

  std::vector<std::vector<PortRef>> from(PortRef nic) {
    for (size_t switches = 1; switches <= 6 && found_.empty(); ++switches) {
      exits_ = {nic};
      step(t_.port(nic).peer.node, switches);
    }
    return found_;
  }

 private:
  void step(NodeId node, size_t left) {
    if (node == to_ && left == 0) found_.push_back(exits_);
    if (left == 0 || t_.node(node).role == NodeRole::kHost) return;
    for (uint32_t i = 0; i < t_.node(node).ports.size(); ++i) {
      exits_.push_back({node, PortId{i}});
      step(t_.port(exits_.back()).peer.node, left - 1);
      exits_.pop_back();
    }
  }

  const Topology& t_;
  NodeId to_;
  std::vector<PortRef> exits_;
  std::vector<std::vector<PortRef>> found_;
};

/// Three tiers of three pods, hosts with one port.
std::string three_pods() {
  return "name: deep\n"
         "switches: {a0: 0101, a1: 0102, b0: 0201, b1: 0202, c0: 0301, c1: 0302, ma: 0401, mb: 0402,\n"
         "  na: 0501, nb: 0502, oa: 0601, s0: 0701, s1: 0702}\n"
         "hosts: [[a0], [a0], [a1], [b0], [b1], [c0], [c1]]\n"
         "links: {\"a[0-1]\": [ma, mb], \"b[0-1]\": [na, nb], \"c[0-1]\": [oa], ma: [s0], mb: [s1],\n"
         "  na: [s0], nb: [s1], oa: [s0, s1]}\n";
}

}  // namespace

TEST_CASE("paths, their order, their ports and their ways back are those of trying every way") {
  const std::string twice =
      "name: twice\nswitches: {a: 0100, b: 0200, s: 0300}\nhosts: [[a, a], [b, b], [a, a]]\n"
      "links: {\"[ab]\": [s]}\n";
  const std::string ring =
      "name: ring\nswitches: {r0: 0100, r1: 0200, r2: 0300, r3: 0400}\n"
      "hosts: [[r0], [r1], [r2], [r3]]\nlinks: {r0: [r1, r3], r2: [r1, r3]}\n";
  for (const std::string& text : {draft_fabric(), three_pods(), twice, ring}) {
    const Topology t = read_text(text);
    for (uint32_t from = 0; from < t.host_count(); ++from) {
      for (uint32_t to = 0; to < t.host_count(); ++to) {
        if (from == to) continue;
        std::vector<std::vector<PortRef>> listed, tried;
        for (uint32_t p = 0; p < t.planes; ++p) {
          auto ways = EveryWay(t, t.host(to)).from({t.host(from), PortId{p}});
          const bool local = !ways.empty() && ways.front().size() == 2;
          if (local) std::rotate(ways.begin(), ways.begin() + 1, ways.end());
          tried.insert(tried.end(), ways.begin(), ways.end());
        }
        for (const Path path : paths_between(t, from, to)) {
          listed.push_back(exits_of(t, from, to, path));
          CHECK(has_path(t, from, to, path));
          CHECK(t.graph->along(to, listed.back()) == path);
          const auto back = path_back(t, from, to, path);
          REQUIRE(back);
          CHECK(path_back(t, to, from, *back) == path);
        }
        CHECK(listed == tried);
        CHECK(t.graph->count(from, to) == tried.size());
        for (const NodeSite& site : t.nodes) {
          for (uint32_t i = 0; i < site.ports.size(); ++i) {
            const PortRef exit{site.id, PortId{i}};
            const auto over = std::count_if(tried.begin(), tried.end(), [&](const auto& exits) {
              return std::find(exits.begin(), exits.end(), exit) != exits.end();
            });
            CHECK(t.graph->count_over(exit, from, to) == static_cast<uint32_t>(over));
          }
        }
      }
    }
  }
}

TEST_CASE("of a listed fabric's switches the T1s hang on T0s, and T2s join what those are apart") {
  const Topology t = read_text(three_pods());
  CHECK(t.node(*t.find_node("oa")).role == NodeRole::kT1);
  CHECK(t.node(*t.find_node("s1")).role == NodeRole::kT2);
  CHECK(t.node(*t.find_node("b1")).pod == t.node(*t.find_node("nb")).pod);
  CHECK(t.node(*t.find_node("b1")).pod != t.node(*t.find_node("c0")).pod);
  CHECK(t.t2_per_plane == 2);
}

TEST_CASE("a listed fabric may have thousands of hosts on hundreds of switches") {
  std::string text = "name: many\nswitches: {";
  const uint32_t pods = 16, leaves = 8, spines = 4;
  auto usid = [next = 1]() mutable {
    char hex[8];
    std::snprintf(hex, sizeof hex, "%04x", static_cast<unsigned>(next++));
    return ": \"" + std::string(hex) + "\"";
  };
  std::string hosts, links;
  for (uint32_t pod = 0; pod < pods; ++pod) {
    const std::string p = std::to_string(pod);
    for (uint32_t i = 0; i < leaves; ++i) {
      text += "e" + p + "-" + std::to_string(i) + usid() + ", ";
      for (uint32_t h = 0; h < 16; ++h) hosts += "[e" + p + "-" + std::to_string(i) + "],";
    }
    links += "\"e" + p + "-*\": [\"a" + p + "-*\"], ";
    for (uint32_t i = 0; i < spines; ++i) {
      text += "a" + p + "-" + std::to_string(i) + usid() + ", ";
      links += "a" + p + "-" + std::to_string(i) + ": [\"c" + std::to_string(i) + "-*\"], ";
    }
  }
  for (uint32_t i = 0; i < spines; ++i) {
    for (uint32_t k = 0; k < 4; ++k) {
      text += "c" + std::to_string(i) + "-" + std::to_string(k) + usid() + ", ";
    }
  }
  const Topology t = read_text(text + "}\nhosts: [" + hosts + "]\nlinks: {" + links + "}\n");
  CHECK(t.host_count() == 2048);
  CHECK(paths_between(t, 0, 2047).size() == 16);
  CHECK(paths_between(t, 0, 127).size() == 4);
  CHECK(t.longest_path == 5);
}
