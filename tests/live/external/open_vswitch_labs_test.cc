// Labs whose switches are Open vSwitch's, or of all three kinds: what is read back from them, what dies of them and
// what is left, and that ordinary tools show what they should.

#include <doctest/doctest.h>

#include <signal.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "fabric/topology/fabric_file.h"
#include "live/external/foreign_switches.h"
#include "live/world/live_lab.h"
#include "netio/kernel/open_vswitch.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/process_end.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"
#include "tests/support/texts.h"

namespace mrclab::lab {
namespace {

/// The largest send buffer in the output of "ss -0 -m":
/// "skmem:(r0,rb212992,t0,tb212992,f0,w0,o0,bl0,d0)".
size_t largest_send_buffer(const std::string& sockets) {
  size_t largest = 0;
  for (size_t at = sockets.find(",tb"); at != std::string::npos; at = sockets.find(",tb", at + 1)) {
    largest = std::max<size_t>(largest, std::stoul(sockets.substr(at + 3)));
  }
  return largest;
}

/// What a switch's own uSID has ended, by `inspect --json`.
uint64_t packets_ended(const nlohmann::json& table) {
  uint64_t packets = 0;
  for (const auto& row : table.at("rows")) {
    if (!row.contains("hosts") && row.at("action") == "End") {
      packets += row.at("packets").get<uint64_t>();
    }
  }
  return packets;
}

}  // namespace

TEST_SUITE("root: labs of Open vSwitch") {
  TEST_CASE("a snapshot of Open vSwitch has its rules and its groups") {
    const Topology topology = read_fabric_file(lab::find_fabric("pair-ovs"));
    LiveFabric fabric(topology, "t_group_" + std::to_string(::getpid()));
    const OvsSwitches switches(fabric);
    const NodeId t0 = *topology.find_node("p0.t0-0");
    netio::PacketFilter filter(fabric.network_namespace(t0));
    const NodeSnapshot snapshot = take_snapshot(fabric, t0, filter, &switches, nullptr);
    const auto count = [&](const std::string& part) {
      return std::count_if(snapshot.begin(), snapshot.end(),
                           [&](const std::string& line) { return test::mentions(line, part); });
    };
    CHECK(count("rule ") == static_cast<long>(switchd::openflow_rules(topology, t0).size() +
                                              switchd::openflow_groups(topology, t0).size()));
    CHECK(count("group_id=") == static_cast<long>(switchd::openflow_groups(topology, t0).size()));
    CHECK(count("group_id=") > 0);
  }

  TEST_CASE("a switch daemon that dies is an outside fault, and the lab goes on") {
    const Topology topology = read_fabric_file(lab::find_fabric("pair-ovs"));
    LiveLabOptions options;
    options.name = "t_dead_" + std::to_string(::getpid());
    options.shape = parse_fabric(read_yaml_file(lab::find_fabric("pair-ovs")));
    options.dilation = 2000;
    options.programs = MRCLAB_BINARY_DIR;
    LiveLab lab(topology, options);
    lab.start();
    const auto pid_file = netio::ovs_folder(lab.fabric().run_directory()) / "ovs-vswitchd.pid";
    REQUIRE(::kill(std::stoi(netio::read_file(pid_file)), SIGKILL) == 0);
    const auto deadline = std::chrono::steady_clock::now() + kTestPatience;
    while (lab.outside_faults().kept().empty() && lab.step()) {
      REQUIRE(std::chrono::steady_clock::now() < deadline);
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    REQUIRE(lab.outside_faults().total() == 1);
    CHECK(test::mentions(lab.outside_faults().kept()[0].what, "ovs-vswitchd: signal 9"));
    CHECK(lab.step());
  }

  TEST_CASE("of Open vSwitch nothing is left, whoever of it or of the lab is killed") {
    enter_sandbox();
    const std::vector<std::string> before = kernel_snapshot();
    for (const std::string victim : {"mrclab-labd", "ovs-vswitchd", "ovsdb-server"}) {
      CAPTURE(victim);
      const CommandResult up = mrclab({"up", "pair-ovs", "--name", "gone"});
      REQUIRE_MESSAGE(up.code == 0, up.output);
      std::map<std::string, pid_t> pids{{"mrclab-labd", read_record({}, "gone")->owner.pid}};
      for (const std::string name : {"ovs-vswitchd", "ovsdb-server"}) {
        const auto file = netio::ovs_folder(LabPaths{}.lab_directory("gone")) / (name + ".pid");
        pids[name] = std::stoi(netio::read_file(file));
      }
      REQUIRE(::kill(pids.at(victim), SIGKILL) == 0);
      const CommandResult down = mrclab({"down", "gone"});
      CHECK_MESSAGE(down.code == 0, down.output);
      CHECK(difference(before, kernel_snapshot()) == "");
      for (const auto& entry : pids) {
        const auto& name = entry.first;
        const auto pid = entry.second;
        CAPTURE(name);
        CHECK(test::process_ends(pid));
      }
    }
  }

  TEST_CASE("what Open vSwitch cannot set up is told, and nothing is left of it") {
    enter_sandbox();
    const std::vector<std::string> before = kernel_snapshot();
    const test::TemporaryRuns folder;
    const auto file = folder.path() / "clash.yaml";
    // The bridge of the one has the name of a port of the other.
    netio::write_file(file, R"(
name: clash
switches: {leaf: 0100, leafd1: 0200}
hosts: [[leaf], [leaf], [leafd1]]
links: {leaf: [leafd1]}
forwarding: ovs
ecn: off
trim: off
)");
    const CommandResult up = mrclab({"up", file, "--name", "clash"});
    CHECK(up.code == 3);
    CHECK_MESSAGE(test::mentions(up.output, "leafd1"), up.output);
    CHECK(difference(before, kernel_snapshot()) == "");
  }

  TEST_CASE(
      "a lab of all three shows one form of table, and ordinary tools show what they should") {
    enter_sandbox();
    const auto said = [](std::vector<std::string> words) {
      const CommandResult result = mrclab(std::move(words));
      CHECK_MESSAGE(result.code == 0, result.output);
      return result.output;
    };
    said({"up", "mixed", "--name", "three"});
    // Ordinary traffic is spread over the planes by flow: ours, the kernel's, Open vSwitch's.
    said({"exec", "h0", "--", "ping", "-c", "1", "-W", kPingPatience, "h1"});
    said({"exec", "h0", "--", "bash", "-c",
          "for port in {20000..20127}; do echo x 2>&- > /dev/udp/h1/$port; done; true"});
    const std::map<std::string, std::string> switches{
        {"p0.t0-0", "switchd"}, {"p1.t0-0", "kernel"}, {"p2.t0-0", "ovs"}};
    for (const auto& entry : switches) {
      const auto& name = entry.first;
      const auto& by = entry.second;
      CAPTURE(name);
      auto table = mrclab_json({"inspect", "three", name, "--json"});
      // Open vSwitch hands its datapath's counts to its rules now and then only.
      for (int look = 0; look < 100 && packets_ended(table) < 2; ++look) {
        table = mrclab_json({"inspect", "three", name, "--json"});
      }
      CHECK(table.at("forwarding") == by);
      size_t ends = 0, routes = 0;
      std::string hosts;
      for (const auto& row : table.at("rows")) {
        if (row.contains("hosts")) {
          for (const char* key : {"hosts", "action", "port"}) {
            hosts += row.at(key).get<std::string>() + " ";
          }
        } else if (row.at("action") == "via") {
          ++routes;
        }
        if (row.at("action") != "End") continue;
        ++ends;
        CHECK(row.at("packets") > 1);
        CHECK(row.at("bytes") > 200);
        CHECK(row.at("errors") == 0);
      }
      CHECK(ends == 1);
      CHECK(routes == 6);  // two spines, and two uSIDs of each of two hosts
      // Without a carrier.
      CHECK(hosts == (by == "kernel" ? "" : "h0 via d0 h1 via d1 h2-h3 hash u0,u1 "));
      const std::string text = said({"inspect", name});
      CHECK(test::mentions(text, name + ": forwarded by " + by));
      CHECK(test::mentions(text, "h2-h3  hash    u0,u1") == (by != "kernel"));
    }
    const std::string fabric = said({"inspect"});
    CHECK(test::mentions(fabric, "FORWARDED BY"));
    CHECK(
        test::mentions(said({"exec", "p1.t0-0", "--", "ip", "-6", "route"}), "flavors next-csid"));
    const std::string flows = said({"exec", "p2.t0-0", "--", "ovs-ofctl", "dump-flows", "p2.t0-0"});
    CHECK(test::mentions(flows, "move:NXM_NX_IPV6_DST"));
    CHECK(test::mentions(said({"exec", "p2.t0-0", "--", "ovs-vsctl", "list-br"}), "p2.t0-1"));
    // One socket sends for all ports of plane 2: what waits in front of them must fit in.
    const Topology topology = read_fabric_file(lab::find_fabric("mixed"));
    size_t waiting = 0;
    for (const NodeSite& site : topology.nodes) {
      if (site.forwarding == Forwarding::kOvs && site.role != NodeRole::kHost) {
        waiting += site.ports.size() * topology.queues.tail_drop.value;
      }
    }
    CHECK(largest_send_buffer(said({"exec", "p2.t0-0", "--", "ss", "-0", "-m"})) > 4 * waiting);
    said({"down", "three"});
  }
}

}  // namespace mrclab::lab
