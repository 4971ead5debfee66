// Hosts and switches of containerlab topologies, by their images, icons and names; hosts for switches alone; variables.

#include <doctest/doctest.h>

#include "fabric/text/foreign_yaml.h"
#include "live/translate/containerlab_import.h"
#include "tests/support/errors.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

ImportedFabric imported(const std::string& text, uint32_t hosts_per_leaf = 0) {
  return import_containerlab(read_yaml_text(text, "x.clab.yml"), "x", "x.clab.yml", hosts_per_leaf);
}

/// Two planes of a spine and two leaves; `host` and `image` of nodes can be chosen.
std::string two_planes(const std::string& host, const std::string& host_image,
                       const std::string& switch_image) {
  std::string nodes, links;
  const auto node = [&](const std::string& name, const std::string& image) {
    nodes += "    " + name + ": {kind: linux, image: \"" + image + "\"}\n";
  };
  const auto link = [&](const std::string& a, const std::string& b) {
    links += "    - endpoints: [\"" + a + "\", \"" + b + "\"]\n";
  };
  for (int h = 0; h < 4; ++h) node(host + "0" + std::to_string(h), host_image);
  for (const std::string plane : {"p0", "p1"}) {
    node(plane + "-spine00", switch_image);
    for (int leaf = 0; leaf < 2; ++leaf) {
      const std::string name = plane + "-leaf0" + std::to_string(leaf);
      node(name, switch_image);
      link(name + ":eth9", plane + "-spine00:eth" + std::to_string(leaf + 1));
      for (int h = 0; h < 2; ++h) {
        link(name + ":eth" + std::to_string(h + 1),
             host + "0" + std::to_string(leaf * 2 + h) + ":eth" + (plane == "p0" ? "1" : "2"));
      }
    }
  }
  return "name: planes\ntopology:\n  nodes:\n" + nodes + "  links:\n" + links;
}

std::vector<std::string> check_two_planes(const std::string& text) {
  ImportedFabric fabric;
  CHECK_NOTHROW(fabric = imported(text));
  CHECK(fabric.shape.graph.empty());
  CHECK(fabric.shape.planes == 2);
  CHECK(fabric.shape.t0 == 2);
  CHECK(fabric.shape.t1 == 1);
  CHECK(fabric.shape.hosts_per_t0 == 2);
  return fabric.decided;
}

}  // namespace

TEST_CASE(
    "hosts with a port in each plane, between linux switches, are found by image, icon and name") {
  using Sentences = std::vector<std::string>;
  CHECK(check_two_planes(
            two_planes("green-host", "alpine-srv6-scapy:1.0", "docker-sonic-vs:latest")) ==
        Sentences{"4 hosts by image: green-host00, green-host01, green-host02, ...",
                  "6 switches by image: p0-spine00, p0-leaf00, p0-leaf01, ..."});
  CHECK(check_two_planes(two_planes("gpu", "alpine", "quay.io/frrouting/frr:10")) ==
        Sentences{"4 hosts by name: gpu00, gpu01, gpu02, ...",
                  "6 switches by image: p0-spine00, p0-leaf00, p0-leaf01, ..."});
  // One image for all of them tells nothing.
  CHECK(check_two_planes(two_planes("dgxHost", "frrouting/frr", "frrouting/frr")) ==
        Sentences{"4 hosts by name: dgxHost00, dgxHost01, dgxHost02, ...",
                  "6 switches by name: p0-spine00, p0-leaf00, p0-leaf01, ..."});
  check_two_planes(two_planes("server", "ubuntu", "ubuntu"));
  std::string icons = two_planes("n", "ubuntu", "ubuntu");
  for (size_t at = 0; (at = icons.find("    n0", at)) != std::string::npos; at += 8) {
    icons.insert(icons.find('}', at), ", labels: {graph-icon: client}");
  }
  CHECK(check_two_planes(icons)[0] == "4 hosts by icon: n00, n01, n02, ...");
}

