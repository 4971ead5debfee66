#include "live/external/ovs_switches.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>

#include "fabric/text/yaml.h"
#include "live/bringup/lab_record.h"
#include "live/bringup/node_plan.h"
#include "live/external/switch_impairment.h"
#include "netio/kernel/open_vswitch.h"
#include "netio/kernel/packet_sockets.h"
#include "netio/system/file_descriptor.h"
#include "netio/system/process_sockets.h"
#include "netio/system/system_error.h"

namespace mrclab::lab {
namespace {

namespace fs = std::filesystem;
using SteadyClock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kGrace{3000};
/// How often the daemon is asked whether somebody asked it for anything (our choice).
constexpr std::chrono::milliseconds kBetweenLooks{200};
constexpr const char* kSchema = "/usr/share/openvswitch/vswitch.ovsschema";
constexpr unsigned kLocalExperiment = 0x88B5;  // IEEE 802: local experimental EtherType 1
/// The kernel keeps 768 bytes or more for a frame of 100; it doubles by itself what is asked for.
constexpr size_t kKernelBytesPerByte = 4;

}  // namespace

std::vector<switchd::RuleCounter> ovs_counters(const fs::path& lab_directory,
                                               const std::string& switch_name) {
  const fs::path folder = netio::ovs_folder(lab_directory);
  return switchd::parse_rule_counters(
      netio::run_ovs_tool(folder, {"ovs-ofctl", "-O", "OpenFlow15", "--no-names", "dump-flows",
                                   netio::ovs_management_socket(folder, switch_name)}));
}

OvsSwitches::OvsSwitches(LiveFabric& fabric)
    : fabric_(fabric),
      directory_(netio::ovs_folder(fabric.run_directory())),
      tables_([this](NodeId node) { return rules_of(node); }) {
  if (const auto missing = netio::missing_ovs_programs(); !missing.empty()) {
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
  ask({"ovsdb-tool", "create", database, kSchema});
  database_ = start("ovsdb-server", {"--remote=punix:" + socket.string(), database.string()});
  wait_for(socket, *database_);
  daemon_ = start("ovs-vswitchd", {"unix:" + socket.string(), "--disable-system"});
  make_bridges();
  add_rules();
  make_room_for_queues();
  std::vector<std::string> none;
  look_at_tables(none);
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
  options.environment = netio::ovs_environment(directory_);
  const std::string variable = instance_variable(fabric_.instance());
  const size_t equals = variable.find('=');
  options.environment.emplace_back(variable.substr(0, equals), variable.substr(equals + 1));
  options.argv = {netio::find_program(program).value_or(program),
                  "--pidfile=" + (directory_ / (program + ".pid")).string(),
                  "--unixctl=" + (directory_ / (program + ".ctl")).string(),
                  "--log-file=" + (directory_ / (program + ".log")).string(), "-vconsole:off"};
  options.argv.insert(options.argv.end(), arguments.begin(), arguments.end());
  options.stdout_file = directory_ / (program + ".out");
  const netio::NetworkNamespace& where = fabric_.network_namespace(switches_.front());
  options.before_exec = [&where] { where.enter(); };
  auto child = std::make_unique<netio::ChildProcess>(netio::ChildProcess::spawn(options));
  fabric_.record_process(mark_of(child->pid(), program));
  return child;
}

std::string OvsSwitches::ask(std::vector<std::string> command) const {
  // ovs-vswitchd answers nothing for a minute and more when it has lost its database.
  if (told_) {
    throw std::runtime_error("a daemon of Open vSwitch has ended, so nothing is asked of it");
  }
  return netio::run_ovs_tool(directory_, std::move(command));
}

void OvsSwitches::wait_for(const fs::path& socket, netio::ChildProcess& owner) const {
  const auto deadline = SteadyClock::now() + netio::kOvsPatience;
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
                                   fmt::format("--timeout={}", netio::kOvsPatience.count())};
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
  ask(std::move(command));
  check_ports();
}

/// ovs-vsctl is content with what the daemon could not set up.
void OvsSwitches::check_ports() const {
  const Topology& topology = fabric_.topology();
  const auto listed = nlohmann::json::parse(netio::run_ovs_tool(
      directory_, {"ovs-vsctl", "--db=unix:" + (directory_ / "db.sock").string(), "--format=json",
                   "--columns=name,ofport,error", "list", "interface"}));
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
    ask({"ovs-ofctl", "-O", "OpenFlow15", "bundle", netio::ovs_management_socket(directory_, name),
         file});
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
  ask({"ovs-ofctl", "-O", "OpenFlow15", "packet-out",
       netio::ovs_management_socket(directory_, topology.node(switches_.front()).name),
       fmt::format("in_port=controller,packet={},actions=output:{}", frame,
                   switchd::openflow_port(PortId{0}))});
  netio::set_packet_buffers(*daemon_, kKernelBytesPerByte * all, kKernelBytesPerByte * most);
}

void OvsSwitches::set_route(NodeId node, Usid usid, std::optional<PortId> port) {
  const Topology& topology = fabric_.topology();
  const std::string bridge = netio::ovs_management_socket(directory_, topology.node(node).name);
  tables_.forget(node);
  if (port) {
    ask({"ovs-ofctl", "-O", "OpenFlow15", "add-flow", bridge,
         switchd::openflow_route(topology, node, usid, *port)});
  } else {
    ask({"ovs-ofctl", "-O", "OpenFlow15", "--strict", "del-flows", bridge,
         switchd::openflow_route_match(topology, node, usid)});
  }
}

std::vector<std::string> OvsSwitches::rules_of(NodeId node) const {
  const std::string bridge =
      netio::ovs_management_socket(directory_, fabric_.topology().node(node).name);
  const auto dump = [&](std::vector<std::string> options) {
    std::vector<std::string> command{"ovs-ofctl", "-O", "OpenFlow15"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(bridge);
    return ask(std::move(command));
  };
  const std::string text = dump({"--no-names", "--no-stats", "dump-flows"}) + dump({"dump-groups"});
  std::vector<std::string> rules;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    // "OFPST_FLOW reply (OF1.5) (xid=0x2):". A rule of somebody else has no cookie.
    const bool header = line.find(" reply (") != std::string::npos;
    if (!header && !line.empty()) rules.push_back(line);
    at = end + 1;
  }
  return rules;
}

std::vector<std::string> OvsSwitches::find_changes() {
  std::vector<std::string> found;
  look_at_processes(found);
  if (!told_ && SteadyClock::now() >= next_look_) {
    look_at_tables(found);
    next_look_ = SteadyClock::now() + kBetweenLooks;
  }
  return found;
}

void OvsSwitches::look_at_processes(std::vector<std::string>& found) {
  if (told_) return;
  for (auto* child : {&daemon_, &database_}) {
    if (const std::string stops = (*child)->take_stops(); !stops.empty()) {
      found.push_back((*child)->name() + " " + stops);
    }
    const auto ended = (*child)->wait(std::chrono::milliseconds(0));
    if (!ended) continue;
    told_ = true;
    found.push_back((*child)->name() + ": " + to_string(*ended) + " ended");
    return;
  }
}

void OvsSwitches::look_at_tables(std::vector<std::string>& found) {
  const auto activity = netio::ovs_activity(directory_);
  if (!activity || activity == activity_) return;
  for (const NodeId node : switches_) {
    if (const auto difference = tables_.find_difference(node)) {
      found.push_back(fmt::format("somebody changed the table of {} ({})",
                                  fabric_.topology().node(node).name, *difference));
    }
  }
  activity_ = netio::ovs_activity(directory_);  // with the questions for the tables
}

bool OvsSwitches::asked_for(uint32_t sender) {
  if (netlink_ports_.contains(sender)) return true;
  for (const auto* child : {&daemon_, &database_})
    netlink_ports_.merge(netio::netlink_ports_of(**child));
  return netlink_ports_.contains(sender);
}

}  // namespace mrclab::lab
