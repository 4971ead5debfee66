// Topologies of containerlab as fabrics: which nodes are hosts, what shape it is, what is refused and where.

#include <doctest/doctest.h>

#include "fabric/base/random.h"
#include "fabric/topology/fabric_file.h"
#include "live/translate/containerlab_import.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

ImportedFabric fabric_from(const std::string& text) {
  return import_containerlab(read_yaml_text(text, "x.clab.yml"), "x", "x.clab.yml");
}

std::string refusal(const std::string& text) {
  return test::error_of([&] { fabric_from(text); });
}

/// Two leaves under a spine, two servers; `more` of each kind of node and more links can be given.
std::string clos(const std::string& leaf, const std::string& spine, const std::string& server) {
  return "name: clos\ntopology:\n  nodes:\n    spine1: " + spine + "\n    leaf1: " + leaf +
         "\n    leaf2: " + leaf + "\n    s1: " + server + "\n    s2: " + server +
         "\n    s3: " + server + "\n    s4: " + server +
         "\n  links:\n    - endpoints: [\"leaf1:e1-49\", \"spine1:e1-1\"]\n"
         "    - endpoints: [\"leaf2:e1-49\", \"spine1:e1-2\"]\n"
         "    - endpoints: [\"s1:eth1\", \"leaf1:e1-1\"]\n    - endpoints: [\"leaf2:e1-1\", "
         "\"s2:eth1\"]\n"
         "    - endpoints: [\"s3:eth1\", \"leaf1:e1-2\"]\n    - endpoints: [\"s4:eth1\", "
         "\"leaf2:e1-2\"]\n";
}

void check_clos(const std::string& text) {
  const ImportedFabric fabric = fabric_from(text);
  CHECK(fabric.shape.graph.empty());
  CHECK(fabric.shape.planes == 1);
  CHECK(fabric.shape.t0 == 2);
  CHECK(fabric.shape.t1 == 1);
  CHECK(fabric.shape.hosts_per_t0 == 2);
}

}  // namespace

TEST_CASE("kinds, groups, labels, levels and neighbours each tell hosts from switches") {
  check_clos(clos("{kind: nokia_srlinux}", "{kind: nokia_srlinux}", "{kind: linux}"));
  check_clos(clos("{kind: linux, image: frrouting/frr}",
                  "{kind: linux, image: quay.io/frrouting/frr:10}",
                  "{kind: linux, image: alpine}"));
  check_clos(clos("{kind: linux, group: leaf}", "{kind: linux, group: Spine}", "{kind: linux}"));
  check_clos(clos("{kind: linux, labels: {graph-level: 2}}",
                  "{kind: linux, labels: {graph-level: 1}}",
                  "{kind: linux, labels: {graph-level: 3}}"));
  check_clos(clos("{labels: {mrclab-role: leaf}}", "{labels: {mrclab-role: spine}}",
                  "{labels: {mrclab-role: host}}"));
  // Servers have one link; leaves have servers; the spine is given.
  check_clos(clos("{kind: linux}", "{kind: linux, labels: {mrclab-role: t1}}", ""));
}

TEST_CASE("nodes inherit from groups, kinds and defaults as containerlab has it") {
  std::string text = clos("{group: sw}", "{group: sw}", "");
  text += "  groups:\n    sw: {kind: nokia_srlinux}\n  defaults: {kind: linux}\n";
  check_clos(text);
  text = clos("{kind: linux, image: a}", "{kind: linux, image: a, labels: {mrclab-role: t1}}",
              "{kind: border0}");
  text +=
      "  kinds:\n    border0: {labels: {mrclab-role: host}}\n  defaults: {labels: {mrclab-pmtu: "
      "1024}}\n";
  check_clos(text);
  CHECK(fabric_from(text).shape.pmtu == 1024);
}

TEST_CASE("hosts are put in rows, and the file says which node is which") {
  const std::string text =
      fabric_from(clos("{kind: arista_ceos}", "{kind: arista_ceos}", "{kind: linux}")).text;
  // h0 and h1 hang on the first leaf, whatever the file's order.
  for (const char* line :
       {"#   h0: s1\n", "#   h1: s3\n", "#   h2: s2\n", "#   h3: s4\n", "#   p0.t0-0: leaf1\n",
        "#   p0.t0-1: leaf2\n", "#   p0.t1-0: spine1\n"}) {
    CAPTURE(line);
    CHECK(text.find(line) != std::string::npos);
  }
  CHECK(
      to_yaml(parse_fabric(read_yaml_text(text, "back"))) ==
      to_yaml(
          fabric_from(clos("{kind: arista_ceos}", "{kind: arista_ceos}", "{kind: linux}")).shape));
}

