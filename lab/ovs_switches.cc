#include "lab/ovs_switches.h"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "fabric/yaml.h"
#include "lab/lab_record.h"
#include "lab/node_plan.h"
#include "lab/switch_trouble.h"
#include "netio/file_descriptor.h"
#include "netio/packet_sockets.h"
#include "netio/system_error.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::seconds kOvsPatience{60};  // a busy machine is slow, and then it still works
constexpr std::chrono::milliseconds kGrace{3000};
constexpr const char* kSchema = "/usr/share/openvswitch/vswitch.ovsschema";
constexpr size_t kMaxToolOutput = 16 << 20;
constexpr unsigned kLocalExperiment = 0x88B5;  // IEEE 802: local experimental EtherType 1
/// The kernel keeps 768 bytes or more for a frame of 100; it doubles by itself what is asked for.
constexpr size_t kKernelBytesPerByte = 4;

/// Outside PATH in some shells.
std::optional<fs::path> find_program(const std::string& name) {
  std::string folders = std::getenv("PATH") != nullptr ? std::getenv("PATH") : "";
  folders += ":/usr/sbin:/usr/bin:/sbin:/bin";
  for (size_t at = 0; at <= folders.size();) {
    const size_t end = std::min(folders.find(':', at), folders.size());
    const fs::path candidate = fs::path(folders.substr(at, end - at)) / name;
    if (end > at && ::access(candidate.c_str(), X_OK) == 0) return candidate;
    at = end + 1;
  }
  return std::nullopt;
}

/// Every tool of Open vSwitch is told where the lab's own is.
std::vector<std::pair<std::string, std::string>> environment(const fs::path& folder) {
  return {{"OVS_RUNDIR", folder},
          {"OVS_LOGDIR", folder},
          {"OVS_DBDIR", folder},
          {"OVS_SYSCONFDIR", folder}};
}

/// Runs a tool to its end; throws with its last words. Returns what it printed.
std::string run_tool(const fs::path& folder, std::vector<std::string> command) {
  const fs::path output = folder / fmt::format("{}.{}.out", command.front(), ::getpid());
  fs::remove(output);
  netio::ChildOptions options;
  options.environment = environment(folder);
  options.argv = std::move(command);
  const std::string name = options.argv.front();
  options.argv.front() = find_program(name).value_or(name);
  options.stdout_file = output;
  netio::ChildProcess child = netio::ChildProcess::spawn(options);
  const auto status = child.wait(kOvsPatience);
  std::string text = netio::read_file(output, kMaxToolOutput);
  fs::remove(output);
  if (!status || !status->clean()) {
    throw netio::SystemError(
        name, status ? EIO : ETIMEDOUT,
        fmt::format("{}: {}", status ? to_string(*status) : "no end", text.substr(0, 2000)));
  }
  return text;
}

std::string management_socket(const fs::path& folder, const std::string& bridge) {
  return "unix:" + (folder / (bridge + ".mgmt")).string();
}

}  // namespace

std::string_view ovs_limits() {
  return "Open vSwitch: all bridges share one namespace; a flow's first packets are slow\n"
         "and may be lost; UDP checksums are corrected; hop limit 1 drops in silence";
}

std::string ovs_version() {
  const std::optional<fs::path> program = find_program("ovs-vswitchd");
  FILE* said =
      program ? ::popen((program->string() + " --version 2>/dev/null").c_str(), "r") : nullptr;
  if (said == nullptr) return "";
  char line[256] = "";  // "ovs-vswitchd (Open vSwitch) 3.1.0"
  const bool read = std::fgets(line, sizeof line, said) != nullptr;
  ::pclose(said);
  std::string text = read ? line : "";
  text = text.substr(std::min(text.rfind(' ') + 1, text.size()));
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return "Open vSwitch " + text;
}

fs::path ovs_folder(const fs::path& lab_directory) { return lab_directory / "ovs"; }

bool is_ovs_switch(const fs::path& lab_directory, std::string_view node) {
  std::error_code ignored;
  return fs::exists(ovs_folder(lab_directory) / (std::string(node) + ".flows"), ignored);
}

std::vector<std::string> missing_ovs_programs() {
  std::vector<std::string> missing;
  for (const char* name :
       {"ovsdb-tool", "ovsdb-server", "ovs-vswitchd", "ovs-vsctl", "ovs-ofctl"}) {
    if (!find_program(name)) missing.emplace_back(name);
  }
  return missing;
}

