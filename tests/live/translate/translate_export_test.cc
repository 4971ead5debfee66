// Fabrics as other labs' topologies: names, routes, and that they come back as they were.

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "fabric/paths/path_list.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/routes.h"
#include "live/translate/containerlab_export.h"
#include "live/translate/containerlab_import.h"
#include "live/translate/endpoint_words.h"
#include "live/translate/fabric_labels.h"
#include "live/translate/kathara_export.h"
#include "live/translate/netlab_export.h"
#include "live/translate/node_setup.h"
#include "live/translate/switch_config.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/errors.h"
#include "tests/support/texts.h"

using namespace mrclab;
using namespace mrclab::lab;
using mrclab::test::error_of;

namespace {

FabricShape shipped(const std::string& name) {
  return parse_fabric(read_yaml_file(find_fabric(name)));
}

FabricShape written(const std::string& text) {
  return parse_fabric(read_yaml_text(text, "fabric.yaml"));
}

/// A graph with links that carriers name (uA), two of them between the same switches.
FabricShape adjacency_fabric() {
  return written(
      "name: twice\nswitches: {leaf1: 0100, leaf2: 0200}\nhosts: [[leaf1], [leaf2]]\n"
      "links: {leaf1: [leaf2, leaf2]}\nsegments: adjacency\n");
}

ExportOptions with(SwitchKind kind) {
  ExportOptions options;
  options.switches = kind;
  return options;
}

ExportedFabric exported(const FabricShape& shape, SwitchKind kind = SwitchKind::kMrclab) {
  return {shape, with(kind), containerlab_tool()};
}

NodeId node_named(const ExportedFabric& fabric, const std::string& name) {
  const auto found = fabric.topology().find_node(name);
  REQUIRE(found.has_value());
  return *found;
}

bool has_line(const std::vector<std::string>& lines, const std::string& line) {
  return std::find(lines.begin(), lines.end(), line) != lines.end();
}

ImportedFabric imported_back(const std::string& text) {
  const YamlValue document = read_yaml_text(text, "x.clab.yml");
  return import_containerlab(document, containerlab_name(document), "x.clab.yml");
}

constexpr const char* kTooLarge = "stargate";  // more nodes than namespaces are made for
constexpr SwitchKind kAllKinds[] = {SwitchKind::kMrclab, SwitchKind::kFrr, SwitchKind::kSonicVs,
                                    SwitchKind::kCeos};

}  // namespace

TEST_CASE(
    "nodes of every fabric have names of their own that containerlab, netlab and Kathara take") {
  std::vector<FabricShape> shapes{
      written("name: odd\nswitches: {host: 0100, -a: 0200, n-a: 0300, mgmt-net: 0400, a-: 0500, "
              "ax: 0600, \"1\": 0700, shared: 0800}\nhosts: [[host], [-a]]\n"
              "links: {host: [-a, n-a, mgmt-net, a-, ax, \"1\", shared]}\n")};
  for (const std::string& name : shipped_names("fabrics")) {
    if (name != kTooLarge) shapes.push_back(shipped(name));
  }
  const std::regex containerlab("[a-z0-9]([a-z0-9-]*[a-z0-9])?");  // Kubernetes' names as well
  const std::regex netlab("[a-zA-Z_][a-zA-Z0-9_-]{0,15}"), kathara("[a-z0-9_]{1,30}");
  for (const FabricShape& shape : shapes) {
    CAPTURE(shape.name);
    const Topology topology = build_topology(shape);
    const auto check = [&](const NameRule& rule, const std::regex& form) {
      const std::vector<std::string> names = tool_names(topology, rule);
      CHECK(std::set<std::string>(names.begin(), names.end()).size() == topology.nodes.size());
      for (const std::string& name : names) {
        if (!std::regex_match(name, form)) FAIL_CHECK(name);
      }
    };
    check(containerlab_names(), containerlab);
    check(netlab_names(), netlab);
    check(kathara_names(), kathara);
  }
  const std::vector<std::string> odd = tool_names(build_topology(shapes[0]), containerlab_names());
  CHECK(odd[2] == "hostx");  // "host:eth1" would be a link to the machine itself
  CHECK(odd[3] == "n-a");
  CHECK(odd[4] == "n-ax");
}

