// Exported labs in real namespaces, as containerlab would make them: what it would run in each node is run here, and
// packets go through.

#include <doctest/doctest.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <thread>

#include "fabric/topology/fabric_file.h"
#include "live/translate/containerlab_export.h"
#include "live/translate/switch_files.h"
#include "netio/kernel/link.h"
#include "netio/kernel/route.h"
#include "netio/system/child_process.h"
#include "netio/system/file_descriptor.h"
#include "scenario/spec/shipped_files.h"
#include "tests/lab/support/sandbox.h"
#include "tests/lab/support/temporary_runs.h"

using namespace mrclab;
using namespace mrclab::lab;

namespace {

/// Such is a link of containerlab's.
constexpr uint32_t kTheirMtu = 9500;

FabricShape shape_of_fabric(const std::string& name) {
  return parse_fabric(read_yaml_file(find_fabric(name)));
}

ExportedLab lab_of(const FabricShape& shape, SwitchKind kind) {
  ExportOptions options;
  options.switches = kind;
  return export_containerlab(shape, options, "x");
}

/// The nodes of a topology file as namespaces, with its links; commands in them are run.
class Deployed {
 public:
  explicit Deployed(const std::string& text)
      : topology_(read_yaml_text(text, "x.clab.yml").require("topology")) {
    enter_sandbox();
    for (const auto& [name, node] : topology_.require("nodes").members()) {
      namespaces_.emplace(name, netio::NetworkNamespace::create("clab-" + name, {}));
      set_sysctls(name, node);
    }
    wire();
    for (const auto& [name, node] : topology_.require("nodes").members()) execute(name, node);
  }

  const netio::NetworkNamespace& at(const std::string& node) const { return namespaces_.at(node); }
  YamlValue node(const std::string& name) const { return topology_.require("nodes").require(name); }

  /// Runs a line in a node; what it printed, if it failed.
  std::string run(const std::string& node, const std::string& line) const {
    const CommandResult result =
        run_command_line({"ip", "netns", "exec", "clab-" + node, "sh", "-e", "-c", line});
    return result.code == 0 ? "" : result.output + "code " + std::to_string(result.code);
  }
  std::string ping(const std::string& from, const std::string& address, unsigned bytes = 56) const {
    return run(from, "ping -c 1 -W " + std::string(kPingPatience) + " -s " + std::to_string(bytes) +
                         " " + address);
  }
  std::vector<netio::InstalledRoute> routes(const std::string& node) const {
    netio::NamespaceNetlink netlink(at(node));
    return netio::installed_routes(netlink);
  }

 private:
  void set_sysctls(const std::string& name, const YamlValue& node) {
    at(name).run_in([&, sysctls = node.require("sysctls").members()] {
      for (const auto& [sysctl, value] : sysctls) {
        std::string path = sysctl;
        std::replace(path.begin(), path.end(), '.', '/');
        netio::write_kernel_file("/proc/sys/" + path, value.as_string());
      }
    });
  }

  void wire() {
    std::vector<netio::VethPair> pairs;
    uint8_t number = 0;
    for (const YamlValue& link : topology_.require("links").items()) {
      std::vector<netio::VethEnd> ends;
      for (const YamlValue& end : link.require("endpoints").items()) {
        const std::string text = end.as_string();
        const size_t colon = text.find(':');
        // Any addresses: a node sets its own.
        ends.push_back(
            {&at(text.substr(0, colon)), text.substr(colon + 1), {2, 0xaa, 0, 0, ++number, 0}, ""});
      }
      pairs.push_back({ends[0], ends[1], kTheirMtu});
    }
    netio::create_veths(pairs);
  }

  void execute(const std::string& name, const YamlValue& node) {
    std::string lines;
    for (const YamlValue& line : node.require("exec").items()) {
      // What starts our installed BGP speaker is started from the build by the test that needs it.
      if (!line.as_string().starts_with("sh -c '/usr/lib/mrclab/"))
        lines += line.as_string() + "\n";
    }
    CAPTURE(name);
    CHECK(run(name, lines) == "");
  }