std::vector<switchd::RuleCounter> ovs_counters(const fs::path& lab_directory,
                                               const std::string& switch_name) {
  const fs::path folder = ovs_folder(lab_directory);
  return switchd::parse_rule_counters(
      run_tool(folder, {"ovs-ofctl", "-O", "OpenFlow15", "--no-names", "dump-flows",
                        management_socket(folder, switch_name)}));
}

OvsSwitches::OvsSwitches(LiveFabric& fabric)
    : fabric_(fabric), directory_(ovs_folder(fabric.run_directory())) {
  if (const auto missing = missing_ovs_programs(); !missing.empty()) {
    throw InputError(
        fmt::format("fabric {}: found no {}: expected Open vSwitch for \"forwarding: ovs\"; "
                    "apt-get install openvswitch-switch",
                    fabric.topology().name, missing.front()));
  }
  for (const NodeSite& site : fabric.topology().nodes) {
    if (shares_namespace(site)) switches_.push_back(site.id);
  }
  fs::create_directories(directory_);
  const fs::path database = directory_ / "conf.db", socket = directory_ / "db.sock";
  run({"ovsdb-tool", "create", database, kSchema});
  database_ = start("ovsdb-server", {"--remote=punix:" + socket.string(), database.string()});
  wait_for(socket, *database_);
  daemon_ = start("ovs-vswitchd", {"unix:" + socket.string(), "--disable-system"});
  make_bridges();
  add_rules();
  make_room_for_queues();
}

OvsSwitches::~OvsSwitches() {
  // The daemon first: it would look for its database.
  for (auto* child : {&daemon_, &database_}) {
    if (*child) (*child)->stop(kGrace);
  }
}

std::unique_ptr<netio::ChildProcess> OvsSwitches::start(const std::string& program,
                                                        std::vector<std::string> arguments) {
  netio::ChildOptions options;
  options.environment = environment(directory_);
  const std::string variable = instance_variable(fabric_.instance());
  const size_t equals = variable.find('=');
  options.environment.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
  options.argv = {find_program(program).value_or(program),
                  "--pidfile=" + (directory_ / (program + ".pid")).string(),
                  "--unixctl=" + (directory_ / (program + ".ctl")).string(),
                  "--log-file=" + (directory_ / (program + ".log")).string(), "-vconsole:off"};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.stdout_file = directory_ / (program + ".out");
  const netio::NetworkNamespace& where = fabric_.network_namespace(switches_.front());
  options.before_exec = [&where] {
    netio::check_system_call("enter " + where.name(), ::setns(where.fd(), CLONE_NEWNET));
  };
  auto child = std::make_unique<netio::ChildProcess>(netio::ChildProcess::spawn(options));
  fabric_.record_process(mark_of(child->pid(), program));
  return child;
}

void OvsSwitches::run(std::vector<std::string> command) const {
  run_tool(directory_, std::move(command));
}

void OvsSwitches::wait_for(const fs::path& socket, netio::ChildProcess& owner) const {
  const auto deadline = SteadyClock::now() + kOvsPatience;
  while (!fs::exists(socket)) {
    if (const auto ended = owner.wait(std::chrono::milliseconds(5))) {
      throw netio::SystemError(owner.name(), EIO, to_string(*ended));
    }
    if (SteadyClock::now() > deadline) {
      throw netio::SystemError(owner.name(), ETIMEDOUT, "no " + socket.string());
    }
  }
}

/// All bridges and ports in one transaction; ovs-vsctl returns when the daemon has them.
void OvsSwitches::make_bridges() {
  const Topology& topology = fabric_.topology();
  std::vector<std::string> command{"ovs-vsctl", "--db=unix:" + (directory_ / "db.sock").string(),
                                   fmt::format("--timeout={}", kOvsPatience.count())};
  const auto add = [&](std::initializer_list<std::string> words) {
    command.emplace_back("--");
    command.insert(command.end(), words);
  };
  for (const NodeId id : switches_) {
    const NodeSite& site = topology.node(id);
    add({"add-br", site.name});
    add({"set", "bridge", site.name, "datapath_type=netdev", "fail_mode=secure",
         "protocols=OpenFlow10,OpenFlow13,OpenFlow15", "other_config:disable-in-band=true"});
    for (uint32_t i = 0; i < site.ports.size(); ++i) {
      const std::string device = device_of(topology, {id, PortId{i}});
      add({"add-port", site.name, device});
      add({"set", "interface", device,
           fmt::format("ofport_request={}", switchd::openflow_port(PortId{i}))});
    }
  }
  run(std::move(command));
  check_ports();
}