TEST_CASE(
    "every shipped fabric comes back from containerlab's form as it was, for each kind of switch") {
  for (const std::string& name : shipped_names("fabrics")) {
    if (name == kTooLarge) continue;
    CAPTURE(name);
    const FabricShape shape = shipped(name);
    for (const SwitchKind kind : kAllKinds) {
      CAPTURE(name_of(kind));
      ExportOptions options = with(kind);
      // Theirs are too long with their configuration (1 MiB), and a map of 1,536 nodes is in any case.
      options.bare = name == "campus" || name == "district";
      if (name == "metro") continue;
      const ImportedFabric back = imported_back(export_containerlab(shape, options, "x").text);
      CHECK(to_yaml(back.shape) == to_yaml(shape));
      CHECK(back.left_out.empty());
    }
  }
}

TEST_CASE(
    "planes of three tiers come back as pods, and as switches one by one where a link lacks") {
  const std::string pods = "name: pods\nplanes: 2\npods: 2\nt0: 4\nt1: 4\nt2: 2\nhosts_per_t0: 1\n";
  for (const char* links : {"", "t2_links: mesh\n"}) {
    const FabricShape shape = written(pods + links);
    std::string text = export_containerlab(shape, {}, "x").text;
    CHECK(to_yaml(imported_back(text).shape) == to_yaml(shape));
    const size_t last = text.rfind("    - endpoints:");
    text.resize(last);  // between a T1 and a T2
    CHECK(imported_back(text).shape.graph.switches.size() == 2 * (4 + 4 + 2));
  }
}

TEST_CASE("rates, latencies, queues and other settings of a fabric come back by labels") {
  const FabricShape shape = written(
      "name: all\nplanes: 2\nt0: 2\nt1: 2\nhosts_per_t0: 1\naddress_plan: full\nhost_rate: "
      "200Gb/s\n"
      "fabric_rate: 100Gb/s\nlink_rates: [{links: \"p0.t0-*:u1\", rate: 50Gb/s}]\npropagation: "
      "1us\n"
      "switch_latency: 300ns\nhost_latency: 2us\npmtu: 1024\noptics: off\nwires: fast\n"
      "ecn: {min: 0.1, max: 0.5}\ntrim: off\nqueues: {control: 2.0}\ndscp: {control: 46}\n"
      "nic: {profile: cx8, compress: 2000}\nrouting: {default: ecmp, hash_seed: same}\n");
  const std::string text = export_containerlab(shape, {}, "x").text;
  CHECK(to_yaml(imported_back(text).shape) == to_yaml(shape));
  CHECK(test::mentions(text, "mrclab-host-rate: \"200Gb/s\""));
  CHECK(to_yaml(imported_back(export_containerlab(adjacency_fabric(), {}, "x").text).shape) ==
        to_yaml(adjacency_fabric()));
}

TEST_CASE(
    "a switch's commands are the lab's own table of uSID routes, each out of the port that leads "
    "there") {
  for (const FabricShape& shape : {shipped("pair"), shipped("octet"), shipped("ai-backend"),
                                   shipped("fare"), shipped("ring"), adjacency_fabric()}) {
    CAPTURE(shape.name);
    const ExportedFabric fabric = exported(shape);
    const Topology& topology = fabric.topology();
    for (const NodeSite& site : topology.nodes) {
      if (site.role == NodeRole::kHost) continue;
      CAPTURE(site.name);
      const std::vector<std::string> commands = node_setup(fabric, site.id).commands;
      size_t expected = 2;  // the blackhole and the switch's own uSID
      CHECK(has_line(commands,
                     fmt::format("ip -6 route replace 5f00:0:{:x}::/48 encap seg6local action End "
                                 "flavors next-csid lblen 32 nflen 16 count dev sr0 proto static",
                                 site.usid.value)));
      CHECK(has_line(commands, "ip -6 route replace blackhole 5f00::/32 proto static"));
      for (uint32_t i = 0; i < site.ports.size(); ++i) {
        const PortRef port{site.id, PortId{i}};
        const std::string hop = to_string(link_address(topology, topology.port(port).peer));
        for (const Usid usid : usids_behind(topology, port)) {
          std::string action = " via " + hop + fmt::format(" dev eth{}", i + 1);
          ++expected;
          if (port_of_adjacency(topology, site.id, usid)) {
            ++expected;  // the next hop of that uA
            action = fmt::format(
                " encap seg6local action End.X nh6 fd00:ffff::{:x} flavors next-csid "
                "lblen 32 nflen 16 count dev eth{}",
                i + 1, i + 1);
            CHECK(
                has_line(commands, fmt::format("ip -6 route replace fd00:ffff::{:x}/128 via {} dev "
                                               "eth{} proto static",
                                               i + 1, hop, i + 1)));
          }
          CHECK(
              has_line(commands, fmt::format("ip -6 route replace 5f00:0:{:x}::/48{} proto static",
                                             usid.value, action)));
        }
      }
      // Routes to hosts: of a leaf that strips carriers, and of a switch that speaks BGP.
      const size_t hosts = static_cast<size_t>(
          std::count_if(commands.begin(), commands.end(), [](const std::string& c) {
            return c.starts_with("ip -6 route replace fd00:") && !test::mentions(c, "fd00:ffff:");
          }));
      if (topology.decap == Decap::kLeaf) ++expected;  // what it strips by
      const auto routes = static_cast<size_t>(
          std::count_if(commands.begin(), commands.end(),
                        [](const std::string& c) { return c.starts_with("ip -6 route "); }));
      CHECK(routes == expected + hosts);
    }
  }
}