TEST_CASE("a file of switches alone gets hosts on each leaf, with a port in each plane") {
  std::string text = two_planes("host", "alpine", "frrouting/frr");
  for (size_t at = 0; (at = text.find("    host0", at)) != std::string::npos;) {
    text.erase(at, text.find('\n', at) + 1 - at);
  }
  for (size_t at = 0; (at = text.find("\"host0", at)) != std::string::npos;) {
    at = text.rfind("    - ", at);
    text.erase(at, text.find('\n', at) + 1 - at);
  }
  CHECK(test::error_of([&] { imported(text); }).find("--hosts-per-leaf 2") != std::string::npos);
  const ImportedFabric fabric = imported(text, 3);
  CHECK(fabric.shape.planes == 2);
  CHECK(fabric.shape.t0 == 2);
  CHECK(fabric.shape.hosts_per_t0 == 3);
  CHECK(
      fabric.decided[0] ==
      "6 hosts by --hosts-per-leaf: added-p0-leaf00-1, added-p0-leaf00-2, added-p0-leaf00-3, ...");
  CHECK(
      imported("name: x\ntopology:\n  nodes: {srl: {kind: nokia_srlinux}, b: {kind: bridge}}\n", 2)
          .shape.hosts_per_t0 == 2);
  CHECK(test::error_of([&] {
          imported(two_planes("host", "alpine", "frrouting/frr"), 2);
        }).find("found the host host00: expected --hosts-per-leaf for a file without hosts") !=
        std::string::npos);
}

TEST_CASE(
    "variables of the environment stand anywhere in a file, with defaults as envsubst has them") {
  const auto value = [](const std::string& text) {
    return with_variables(text, [](const std::string& name) -> const char* {
      return name == "SET" ? "set" : name == "EMPTY" ? "" : nullptr;
    });
  };
  CHECK(value("${SET} $SET. ${SET:-x} ${SET:=x} ${SET-x} ${SET=x}") == "set set. set set set set");
  CHECK(value("${NO:-x} ${NO:=x} ${NO-x} ${NO=x} ${EMPTY:-x}|${EMPTY-x}") == "x x x x x|");
  CHECK(value("${SET:+y} ${NO:+y}|${NO:-${SET:-z}}|${NO:-a:b/c}") == "y |set|a:b/c");
  CHECK(value("$NO ${NO} ${NO:?m} $$SET $5 ${ ${9} $") == "$NO ${NO} ${NO:?m} $SET $5 ${ ${9} $");
}

TEST_CASE("anchors, aliases and merge keys of YAML stand for what they name, within bounds") {
  const std::string text =
      "name: x\nx-switch: &switch {kind: linux, image: frrouting/frr, labels: {role: leaf}}\n"
      "topology:\n  nodes:\n    a: *switch\n    b: {<<: *switch, image: other, labels: {role: spine}}\n"
      "    h1: &host {kind: linux}\n    h2: {<<: [*host, *switch], image: gpu-host, labels: {role: host}}\n"
      "  links:\n    - endpoints: [\"a:e1\", \"b:e1\"]\n    - endpoints: [\"a:e2\", \"h1:e1\"]\n"
      "    - endpoints: [\"a:e3\", \"h2:e1\"]\n";
  const ImportedFabric fabric =
      import_containerlab(read_foreign_yaml_text(text, "x.clab.yml"), "x", "x.clab.yml");
  CHECK(fabric.shape.t1 == 1);
  CHECK(fabric.shape.hosts_per_t0 == 2);
  CHECK(test::error_of([&] { imported(text); }).find("an anchor") != std::string::npos);
  std::string bomb = "a0: &a0 [x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 20; ++i) {
    const std::string before = "*a" + std::to_string(i - 1), name = "a" + std::to_string(i);
    bomb += name + ": &" + name + " [";
    for (int n = 0; n < 8; ++n) bomb += (n > 0 ? ", " : "") + before;
    bomb += "]\n";
  }
  CHECK(test::error_of([&] { read_foreign_yaml_text(bomb, "x"); }).find("more values") !=
        std::string::npos);
}
