#include "live/bringup/bring_up.h"

#include <doctest/doctest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "fabric/topology/fabric_file.h"
#include "fabric/topology/path.h"
#include "live/inspect/link_states.h"
#include "netio/kernel/link.h"
#include "netio/system/child_process.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/sandbox.h"
#include "tests/netio/temporary_directory.h"
#include "tests/support/texts.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;

Topology pair_fabric(Forwarding forwarding = Forwarding::kSwitchd) {
  Topology topology = read_fabric_file(lab::find_fabric("pair"));
  for (NodeSite& site : topology.nodes) {
    if (site.role != NodeRole::kHost) site.forwarding = forwarding;
  }
  return topology;
}

size_t count_of(const std::vector<std::string>& lines, const std::string& start) {
  return static_cast<size_t>(std::count_if(
      lines.begin(), lines.end(), [&](const auto& line) { return line.starts_with(start); }));
}

/// Counters of an ICMPv6 kind that a host sent, from its /proc/net/snmp6.
uint64_t snmp6(const LiveFabric& fabric, NodeId node, const std::string& counter) {
  return fabric.network_namespace(node).run_in([&] {
    std::ifstream in("/proc/thread-self/net/snmp6");
    std::string name;
    for (uint64_t value = 0; in >> name >> value;) {
      if (name == counter) return value;
    }
    return uint64_t{0};
  });
}

CommandResult in_node(const LiveFabric& fabric, NodeId node, std::vector<std::string> words) {
  std::vector<std::string> argv{"/usr/bin/nsenter",
                                "--net=/run/netns/" + fabric.namespace_name(node)};
  argv.insert(argv.end(), words.begin(), words.end());
  return run_command_line(argv);
}

TEST_SUITE_BEGIN("root: bring-up");

TEST_CASE("a fabric comes up with its names, addresses and links, and goes without a trace") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  const Topology topology = pair_fabric();
  {
    LiveFabric fabric(topology, "trace");
    const auto during = kernel_snapshot();
    CHECK(count_of(during, "namespace mrclab-trace-") == topology.nodes.size());
    CHECK(count_of(during, "link ") == count_of(before, "link "));  // nothing in the root namespace
    for (const NodeSite& site : topology.nodes) {
      netio::NamespaceNetlink node(fabric.network_namespace(site.id));
      for (const Port& port : site.ports) {
        const netio::LinkState state = node.link(port.name());
        CHECK(state.mac == port.mac);
        CHECK(state.carrier);
        CHECK(state.mtu == port_mtu());
      }
      for (uint32_t i = 0; i < site.ports.size(); ++i) {
        const std::string full_name = topology.port_name({site.id, PortId{i}});
        CHECK(in_node(fabric, site.id, {"/usr/bin/ip", "link", "show", "dev", full_name}).code ==
              0);
      }
    }
    const std::optional<LabRecord> record = read_record({}, "trace");
    REQUIRE(record);
    CHECK(record->nodes.size() == topology.nodes.size());
    CHECK(is_running(record->owner));
  }
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_CASE("progress reaches the end of every step") {
  enter_sandbox();
  const Topology topology = pair_fabric();
  std::map<std::string, std::pair<size_t, size_t>> last;
  const LiveFabric fabric(topology, "steps", [&](const BringUpStep& step) {
    last[std::string(step.what)] = {step.done, step.total};
  });
  CHECK(last.size() == 4);
  for (const auto& entry : last) {  // clang 14 captures no structured bindings
    CAPTURE(entry.first);
    CHECK(entry.second.first == entry.second.second);
  }
}

TEST_CASE("namespaces come alone where the rest is to follow, and go alone where it does not") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  const Topology topology = pair_fabric();
  const NodeId host = topology.host(0);
  const std::string port = topology.node(host).ports[0].name();
  for (const bool connected : {false, true}) {
    LiveFabric fabric(LiveFabric::NamespacesAlone{}, topology, "parts");
    CHECK(fabric.netlink(host).links().size() == 1);  // lo
    if (!connected) continue;
    fabric.connect();
    CHECK(fabric.netlink(host).link(port).carrier);
  }
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_CASE("a second lab stands beside the first, and a name is taken only once") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  const Topology topology = pair_fabric();
  {
    const LiveFabric first(topology, "one");
    const auto with_first = kernel_snapshot();
    {
      const LiveFabric second(topology, "two");
      CHECK(first.lab_id() != second.lab_id());
      CHECK_THROWS_AS(LiveFabric(topology, "one"), InputError);
      CHECK(count_of(kernel_snapshot(), "namespace mrclab-") == 2 * topology.nodes.size());
    }
    CHECK(difference(with_first, kernel_snapshot()) == "");
  }
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_CASE("when a step of bring-up fails, what was there already goes again") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  const Topology topology = pair_fabric();
  const auto give_up_at = [](const std::string& what) {
    return [what](const BringUpStep& step) {
      if (step.what == what) throw std::runtime_error("enough");
    };
  };
  for (const char* what : {"namespaces", "links", "interfaces", "addresses and routes"}) {
    CAPTURE(what);
    CHECK_THROWS_AS(LiveFabric(topology, "fails", give_up_at(what)), std::runtime_error);
    CHECK(difference(before, kernel_snapshot()) == "");
  }
}