TEST_CASE(
    "FRR has the same routes as the commands of our image, and with BGP tells of hosts alone") {
  const ExportedFabric ours = exported(shipped("octet")),
                       frr = exported(shipped("octet"), SwitchKind::kFrr);
  const NodeId node = node_named(ours, "p3.t0-1");
  const std::string config = frr_config_of(frr, node);
  const std::vector<netio::Route> plain = exported_routes(ours, node, true);
  CHECK(plain.size() == 4 * 2 + 4);  // two uSIDs of each host, four T1s
  for (const netio::Route& route : plain) {
    CHECK(test::mentions(config, "ipv6 route " + netio::prefix_text(route.destination) + " " +
                                     to_string(*route.via) + " " + route.dev + "\n"));
    CHECK(has_line(node_setup(ours, node).commands, route_command(route)));
    CHECK_FALSE(has_line(node_setup(frr, node).commands, route_command(route)));
  }
  CHECK(test::mentions(frr_daemons(frr), "bgpd=no"));

  const ExportedFabric fare = exported(shipped("fare"), SwitchKind::kFrr);
  const NodeId leaf = node_named(fare, "p1.t0-2");
  const std::string speaker = frr_config_of(fare, leaf);
  CHECK(test::mentions(speaker, "redistribute static"));
  CHECK(test::mentions(speaker, "ipv6 route fd00:2::4/128 " +
                                    to_string(fare.next_hop({leaf, PortId{0}})) + " eth1\n"));
  CHECK_FALSE(test::mentions(speaker, "ipv6 route 5f00"));  // BGP would announce it to others
  CHECK(has_line(node_setup(fare, leaf).commands, "ip -6 route replace 5f00:0:1103::/48 via " +
                                                      to_string(fare.next_hop({leaf, PortId{5}})) +
                                                      " dev eth6 proto static"));
  CHECK(test::mentions(frr_daemons(fare), "bgpd=yes"));
}

TEST_CASE("names that YAML takes for no text stand in quotes, and come back as they were") {
  const FabricShape odd = written(
      "name: odd\nswitches: {\"null\": 0100, \"true\": 0200, \"1e3\": 0300}\n"
      "hosts: [[\"null\"], [\"true\"]]\nlinks: {\"null\": [\"1e3\"], \"true\": [\"1e3\"]}\n");
  const std::string lab = export_containerlab(odd, {}, "").text;
  for (const char* name : {"null", "true", "1e3"}) {
    CHECK(lab.find(fmt::format("\n    \"{}\":\n", name)) != std::string::npos);
  }
  const std::string netlab = export_netlab(odd, {}, "").text;
  for (const char* name : {"null", "true"}) {  // names there begin with a letter
    CHECK(netlab.find(fmt::format("\n  \"{}\":\n", name)) != std::string::npos);
    CHECK(netlab.find(fmt::format("\"{}\": {{ifindex", name)) != std::string::npos);
  }
  CHECK(netlab.find("\n  n1e3:\n") != std::string::npos);
  const FabricShape again = parse_fabric(read_yaml_text(to_yaml(odd, 0), "again"));
  CHECK(to_yaml(again, 0) == to_yaml(odd, 0));
}

