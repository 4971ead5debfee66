#pragma once
// Open vSwitch as switches of a live lab: a database server and a switch daemon of the lab's own, in
// the namespace that these switches share, with the userspace datapath: no kernel module, no system
// service, nothing of an Open vSwitch that the machine may run. One bridge for each switch, named like
// it, with the uSID shift and the routes as OpenFlow rules (switchd/openflow_rules.h).
//
// What a user meets: all bridges are in one namespace; the daemon may correct the checksum of a UDP
// packet that it shifts (MRC's is inside another header and stays as it is); the first packet of a
// flow goes through the daemon's slow path, which loses packets when many flows begin at once.

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "live/bringup/bring_up.h"
#include "live/external/table_watch.h"
#include "netio/system/child_process.h"
#include "switchd/openflow_rules.h"

namespace mrclab::lab {

/// How often each rule of a switch has matched.
std::vector<switchd::RuleCounter> ovs_counters(const std::filesystem::path& lab_directory,
                                               const std::string& switch_name);

class OvsSwitches {
 public:
  /// Starts the daemons and makes all bridges; returns when they forward. Throws InputError when Open
  /// vSwitch is not installed, SystemError when it does not start. The fabric outlives it.
  explicit OvsSwitches(LiveFabric& fabric);
  ~OvsSwitches();
  OvsSwitches(const OvsSwitches&) = delete;
  OvsSwitches& operator=(const OvsSwitches&) = delete;

  /// What others did to its daemons and tables since the last call: "ovs-vswitchd: signal 9 (Killed) ended", "somebody
  /// changed the table of p0.t0-0 (missing: ...)". An end is reported once: without one of them the other is of no
  /// use. Tables are read when the daemon has been asked for something, which is looked for some times a second.
  std::vector<std::string> find_changes();
  /// Was a change of the kernel asked for by one of its daemons? `sender`: netlink port of the socket.
  bool asked_for(uint32_t sender);
  /// The route of a switch for a uSID leads out of `port`, or is gone. Its counter starts anew.
  void set_route(NodeId node, Usid usid, std::optional<PortId> port);
  /// The rules and groups of a switch without their counters, in ovs-ofctl's words.
  std::vector<std::string> rules_of(NodeId node) const;

 private:
  std::unique_ptr<netio::ChildProcess> start(const std::string& program,
                                             std::vector<std::string> arguments);
  /// What a tool of Open vSwitch prints. Throws where one of the daemons has ended, SystemError where the tool fails.
  std::string ask(std::vector<std::string> command) const;
  void wait_for(const std::filesystem::path& socket, netio::ChildProcess& owner) const;
  void make_bridges();
  void check_ports() const;
  void look_at_processes(std::vector<std::string>& found);
  void look_at_tables(std::vector<std::string>& found);
  void add_rules();
  void make_room_for_queues();

  LiveFabric& fabric_;
  std::filesystem::path directory_;
  std::vector<NodeId> switches_;
  std::unique_ptr<netio::ChildProcess> database_, daemon_;
  bool told_ = false;
  TableWatch tables_;
  std::optional<uint64_t> activity_;  ///< of the daemon, when its tables were last read
  std::chrono::steady_clock::time_point next_look_;
  std::set<uint32_t> netlink_ports_;
};

}  // namespace mrclab::lab