TEST_CASE("a link is set down at both ends, and its addresses and routes come back with it") {
  enter_sandbox();
  const Topology topology = pair_fabric(Forwarding::kKernel);
  LiveFabric fabric(topology, "flap");
  const auto routes = [&] {
    return in_node(fabric, topology.host(0), {"/usr/bin/ip", "-6", "route", "show", "table", "all"})
               .output +
           in_node(fabric, topology.host(0), {"/usr/bin/ip", "-6", "neigh"}).output +
           in_node(fabric, topology.t0(0, 0), {"/usr/bin/ip", "-6", "route"}).output;
  };
  const std::string before = routes();
  const LinkId link = topology.node(topology.host(0)).ports[0].link;
  fabric.set_link(link, false);
  CHECK_FALSE(fabric.link_is_up(link));
  CHECK_FALSE(link_states(topology, "flap")[link.value]);
  CHECK(routes() != before);
  fabric.set_link(link, true);
  CHECK(fabric.link_is_up(link));
  CHECK(link_states(topology, "flap")[link.value]);
  const auto sorted_lines = [](const std::string& text) {
    std::istringstream in(text);
    std::vector<std::string> lines;
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    std::sort(lines.begin(), lines.end());
    return lines;
  };
  CHECK(sorted_lines(routes()) == sorted_lines(before));
}

TEST_CASE("with forwarding by the kernel two hosts reach each other without any daemon") {
  enter_sandbox();
  const Topology topology = pair_fabric(Forwarding::kKernel);
  const LiveFabric fabric(topology, "kernel");
  const CommandResult ping = in_node(fabric, topology.host(0),
                                     {"/usr/bin/ping", "-c", "3", "-i", "0.05", "-W", kPingPatience,
                                      to_string(host_address(topology, 1))});
  CAPTURE(ping.output);
  CHECK(ping.code == 0);
  CHECK(ping.output.find(" 0% packet loss") != std::string::npos);
}

TEST_CASE("the kernel of a host answers nothing to packets for MRC's uSIDs") {
  enter_sandbox();
  const Topology topology = pair_fabric(Forwarding::kKernel);
  const LiveFabric fabric(topology, "quiet");
  // An ordinary program in h0 sends to the carrier that MRC would use, through both planes.
  for (uint32_t plane = 0; plane < topology.planes; ++plane) {
    const std::string mrc = to_string(make_carrier(topology, 0, 1, {plane, 0}));
    in_node(fabric, topology.host(0), {"/usr/bin/ping", "-c", "2", "-i", "0.05", "-W", "1", mrc});
  }
  CHECK(snmp6(fabric, topology.host(0), "Icmp6OutMsgs") == 4);  // they did go out
  const NodeId h1 = topology.host(1);
  CHECK(snmp6(fabric, h1, "Ip6InReceives") >= 4);  // and did arrive
  CHECK(snmp6(fabric, h1, "Icmp6OutMsgs") == 0);
}