TEST_CASE("our BGP speaker gets its links by the names there, and is started") {
  const ExportedLab lab = export_containerlab(shipped("fare"), {}, "x");
  const auto file = std::find_if(lab.files.begin(), lab.files.end(), [](const LabFile& f) {
    return f.path == "fare-config/p0-t0-0.bgpd.yaml";
  });
  REQUIRE(file != lab.files.end());
  CHECK(test::mentions(file->text,
                       "- {device: eth3, local: \"fd01::6:0:1\", remote: \"fd01::6:0:2\""));
  CHECK(test::mentions(file->text, "- {prefix: \"fd00::1/128\", device: eth2}"));
  CHECK(test::mentions(lab.text, "- fare-config/p0-t0-0.bgpd.yaml:/etc/mrc-bgpd.yaml\n"));
  CHECK(test::mentions(lab.text, "/usr/lib/mrclab/mrc-bgpd /etc/mrc-bgpd.yaml"));
  CHECK(lab.files.size() == 14);  // one for each switch
  CHECK(export_containerlab(shipped("octet"), {}, "x").files.empty());
}

TEST_CASE("SONiC and EOS are told the switch's uSID, its links and every route") {
  const ExportedFabric sonic = exported(shipped("octet"), SwitchKind::kSonicVs);
  const NodeId node = node_named(sonic, "p3.t0-1");
  const std::vector<std::string> commands = sonic_commands(sonic, node);
  CHECK(has_line(commands,
                 "sonic-db-cli CONFIG_DB HSET 'SRV6_MY_LOCATORS|mrclab' prefix 5f00:0:2301:: "
                 "block_len 32 node_len 16 func_len 0"));
  CHECK(has_line(commands,
                 "sonic-db-cli CONFIG_DB HSET 'SRV6_MY_SIDS|mrclab|5f00:0:2301::/48' action uN "
                 "decap_dscp_mode pipe"));
  const std::string hop = to_string(sonic.next_hop({node, PortId{7}}));
  CHECK(has_line(commands, "vtysh -c 'configure terminal' -c 'ipv6 route 5f00:0:1303::/48 " + hop +
                               " Ethernet28'"));
  CHECK(has_line(commands, "config interface ip add Ethernet28 " +
                               netio::prefix_text(port_prefix(sonic, {node, PortId{7}}))));
  const std::string eos = eos_config(exported(shipped("octet"), SwitchKind::kCeos), node);
  CHECK(test::mentions(eos, "prefix micro-segment domain mrclab end usid 0x2301\n"));
  CHECK(test::mentions(eos, "ipv6 route 5f00:0:1303::/48 Ethernet8 " + hop + "\n"));
  for (const netio::Route& route : exported_routes(sonic, node, true)) {
    CHECK(test::mentions(eos, "ipv6 route " + netio::prefix_text(route.destination) + " Ethernet"));
  }
  const ExportedFabric twice = exported(adjacency_fabric(), SwitchKind::kSonicVs);
  const NodeId leaf = node_named(twice, "leaf1");
  CHECK(has_line(
      sonic_commands(twice, leaf),
      "sonic-db-cli CONFIG_DB HSET 'SRV6_MY_SIDS|mrclab|5f00:0:a002::/48' action uA interface "
      "Ethernet8 adj " +
          to_string(twice.next_hop({leaf, PortId{2}}))));
  CHECK(error_of([] { export_containerlab(shipped("campus"), with(SwitchKind::kSonicVs), "x"); }) ==
        "--switches sonic-vs: found p0.t1-0 with 42 ports: expected at most 32, which the virtual "
        "switch has");
}

TEST_CASE("what a lab has no means for stands at the top of the file") {
  const auto top = [](const std::string& text) { return text.substr(0, text.find("\nname: ")); };
  const std::string octet = top(export_containerlab(shipped("octet"), {}, "mrclab export x").text);
  for (const char* said : {"timing: wall", "100Gb/s to hosts", "propagation (500ns)", "ECN marks",
                           "faults, captures and verdicts", "mrclab export x"}) {
    CAPTURE(said);
    CHECK(test::mentions(octet, said));
  }
  for (size_t at = 0; at < octet.size();) {
    CHECK(octet[at] == '#');
    const size_t end = std::min(octet.find('\n', at), octet.size());
    CHECK(end - at <= 120);
    at = end + 1;
  }
  CHECK(
      test::mentions(top(export_containerlab(shipped("ecmp-octet"), {}, "x").text), "do not hash"));
  CHECK(test::mentions(top(export_containerlab(shipped("campus"), {}, "x").text),
                       "no routes to each other"));
  CHECK(test::mentions(top(export_containerlab(shipped("fare"), with(SwitchKind::kCeos), "x").text),
                       "EOS: its BGP (routing: fare) is not configured here."));
  CHECK(test::mentions(top(export_netlab(shipped("fare"), with(SwitchKind::kFrr), "x").text),
                       "BGP (routing: fare) is not configured"));
}