TEST_CASE("planes are the ports of hosts in their interfaces' own order, eth10 behind eth2") {
  std::string text = "name: p\ntopology:\n  nodes:\n    h: {kind: linux}\n    i: {kind: linux}\n";
  std::string links;
  for (int p = 0; p < 12; ++p) {
    const std::string leaf = "l" + std::to_string(p);
    text += "    " + leaf + ": {kind: nokia_srlinux}\n";
    for (const char* host : {"i", "h"}) {
      links += "    - endpoints: [\"" + leaf + ":" + host + "\", \"" + host + ":eth" +
               std::to_string(p + 1) + "\"]\n";
    }
  }
  const ImportedFabric fabric = fabric_from(text + "  links:\n" + links);
  CHECK(fabric.shape.planes == 12);
  CHECK(fabric.text.find("#   p9.t0-0: l9\n") != std::string::npos);
  CHECK(fabric.text.find("#   p1.t0-0: l1\n") != std::string::npos);
}

TEST_CASE("what is no regular planes is listed, with names and uSIDs of its own") {
  std::string text = clos("{kind: nokia_srlinux}", "{kind: nokia_srlinux}", "{kind: linux}");
  text +=
      "    - type: veth\n      endpoints:\n        - {node: leaf1, interface: e1-50}\n"
      "        - {node: leaf2, interface: e1-50, mac: \"02:00:00:00:00:01\"}\n";
  const GraphShape graph = fabric_from(text).shape.graph;
  REQUIRE(graph.switches.size() == 3);
  CHECK(graph.switches[0] == GraphShape::Switch{"spine1", Usid{0x0100}});
  CHECK(graph.switches[2] == GraphShape::Switch{"leaf2", Usid{0x0300}});
  CHECK(graph.hosts == std::vector<std::vector<uint32_t>>{{1}, {2}, {1}, {2}});
  CHECK(graph.links == std::vector<GraphShape::Link>{{1, 0}, {1, 2}, {2, 0}});
}

TEST_CASE("names that a fabric's list does not take become others, one to one") {
  const ImportedFabric fabric = fabric_from(
      "name: n\ntopology:\n  nodes:\n    A_Switch_Of_Ours: {kind: nokia_srlinux}\n"
      "    a-switch-of-mine: {kind: nokia_srlinux}\n    h7: {kind: nokia_srlinux}\n    x: {kind: "
      "linux}\n"
      "    y: {kind: linux}\n  links:\n    - endpoints: [\"x:eth1\", \"A_Switch_Of_Ours:e1\"]\n"
      "    - endpoints: [\"y:eth1\", \"a-switch-of-mine:e1\"]\n"
      "    - endpoints: [\"h7:e1\", \"A_Switch_Of_Ours:e2\"]\n    - endpoints: [\"h7:e2\", "
      "\"a-switch-of-mine:e2\"]\n"
      "    - endpoints: [\"A_Switch_Of_Ours:e3\", \"a-switch-of-mine:e3\"]\n");
  const GraphShape& graph = fabric.shape.graph;
  REQUIRE(graph.switches.size() == 3);
  CHECK(graph.switches[0].name == "a-switch-o");
  CHECK(graph.switches[1].name == "a-switch-2");
  CHECK(graph.switches[2].name == "sh7");
}

TEST_CASE("two links between two switches make carriers name links") {
  std::string text = clos("{kind: nokia_srlinux}", "{kind: nokia_srlinux}", "{kind: linux}");
  text += "    - endpoints: [\"leaf1:e1-50\", \"spine1:e1-9\"]\n";
  CHECK(fabric_from(text).shape.segments == Segments::kAdjacency);
}

TEST_CASE("links out of the fabric and nodes without links are left out and said") {
  std::string text = clos("{kind: nokia_srlinux}", "{kind: nokia_srlinux}", "{kind: linux}");
  text +=
      "    - endpoints: [\"leaf1:e1-60\", \"host:leaf1-e60\"]\n"
      "    - endpoints: [\"macvlan:enp0s3\", \"s1:eth9\"]\n"
      "    - endpoints: [\"leaf1:e1-61\", \"mgmt-net:x\"]\n"
      "    - type: host\n      endpoint: {node: s1, interface: eth7}\n      host-interface: a\n"
      "    - type: dummy\n      endpoint: {node: s1, interface: eth8}\n";
  text.replace(text.find("  links:"), 0, "    prometheus: {kind: linux}\n");
  const ImportedFabric fabric = fabric_from(text);
  CHECK(fabric.shape.hosts_per_t0 == 2);
  REQUIRE(fabric.left_out.size() == 6);
  CHECK(fabric.left_out[0] == "link 7, to \"host:leaf1-e60\": it leaves the fabric");
  CHECK(fabric.left_out[3] == "link 10, of type host: it leaves the fabric");
  CHECK(fabric.left_out[5] == "the node prometheus: it has no links");
}