TEST_CASE("clean-up works from the record alone and leaves its neighbours alone") {
  enter_sandbox();
  const fs::path foreign_name = "/run/netns/foreign-" + std::to_string(::getpid());
  const auto foreign = netio::NetworkNamespace::create(foreign_name.filename(), {});
  std::ofstream("/run/foreign-file") << "not ours";
  const auto before = kernel_snapshot();
  const Topology topology = pair_fabric();
  const pid_t child = ::fork();
  if (child == 0) {  // a process that dies with a lab up, without any destructor
    const LiveFabric fabric(topology, "orphan");
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  CHECK(count_of(kernel_snapshot(), "namespace mrclab-orphan-") == topology.nodes.size());
  const CleanUpReport report = clean_up("orphan");
  CHECK(report.namespaces == topology.nodes.size());
  CHECK(report.problems.empty());
  CHECK(difference(before, kernel_snapshot()) == "");
  CHECK(fs::exists(foreign_name));
  fs::remove("/run/foreign-file");
}

TEST_CASE("clean-up of everything leaves what no lab has recorded as its own, whatever its name") {
  enter_sandbox();
  const auto theirs = netio::NetworkNamespace::create("mrclab-lost-h0", {});
  std::ofstream("/run/netns/mrclab-lost-h1");
  fs::create_directories("/run/mrclab/unfinished");
  std::ofstream("/run/mrclab/unfinished/work") << "theirs";
  const netio::test::TemporaryDirectory folder;
  fs::copy_file("/bin/sleep", folder / "mrc-bgpd");
  netio::ChildOptions options;  // a program of ours by its name, which somebody runs in there
  options.argv = {folder / "mrc-bgpd", "600"};
  options.before_exec = [&theirs] { theirs.enter(); };
  netio::ChildProcess inside = netio::ChildProcess::spawn(options);
  const auto before = kernel_snapshot();
  const CleanUpReport report = clean_up_all();
  CHECK(report.namespaces == 0);
  CHECK(report.processes == 0);
  CHECK(report.problems.empty());
  CHECK(test::mentions(report.left_alone, "mrclab-lost-h0"));
  CHECK(test::mentions(report.left_alone, "/run/mrclab/unfinished"));
  CHECK(difference(before, kernel_snapshot()) == "");
  CHECK(inside.running());
  CHECK(clean_up("unfinished").left_alone.size() == 1);
  CHECK(netio::read_file("/run/mrclab/unfinished/work") == "theirs");
  fs::remove_all("/run/mrclab");
  fs::remove("/run/netns/mrclab-lost-h1");
}

TEST_CASE("an empty folder that a clean-up left at its very end is removed") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  fs::create_directories("/run/mrclab/ended");
  CHECK(clean_up_all().left_alone.empty());
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_CASE("a lab that does not come up leaves the namespace whose name it wanted") {
  enter_sandbox();
  const Topology topology = pair_fabric();
  const auto theirs = netio::NetworkNamespace::create("mrclab-wanted-h1", {});
  const auto before = kernel_snapshot();
  CHECK_THROWS_AS(LiveFabric(topology, "wanted"), netio::SystemError);
  CHECK(difference(before, kernel_snapshot()) == "");
  CHECK(netio::cookie_of_name("mrclab-wanted-h1") == theirs.cookie());
}

TEST_CASE("clean-up after a crash leaves a namespace that got a name of the lab's since") {
  enter_sandbox();
  const Topology topology = pair_fabric();
  const auto before = kernel_snapshot();
  const pid_t child = ::fork();
  if (child == 0) {
    const LiveFabric fabric(topology, "reused");
    ::kill(::getpid(), SIGKILL);
  }
  ::waitpid(child, nullptr, 0);
  REQUIRE(netio::remove_namespace("mrclab-reused-h0"));
  {
    const auto theirs = netio::NetworkNamespace::create("mrclab-reused-h0", {});
    CHECK(clean_up("reused").namespaces == topology.nodes.size() - 1);
    CHECK(netio::cookie_of_name("mrclab-reused-h0") == theirs.cookie());
  }
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_CASE("a record from before the last boot names no living process, and goes") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  // This process would be killed if its pid and start time were not checked.
  const LabRecord record{"old", "pair", 7, "another-boot", mark_of(::getppid(), "init"), {"h0"}};
  create_record({}, record);
  record_process({}, "old", mark_of(::getppid(), "mrc-switchd"));
  CHECK(clean_up("old").processes == 0);
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_CASE(
    "clean-up ends recorded processes and those that carry the lab's instance, and no others") {
  enter_sandbox();
  const auto before = kernel_snapshot();
  LabRecord record{"procs", "pair", 0xabcd'ef01'2345'6789, boot_id(), {}, {"h0"}};
  create_record({}, record);
  const auto sleeper = [](std::vector<std::pair<std::string, std::string>> environment) {
    netio::ChildOptions options;
    options.argv = {"/usr/bin/sleep", "600"};
    options.environment = std::move(environment);
    return netio::ChildProcess::spawn(options);
  };
  netio::ChildProcess recorded = sleeper({});
  netio::ChildProcess marked = sleeper({{"MRCLAB_INSTANCE", "abcdef0123456789"}});
  netio::ChildProcess foreign = sleeper({{"MRCLAB_INSTANCE", "abcdef0123456780"}});
  record_process({}, "procs", mark_of(recorded.pid(), "sleep"));
  const ProcessMark stale{foreign.pid(), 1, "sleep"};  // its pid, but of another process
  record_process({}, "procs", stale);
  CHECK(clean_up("procs").processes == 2);
  CHECK_FALSE(recorded.running());
  CHECK_FALSE(marked.running());
  CHECK(foreign.running());
  CHECK(difference(before, kernel_snapshot()) == "");
}

TEST_SUITE_END();

}  // namespace
}  // namespace mrclab::lab
