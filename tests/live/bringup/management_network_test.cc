// The network beside the fabric: reached by IPv4 from every host, noticed by nobody as somebody else's change, gone with the
// lab.

#include "live/bringup/management_network.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "fabric/topology/build_topology.h"
#include "fabric/topology/fabric_file.h"
#include "fabric/topology/path.h"
#include "live/bringup/bring_up.h"
#include "live/bringup/node_container_files.h"
#include "live/world/live_lab.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/sandbox.h"
#include "tests/support/texts.h"
#include "verbs/protocol/management_address.h"

namespace mrclab::lab {
namespace {

FabricShape pair_shape() { return parse_fabric(read_yaml_file(find_fabric("pair"))); }

CommandResult in_host(const LiveFabric& fabric, uint32_t host, std::vector<std::string> words) {
  std::vector<std::string> argv{
      "/usr/bin/nsenter",
      "--net=/run/netns/" + fabric.namespace_name(fabric.topology().host(host))};
  argv.insert(argv.end(), words.begin(), words.end());
  return run_command_line(argv);
}

CommandResult ping(const LiveFabric& fabric, uint32_t from, uint32_t to) {
  return in_host(fabric, from,
                 {"/usr/bin/ping", "-c", "1", "-W", "5", management_address_text(to)});
}

}  // namespace

TEST_CASE("management addresses count from 10.255.0.1 and lead back to their hosts") {
  CHECK(management_address_text(0) == "10.255.0.1");
  CHECK(management_address_text(1) == "10.255.0.2");
  CHECK(management_address_text(255) == "10.255.1.0");
  for (const uint32_t host : {0u, 7u, 255u, 4095u, verbs::kMaxManagedHosts - 1}) {
    CHECK(verbs::managed_host(verbs::management_address(host)) == host);
  }
  CHECK(verbs::managed_host(verbs::kManagementNetwork) == UINT32_MAX);
  CHECK(verbs::managed_host(0x0AFE'0001) == UINT32_MAX);
  CHECK(verbs::managed_host(0x0AFF'FFFF) == UINT32_MAX);  // the network's broadcast address
}

TEST_SUITE_BEGIN("root: management network");

TEST_CASE("hosts reach one another by IPv4 beside the fabric, and all of it goes with the lab") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  const Topology topology = build_topology(pair_shape());
  {
    LiveFabric fabric(topology, "mgmt");
    CHECK_FALSE(fabric.has_management_network());
    CHECK(in_host(fabric, 0, {"/usr/bin/ip", "link", "show", "mgmt0"}).code != 0);
    fabric.make_management_network();
    CHECK(fabric.has_management_network());
    CHECK(ping(fabric, 0, 1).code == 0);
    CHECK(ping(fabric, 1, 0).code == 0);
    CHECK(ping(fabric, 0, 0).code == 0);
    // Its links do not depend on those of the fabric.
    for (const Link& link : topology.links) fabric.set_link(link.id, false);
    CHECK(ping(fabric, 0, 1).code == 0);
    fabric.make_management_network();  // is there
    CHECK(ping(fabric, 0, 1).code == 0);
    const auto own = own_namespaces({}, "mgmt");
    CHECK(std::find(own.begin(), own.end(), "mrclab-mgmt-mgmt_net") != own.end());
    const auto links = [](const std::vector<std::string>& lines) {
      return std::count_if(lines.begin(), lines.end(),
                           [](const auto& line) { return line.starts_with("link "); });
    };
    CHECK(links(kernel_snapshot()) == links(before));  // nothing in the root namespace
  }
  CHECK(kernel_snapshot() == before);
}

TEST_CASE("clean-up after a crash removes it by the record alone") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  const Topology topology = build_topology(pair_shape());
  const auto fabric = std::make_unique<LiveFabric>(topology, "crashed");
  fabric->make_management_network();
  const CleanUpReport report = clean_up("crashed");
  CHECK(report.problems.empty());
  CHECK(report.namespaces == topology.nodes.size() + 1);
  CHECK(kernel_snapshot() == before);
}

TEST_CASE("a name that others have taken is theirs, and the lab goes on without the network") {
  enter_sandbox();
  const Topology topology = build_topology(pair_shape());
  LiveFabric fabric(topology, "taken");
  {
    const auto theirs = netio::NetworkNamespace::create("mrclab-taken-mgmt_net", {});
    CHECK_THROWS_AS(fabric.make_management_network(), netio::SystemError);
    CHECK_FALSE(fabric.has_management_network());
    CHECK(in_host(fabric, 0, {"/usr/bin/ip", "link", "show", "mgmt0"}).code != 0);
  }
  fabric.make_management_network();
  CHECK(ping(fabric, 0, 1).code == 0);
}

TEST_CASE("made while a lab runs it is no change by others; what others do to it is") {
  enter_sandbox();
  const FabricShape shape = pair_shape();
  const Topology topology = build_topology(shape);
  LiveLabOptions options;
  options.name = "seen";
  options.shape = shape;
  options.dilation = 1000;
  options.programs = MRCLAB_BINARY_DIR;
  LiveLab lab(topology, options);
  lab.start();
  lab.step();
  lab.make_management_network();
  for (int i = 0; i < 20; ++i) lab.step();
  lab.look_again();
  CHECK(lab.outside_faults().kept().empty());
  CHECK(ping(lab.fabric(), 1, 0).code == 0);
  lab.look_again();
  CHECK(lab.outside_faults().kept().empty());
  CHECK(in_host(lab.fabric(), 0, {"/usr/bin/ip", "link", "set", "mgmt0", "down"}).code == 0);
  lab.look_again();
  REQUIRE_FALSE(lab.outside_faults().kept().empty());
  CHECK(test::mentions(lab.outside_faults().kept().front().what, "set down mgmt0 of h0"));
}

TEST_CASE("a host's name means its fabric address first and its management address by IPv4") {
  enter_sandbox();
  const Topology topology = build_topology(pair_shape());
  LiveFabric fabric(topology, "names");
  fabric.make_management_network();
  const std::string hosts = netio::read_file(fabric.run_directory() / "hosts");
  const std::string of_fabric = to_string(host_address(topology, 1));
  CHECK(test::mentions(hosts, of_fabric + " h1\n"));
  CHECK(test::mentions(hosts, "10.255.0.2 h1 h1.mgmt\n"));
  const netio::NodeContainer node = node_container(fabric.run_directory(), "h0");
  const auto ask = [&](const std::string& database, const std::string& name) {
    return netio::exec_in_node(
        node, fabric.network_namespace(topology.host(0)),
        {"/bin/sh", "-c",
         "test \"$(getent " + database + " " + name + " | head -n 1 | cut -d ' ' -f 1)\" = \"$0\"",
         database == "ahosts" ? of_fabric : "10.255.0.2"});
  };
  CHECK(ask("ahosts", "h1") == 0);
  CHECK(ask("ahostsv4", "h1") == 0);
  CHECK(ask("ahostsv4", "h1.mgmt") == 0);
}

TEST_SUITE_END();

}  // namespace mrclab::lab