TEST_CASE("what cannot be a fabric is refused where it stands") {
  struct Row {
    const char* text;
    const char* error;
  };
  const std::string nodes =
      "name: x\ntopology:\n  nodes:\n    a: {kind: linux, group: hosts}\n    b: {kind: "
      "nokia_srlinux}\n"
      "    c: {kind: linux, group: hosts}\n  links:\n    - endpoints: [\"a:eth1\", \"b:e1\"]\n    "
      "- ";
  const Row rows[] = {
      {"endpoints: [\"c:eth1\", \"d:e1\"]",
       "x.clab.yml:9:29: found the node \"d\": expected one of a, b, c"},
      {"endpoints: [\"c:eth1\"]", "x.clab.yml:9:18: found 1 endpoints: expected two"},
      {"endpoints: [\"c\", \"b:e2\"]",
       "x.clab.yml:9:19: found \"c\": expected a node and an interface: \"a:eth1\""},
      {"endpoints: [\"c:eth[1-4]\", \"b:e2\"]",
       "x.clab.yml:9:19: found the interface \"eth[1-4]\": expected one interface, such as "
       "eth1: ranges and patterns are not read"},
      {"endpoints: [\"c:\", \"b:e2\"]",
       "x.clab.yml:9:19: found the interface \"\": expected one interface, such as eth1: "
       "ranges and patterns are not read"},
      {"endpoints: [\"c:eth1\", \"b:e1\"]",
       "x.clab.yml:9:29: found a second link at b:e1: expected an interface of its own for each "
       "link"},
      {"endpoints: [\"a:eth2\", \"c:eth1\"]",
       "x.clab.yml:9:7: found a link between two hosts, a and c: expected a switch at one "
       "end (labels: {mrclab-role: switch})"},
      {"{type: vethh, endpoints: []}", "x.clab.yml:9:14: found \"vethh\": expected \"veth\""},
      {"{type: veth, endpoints: [[c], \"b:e2\"]}",
       "x.clab.yml:9:32: found a list: expected a map: {node: a, interface: eth1}"},
      {"[a, b]",
       "x.clab.yml:9:7: found a list: expected a link: endpoints: [\"a:eth1\", \"b:eth1\"]"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.text);
    CHECK(refusal(nodes + row.text + "\n") == row.error);
  }
}

TEST_CASE(
    "nodes that are neither host nor switch, or could be both, are refused where they stand") {
  const std::string twins =
      "name: x\ntopology:\n  nodes: {n1: {kind: linux}, n2: {kind: linux}, n3: {kind: linux}}\n"
      "  links:\n    - endpoints: [\"n1:e1\", \"n2:e1\"]\n    - endpoints: [\"n2:e2\", \"n3:e1\"]\n"
      "    - endpoints: [\"n3:e2\", \"n1:e2\"]\n";
  CHECK(refusal(twins) ==
        "x.clab.yml:3:11: found \"n1\", with 2 links, which may be a host or a switch: "
        "expected labels: {mrclab-role: host}, or t0, t1, leaf, spine, switch");
  CHECK(refusal(clos("{labels: {mrclab-role: leef}}", "", "")) ==
        "x.clab.yml:5:35: found \"leef\": expected \"leaf\"");
  CHECK(refusal("name: x\ntopology:\n  nodes:\n    \"a b\": {}\n") ==
        "x.clab.yml:4:5: found \"a b\": expected a node's name: letters, digits, dashes, dots, "
        "underscores");
  CHECK(refusal("name: x\ntopology:\n  nodes: {a: {kind: linux}}\n") ==
        "x.clab.yml:3:10: found 0 hosts and 0 switches: expected some of both, marked by "
        "labels: {mrclab-role: host}");
}

TEST_CASE("labels that are no setting of a fabric are refused at the label") {
  std::string text = clos("{kind: nokia_srlinux}", "{kind: nokia_srlinux}", "{kind: linux}");
  const auto with_label = [&](const std::string& label) {
    return refusal(text + "  defaults:\n    labels:\n      " + label + "\n");
  };
  CHECK(with_label("mrclab-pmtu: 12") ==
        "x.clab.yml:20:20: found \"12\": expected a whole number from 256 to 4096");
  CHECK(with_label("mrclab-decap: \"nic\\nplanes: 3\"") ==
        "x.clab.yml:20:21: found \"nic\\nplanes: 3\": expected a value on one line");
  CHECK(
      with_label("mrclab-routing: \"{default: fare, x\"").starts_with("x.clab.yml:20:23: found "));
  CHECK(with_label("mrclab-unknown: 3") == "no error");
}