TEST_CASE(
    "a dilation shapes every interface to its link's rate divided by it, others are not shaped") {
  ExportOptions options;
  CHECK_FALSE(test::mentions(export_containerlab(shipped("pair"), options, "x").text, "tc qdisc"));
  options.dilation = 1000;
  const FabricShape shape = written(
      "name: fast\nplanes: 1\nt0: 2\nt1: 1\nhosts_per_t0: 1\nhost_rate: 50Gb/s\nfabric_rate: "
      "400Gb/s\n");
  const ExportedFabric fabric(shape, options, containerlab_tool());
  const std::vector<std::string> commands =
      node_setup(fabric, node_named(fabric, "p0.t0-0")).commands;
  const auto shaped = [&](const std::string& start) {
    return std::any_of(commands.begin(), commands.end(),
                       [&](const std::string& c) { return c.starts_with(start); });
  };
  CHECK(shaped("tc qdisc replace dev eth1 root tbf rate 50000000bit burst "));
  CHECK(shaped("tc qdisc replace dev eth2 root tbf rate 400000000bit burst "));
}

TEST_CASE("the MTU of shorter links leaves room for the outer header of a ping and for MRC's") {
  ExportOptions options;
  const auto stub = [&](const LabTool& tool) {
    const ExportedFabric fabric(shipped("pair"), options, tool);
    return node_setup(fabric, NodeId{0}).commands[1];
  };
  CHECK(stub(containerlab_tool()) == "ip link set dev sr0 mtu 4298 up");  // as in the lab
  CHECK(stub(kathara_tool()) == "ip link set dev sr0 mtu 1460 up");
  options.link_mtu = 1400;
  CHECK(stub(containerlab_tool()) == "ip link set dev sr0 mtu 1360 up");
  const std::string text = export_containerlab(shipped("pair"), options, "x").text;
  CHECK(
      test::mentions(text, "    - endpoints: [\"h0:eth1\", \"p0-t0-0:eth1\"]\n      mtu: 1400\n"));
  CHECK(test::mentions(text, " --mtu 1024\""));
  CHECK(test::mentions(export_netlab(shipped("pair"), options, "x").text,
                       "defaults.interfaces.mtu: 1400\n"));
}

TEST_CASE("a host's words for mrc-endpoint name every path to each other host") {
  const ExportedFabric fabric = exported(shipped("octet"));
  const auto words = endpoint_words(fabric, NodeId{1});
  REQUIRE(words.size() == 8);
  CHECK(words[0].first == "MRC_SELF");
  CHECK(
      test::mentions(words[0].second, "--listen :: --address fd02::2 --interface p0=eth1,p1=eth2"));
  CHECK(test::mentions(words[0].second, "--accept p0=5f00:0:e001::,"));
  CHECK(test::mentions(
      words[0].second,
      "--next-hop p0=" +
          to_string(
              fabric.topology().port(fabric.topology().port({NodeId{1}, PortId{0}}).peer).mac)));
  CHECK(words[4].first == "MRC_TO_h4");
  const auto carriers = std::count(words[4].second.begin(), words[4].second.end(), '=');
  CHECK(static_cast<size_t>(carriers) == paths_between(fabric.topology(), 1, 4).size());
  CHECK(test::mentions(words[4].second, ",p7=5f00:0:2700:1703:2701:e700::"));
  CHECK_FALSE(has_endpoint_words(exported(shipped("ai-backend"))));  // its leaves strip carriers
  CHECK_FALSE(has_endpoint_words(exported(shipped("octet"), SwitchKind::kCeos)));
  CHECK_FALSE(has_endpoint_words(exported(shipped("campus"))));
}