  YamlValue topology_;
  std::map<std::string, netio::NetworkNamespace> namespaces_;
};

std::string host_text(const Topology& topology, uint32_t host) {
  return to_string(host_address(topology, host));
}

void check_pings(const FabricShape& shape, SwitchKind kind) {
  CAPTURE(shape.name);
  const Deployed lab(lab_of(shape, kind).text);
  const Topology topology = build_topology(shape);
  for (uint32_t to = 1; to < topology.host_count(); ++to) {
    CHECK(lab.ping("h0", host_text(topology, to)) == "");
  }
  // Longer than a packet of the fabric may be, with its outer header.
  CHECK(lab.ping("h0", host_text(topology, 1), 9000) == "");
}

bool waits_for(const std::function<bool()>& done) {
  const auto end = std::chrono::steady_clock::now() + kTestPatience;
  // FRR and the kernel send this test no message when they are done, so it asks again and again.
  while (!done()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

bool is_program(const std::string& program) { return ::access(program.c_str(), X_OK) == 0; }

netio::ChildProcess start(const netio::NetworkNamespace& where, std::vector<std::string> argv) {
  netio::ChildOptions options;
  options.argv = std::move(argv);
  options.stdout_file = options.stderr_file = "/dev/null";
  options.before_exec = [&where] { where.enter(); };
  return netio::ChildProcess::spawn(options);
}

/// FRR's zebra and staticd in each switch, with the files of the export.
class RunningFrr {
 public:
  RunningFrr(const Deployed& lab, const ExportedLab& files) {
    const passwd* user = ::getpwnam("frr");
    REQUIRE(user != nullptr);
    std::filesystem::create_directory(folder_);
    for (const LabFile& file : files.files) {
      const std::filesystem::path path = file.path;
      if (path.extension() != ".conf") continue;
      const std::filesystem::path own = folder_ / path.stem();
      std::filesystem::create_directory(own);
      netio::write_file(own / "frr.conf", file.text);
      netio::write_file(own / "zebra.conf", "no zebra nexthop kernel enable\n");
      REQUIRE(::chown(own.c_str(), user->pw_uid, user->pw_gid) == 0);
      launch(lab, path.stem(), own, "zebra", "zebra.conf");
      REQUIRE(waits_for([&] { return std::filesystem::exists(own / "zserv.api"); }));
      launch(lab, path.stem(), own, "staticd", "frr.conf");
    }
  }

  ~RunningFrr() { std::filesystem::remove_all(folder_); }
  RunningFrr(const RunningFrr&) = delete;
  RunningFrr& operator=(const RunningFrr&) = delete;

 private:
  void launch(const Deployed& lab, const std::string& node, const std::filesystem::path& own,
              const std::string& daemon, const std::string& config) {
    children_.push_back(start(
        lab.at(node),
        {"/usr/lib/frr/" + daemon, "--vty_socket", own, "-f", own / config, "-i",
         own / (daemon + ".pid"), "-z", own / "zserv.api", "-P", "0", "--log", "file:/dev/null"}));
  }

  /// In the sandbox's own /run: zebra is another user, who may not enter a temporary folder of ours.
  const std::filesystem::path folder_ = "/run/exported-frr";
  std::vector<netio::ChildProcess> children_;
};

}  // namespace

TEST_SUITE("root: exported labs") {
  TEST_CASE(
      "the kernel takes every command, and hosts reach each other through exported switches") {
    check_pings(shape_of_fabric("pair"), SwitchKind::kMrclab);
    check_pings(shape_of_fabric("ai-backend"), SwitchKind::kMrclab);  // leaves strip carriers
    check_pings(parse_fabric(read_yaml_text(
                    "name: twice\nswitches: {leaf1: 0100, leaf2: 0200}\nhosts: [[leaf1], [leaf2]]\n"
                    "links: {leaf1: [leaf2, leaf2]}\nsegments: adjacency\n",
                    "twice.yaml")),
                SwitchKind::kMrclab);
  }

  TEST_CASE("a packet of MRC goes by every plane of an exported fabric, shifted at each switch") {
    const FabricShape shape = shape_of_fabric("pair");
    const Deployed lab(lab_of(shape, SwitchKind::kMrclab).text);
    netio::NamespaceNetlink(netio::NetworkNamespace::current()).set_up("lo");
    const auto words = [&](const std::string& self, const std::string& peer) {
      const YamlValue env = lab.node(self).require("env");
      return program("mrc-endpoint") + " --netns clab-" + self + " " +
             env.require("MRC_SELF").as_string() + " " + env.require("MRC_TO_" + peer).as_string() +
             " --size 4096 -n 64";
    };
    netio::ChildProcess server =
        start(netio::NetworkNamespace::current(), {"sh", "-c", "exec " + words("h0", "h1")});
    CommandResult client;
    // The server listens a moment after it has begun.
    REQUIRE(waits_for([&] {
      client = run_command_line({"sh", "-c", words("h1", "h0") + " localhost"});
      return client.output.find("refused") == std::string::npos;
    }));
    CHECK(client.code == 0);
    CAPTURE(client.output);
    CHECK(client.output.find("4096 ") != std::string::npos);
    CHECK(server.wait(kTestPatience)->code == 0);
    for (const char* node : {"p0-t1-0", "p1-t1-0", "p0-t0-0", "p1-t0-1"}) {
      CAPTURE(node);
      uint64_t shifted = 0;
      for (const netio::InstalledRoute& route : lab.routes(node)) {
        if (route.action == "End") shifted += route.counters->packets;
      }
      CHECK(shifted >= 32);  // data one way and acknowledgements the other, spread over two planes
    }
  }

  TEST_CASE("FRR reads the files of its switches without a complaint") {
    if (!is_program("/usr/bin/vtysh")) return;
    const test::TemporaryRuns folder;
    for (const char* name : {"pair", "ai-backend", "fare", "speakers"}) {
      CAPTURE(name);
      for (const LabFile& file : lab_of(shape_of_fabric(name), SwitchKind::kFrr).files) {
        if (!file.path.ends_with(".conf")) continue;
        netio::write_file(folder.path() / "frr.conf", file.text);
        const CommandResult read =
            run_command_line({"vtysh", "-C", "-f", folder.path() / "frr.conf"});
        CAPTURE(file.path);
        CHECK(read.code == 0);
        CHECK(read.output == "");
      }
    }
  }

  TEST_CASE("FRR 8.4 reads what a file for FRR 10.3 has beside segment-routing") {
    if (!is_program("/usr/bin/vtysh")) return;
    const test::TemporaryRuns folder;
    for (const LabFile& file :
         switch_files(SwitchSystem::kFrr, shape_of_fabric("pair"), "").files) {
      std::string text = file.text;
      const size_t begin = text.find("segment-routing\n"), end = text.find("ipv6 route ");
      REQUIRE(begin < end);
      netio::write_file(folder.path() / "frr.conf", text.erase(begin, end - begin));
      const CommandResult read =
          run_command_line({"vtysh", "-C", "-f", folder.path() / "frr.conf"});
      CAPTURE(file.path);
      CHECK(read.code == 0);
      CHECK(read.output == "");
    }
  }

  TEST_CASE("hosts reach each other where FRR has the routes to uSIDs") {
    if (!is_program("/usr/lib/frr/staticd")) return;
    const FabricShape shape = shape_of_fabric("pair");
    const ExportedLab files = lab_of(shape, SwitchKind::kFrr);
    const Deployed lab(files.text);
    const Topology topology = build_topology(shape);
    const RunningFrr frr(lab, files);
    CHECK(waits_for([&] {
      return std::all_of(files.files.begin(), files.files.end(), [&](const LabFile& file) {
        const std::filesystem::path path = file.path;
        if (path.extension() != ".conf") return true;
        const auto routes = lab.routes(path.stem());
        const auto wanted = std::count(file.text.begin(), file.text.end(), '\n') - 2;
        return std::count_if(routes.begin(), routes.end(), [](const netio::InstalledRoute& route) {
                 return route.destination.length == 48 && route.via.has_value();
               }) == wanted;
      });
    }));
    CHECK(lab.ping("h0", host_text(topology, 1)) == "");
  }

  TEST_CASE("our BGP speaker with its exported file learns the way to every host") {
    const FabricShape shape = shape_of_fabric("fare");
    const ExportedLab files = lab_of(shape, SwitchKind::kMrclab);
    const Deployed lab(files.text);
    const Topology topology = build_topology(shape);
    const test::TemporaryRuns folder;
    std::vector<netio::ChildProcess> speakers;
    for (const LabFile& file : files.files) {
      const std::string name = std::filesystem::path(file.path).filename();
      netio::write_file(folder.path() / name, file.text);
      speakers.push_back(start(lab.at(name.substr(0, name.find('.'))),
                               {program("mrc-bgpd"), folder.path() / name}));
    }
    // The first T0's routes to the hosts of the others: one way for each T1.
    const auto ways = [&](uint32_t host) -> size_t {
      for (const netio::InstalledRoute& route : lab.routes("p0-t0-0")) {
        if (route.destination.address == host_address(topology, host)) return route.ways.size();
      }
      return 0;
    };
    for (uint32_t host = 2; host < topology.host_count(); ++host) {
      CAPTURE(host);
      CHECK(waits_for([&] { return ways(host) == 4; }));
    }
    CHECK(lab.ping("h0", host_text(topology, 5)) == "");
  }
}