/// ovs-vsctl is content with what the daemon could not set up.
void OvsSwitches::check_ports() const {
  const Topology& topology = fabric_.topology();
  const auto listed = nlohmann::json::parse(
      run_tool(directory_, {"ovs-vsctl", "--db=unix:" + (directory_ / "db.sock").string(),
                            "--format=json", "--columns=name,ofport,error", "list", "interface"}));
  std::map<std::string, nlohmann::json> numbers, errors;
  for (const auto& row : listed.at("data")) {
    numbers[row.at(0).get<std::string>()] = row.at(1);
    errors[row.at(0).get<std::string>()] = row.at(2);
  }
  for (const NodeId id : switches_) {
    for (uint32_t i = 0; i < topology.node(id).ports.size(); ++i) {
      const PortRef port{id, PortId{i}};
      const std::string device = device_of(topology, port);
      if (numbers[device] == switchd::openflow_port(port.port)) continue;
      const nlohmann::json& error = errors[device];
      throw netio::SystemError("ovs-vswitchd", EIO,
                               topology.port_name(port) + " is not its port: " +
                                   (error.is_string() ? error.get<std::string>() : "no reason"));
    }
  }
}

void OvsSwitches::add_rules() {
  for (const NodeId id : switches_) {
    const std::string& name = fabric_.topology().node(id).name;
    const fs::path file = directory_ / (name + ".flows");
    std::string text;
    for (const std::string& group : switchd::openflow_groups(fabric_.topology(), id)) {
      text += "group add " + group + "\n";
    }
    for (const std::string& rule : switchd::openflow_rules(fabric_.topology(), id)) {
      text += "flow add " + rule + "\n";
    }
    netio::write_file(file, text);
    run({"ovs-ofctl", "-O", "OpenFlow15", "bundle", management_socket(directory_, name), file});
  }
}

/// The daemon sends for all ports through one socket, whose buffer must hold whatever waits in the
/// shapers of all of them: a frame that it has no room for is lost, and no port counts it. Likewise each
/// port's own must hold what comes in at once: no less than a queue, which others send in one go.
void OvsSwitches::make_room_for_queues() {
  const Topology& topology = fabric_.topology();
  size_t all = 0, most = 0;
  for (const NodeId id : switches_) {
    for (uint32_t i = 0; i < topology.node(id).ports.size(); ++i) {
      const size_t queue = shaper_of(topology, {id, PortId{i}}, {}, 1).queue;
      all += queue;
      most = std::max(most, queue);
    }
  }
  // The daemon opens that socket when it first sends, so this sends a frame, which no node accepts,
  // to the first port.
  const std::string frame = fmt::format("{:024x}{:04x}{:092x}", 0, kLocalExperiment, 0);
  run({"ovs-ofctl", "-O", "OpenFlow15", "packet-out",
       management_socket(directory_, topology.node(switches_.front()).name),
       fmt::format("in_port=controller,packet={},actions=output:{}", frame,
                   switchd::openflow_port(PortId{0}))});
  netio::set_packet_buffers(*daemon_, kKernelBytesPerByte * all, kKernelBytesPerByte * most);
}

void OvsSwitches::set_route(NodeId node, Usid usid, std::optional<PortId> port) {
  const Topology& topology = fabric_.topology();
  const std::string bridge = management_socket(directory_, topology.node(node).name);
  if (port) {
    run({"ovs-ofctl", "-O", "OpenFlow15", "add-flow", bridge,
         switchd::openflow_route(topology, node, usid, *port)});
  } else {
    run({"ovs-ofctl", "-O", "OpenFlow15", "--strict", "del-flows", bridge,
         switchd::openflow_route_match(topology, node, usid)});
  }
}

std::vector<std::string> OvsSwitches::rules_of(NodeId node) const {
  const std::string bridge = management_socket(directory_, fabric_.topology().node(node).name);
  const auto dump = [&](std::vector<std::string> options) {
    std::vector<std::string> command{"ovs-ofctl", "-O", "OpenFlow15"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(bridge);
    return run_tool(directory_, std::move(command));
  };
  const std::string text = dump({"--no-names", "--no-stats", "dump-flows"}) + dump({"dump-groups"});
  std::vector<std::string> rules;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    const bool header =
        line.find("_id=") == std::string::npos && line.find("cookie=") == std::string::npos;
    if (!header) rules.push_back(line);
    at = end + 1;
  }
  return rules;
}

std::optional<std::string> OvsSwitches::check() {
  if (told_) return std::nullopt;
  for (auto* child : {&daemon_, &database_}) {
    const auto ended = (*child)->wait(std::chrono::milliseconds(0));
    if (!ended) continue;
    told_ = true;
    return (*child)->name() + ": " + to_string(*ended);
  }
  return std::nullopt;
}

}  // namespace mrclab::lab