TEST_CASE("netlab gets interfaces and addresses as the routes name them") {
  const std::string text = export_netlab(shipped("pair"), with(SwitchKind::kFrr), "x").text;
  const YamlValue lab = read_yaml_text(text, "topology.yml");
  CHECK(lab.require("links").items().size() == 8);
  const YamlValue link = lab.require("links").items()[4];
  CHECK(link.require("h0").require("ifindex").as_integer(1, 99) == 2);
  CHECK(link.require("p1-t0-0").require("ipv6").as_string() == "fd01::4:0:2/112");
  CHECK(link.require("prefix.ipv6").as_string() == "fd01::4:0:0/112");
  const YamlValue leaf = lab.require("nodes").require("p0-t0-0");
  CHECK(leaf.require("device").as_string() == "frr");
  CHECK(leaf.require("routing.static").items().size() == 3);
  CHECK(test::mentions(leaf.require("config.inline").as_string(),
                       "encap seg6local action End flavors next-csid"));
  CHECK_FALSE(lab.get("defaults.const.MAX_NODE_ID").has_value());
  CHECK(test::mentions(export_netlab(shipped("campus"), with(SwitchKind::kFrr), "x").text,
                       "defaults.const.MAX_NODE_ID: 520\n"));
}

TEST_CASE("Kathara's lab.conf holds lines of its parser's form, and a startup file for each node") {
  // src/Kathara/parser/netkit/LabParser.py
  const std::regex line("[a-z0-9_]{1,30}\\[\\w+\\]=\"[^\"']+\"|#.*|LAB_NAME=\"[^\"=]+\"|");
  const ExportedLab lab = export_kathara(shipped("pair"), {}, "x");
  std::istringstream lines(lab.text);
  size_t interfaces = 0;
  for (std::string each; std::getline(lines, each);) {
    if (!std::regex_match(each, line)) FAIL_CHECK(each);
    interfaces += std::regex_search(each, std::regex("^\\w+\\[\\d+\\]=\"l\\d+\"$")) ? 1 : 0;
  }
  CHECK(interfaces == 16);  // two ends of eight links
  CHECK(lab.files.size() == 8);
  CHECK(lab.files[2].path == "p0_t0_0.startup");
  CHECK(test::mentions(lab.files[2].text, " via fd01::1 dev eth0 proto static\n"));
  CHECK(export_kathara(shipped("pair"), with(SwitchKind::kFrr), "x").files.size() == 8 + 2 * 6);
}

TEST_CASE("the verbs write a file with others beside it, and say why they do not") {
  const test::TemporaryRuns folder;
  const std::string file = folder.path() / "fare.clab.yml";
  const CommandResult without = lab::mrclab({"export", "containerlab", "fare"});
  CHECK(without.code == 2);
  CHECK(test::mentions(without.output,
                       "mrclab: -o: found none: expected a file, with 14 files beside it"));
  const CommandResult wrote = lab::mrclab({"export", "containerlab", "fare", "-o", file});
  CHECK(wrote.code == 0);
  CHECK(std::filesystem::exists(folder.path() / "fare-config" / "p1-t1-3.bgpd.yaml"));
  const std::string back = folder.path() / "back.yaml";
  const CommandResult read = lab::mrclab({"import", "containerlab", file, "-o", back});
  CHECK(read.code == 0);
  CHECK(test::mentions(read.output, "fare: 6 hosts, 14 switches, 36 links, regular planes\n"));
  CHECK(to_yaml(parse_fabric(read_yaml_file(back))) == to_yaml(shipped("fare")));
  CHECK(lab::mrclab({"import", "containerlab", file, "-o", back}).code == 0);  // it is that file
  std::ofstream(back, std::ios::app) << "# mine\n";
  CHECK(lab::mrclab({"import", "containerlab", file, "-o", back}).code == 2);
  CHECK(lab::mrclab({"import", "containerlab", file, "-o", back, "--force"}).code == 0);
  CHECK(lab::mrclab({"export", "kathara", "pair", "-o", folder.path() / "k"}).code == 0);
  CHECK(std::filesystem::exists(folder.path() / "k" / "lab.conf"));
  CHECK(lab::mrclab({"export", "netlab", "pair", "--switches", "ceos"}).code == 2);
  // A file's name beside verbs is no unknown verb.
  CHECK(test::mentions(lab::mrclab({"import", "x.csv"}).output, "--map is required"));
}