TEST_CASE(
    "hosts with different numbers of links, and too many switches, are refused where they stand") {
  std::string text = clos("{kind: nokia_srlinux}", "{kind: nokia_srlinux}", "{kind: linux}");
  CHECK(refusal(text + "    - endpoints: [\"s2:eth2\", \"leaf1:e1-9\"]\n") ==
        "x.clab.yml:8:5: found the host \"s2\" with 2 links: expected 1, as the host \"s1\" has");
  std::string many = "name: x\ntopology:\n  nodes:\n    a: {kind: linux}\n    b: {kind: linux}\n";
  std::string links =
      "  links:\n    - endpoints: [\"a:eth1\", \"n0:e1\"]\n    - endpoints: [\"b:eth1\", "
      "\"n1024:e1\"]\n";
  for (int i = 0; i < 1025; ++i) {
    many += "    n" + std::to_string(i) + ": {kind: nokia_srlinux}\n";
    if (i > 0) {
      links += "    - endpoints: [\"n" + std::to_string(i - 1) + ":e2\", \"n" + std::to_string(i) +
               ":e3\"]\n";
    }
  }
  CHECK(refusal(many + links) ==
        "x.clab.yml:1028:5: found more keys: expected at most 1024 in one map");
}

TEST_CASE("a file with bytes changed, left out or doubled is read or refused, nothing else") {
  const std::string good =
      clos("{kind: nokia_srlinux, labels: {graph-level: 2}}", "{kind: linux, group: spine}", "") +
      "    - type: veth\n      endpoints: [{node: leaf1, interface: a}, {node: leaf2, interface: "
      "b}]\n"
      "  defaults: {labels: {mrclab-pmtu: 1024}}\n";
  uint64_t draws = 0;
  const auto roll = [&](uint64_t bound) { return below(mix64(++draws), bound); };
  size_t read = 0, refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = good;
    for (uint64_t n = roll(4) + 1; n > 0; --n) {
      const size_t at = roll(text.size());
      const uint64_t kind = roll(4);
      if (kind == 0) text[at] = static_cast<char>(roll(256));
      if (kind == 1) text.erase(at, roll(20));
      if (kind == 2) text.insert(at, text.substr(roll(text.size()), roll(40)));
      if (kind == 3) text[at] = "{}[]:,-\"\n# 0"[roll(12)];
    }
    const std::string error = refusal(text);
    if (error == "no error") {
      ++read;
    } else {
      ++refused;
      if (!error.starts_with("x.clab.yml:")) FAIL_CHECK(error);
    }
  }
  CHECK(read > 100);
  CHECK(refused > 100);
}

TEST_CASE(
    "links of the management network, to bridges, to a node itself and vxlans are left out and said") {
  std::string text = clos("{kind: nokia_srlinux}", "{kind: nokia_srlinux}", "{kind: linux}");
  text.replace(
      text.find("  links:"), 0,
      "    oob: {kind: bridge}\n    oob-mgmt-switch: {kind: cumulus_cvx}\n    ext: {kind: ext-container}\n");
  text +=
      "    - endpoints: [\"leaf1:e1-60\", \"oob:a\"]\n    - endpoints: [\"leaf1:e1-61\", \"oob-mgmt-switch:swp1\"]\n"
      "    - endpoints: [\"leaf1:e1-62\", \"leaf1:e1-63\"]\n    - endpoints: [\"s1:eth5\", \"ext:eth1\"]\n"
      "    - {type: vxlan, endpoint: {node: s1, interface: e}, remote: 1.1.1.1, vni: 1, dst-port: 2}\n"
      "    - endpoints: [\"vxlan:x\", \"s1:eth9\"]\n    - endpoints: [\"s1:eth8\", \"dummy\"]\n";
  const ImportedFabric fabric = fabric_from(text);
  CHECK(fabric.shape.hosts_per_t0 == 2);
  REQUIRE(fabric.left_out.size() == 10);
  CHECK(fabric.left_out[0] == "link 7, to oob, of kind bridge: it leaves the fabric");
  CHECK(fabric.left_out[1] ==
        "link 8, to oob-mgmt-switch, of the management network: it leaves the fabric");
  CHECK(fabric.left_out[2] == "link 9: it leads from leaf1 to itself");
  CHECK(fabric.left_out[4] == "link 11, of type vxlan: it leaves the fabric");
  CHECK(fabric.left_out[6] == "link 13, to \"dummy\": it leaves the fabric");
}
