#pragma once
// Notices what other programs change in the namespaces of a lab, of whatever kind its nodes are: links, addresses,
// neighbours, routes, rules, queueing disciplines (tc), the packet filter, sysctls. The lab's own changes, and those of
// the programs that it runs there, are not reported.
//
// What a routing program, a switch daemon or their users change inside such a program is not seen here.

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "live/bringup/bring_up.h"
#include "live/world/node_links.h"
#include "live/world/outside_change.h"
#include "netio/kernel/change_watch.h"
#include "netio/kernel/sysctl_watch.h"

namespace mrclab::lab {

class NodeGuard {
 public:
  /// Did one of the programs that the lab runs at this node, or in its namespace, ask the kernel for a change, by the
  /// netlink port of its socket?
  using IsOurs = std::function<bool(NodeId node, uint32_t sender)>;
  /// The kernel has reported something of a node's namespace, which has that one's name if several share it. `changed`:
  /// check() has something of it to report.
  using Touched = std::function<void(NodeId node, bool changed)>;

  /// Begins: the present state is the intended one. Where another component changes packet filters for the lab, and
  /// watches them (ForeignSwitches), they are not watched here. `fabric` outlives the guard.
  NodeGuard(LiveFabric& fabric, bool packet_filters, IsOurs is_ours, Touched touched = {});

  /// Changes since the last call, without blocking: two system calls when nothing happened. Sysctls begin to be
  /// watched at one node with each call, and of one node in every kCallsBetweenCompares calls they are read.
  std::vector<OutsideChange> check();
  /// The lab has made this interface in each host since the last call, and given it addresses and routes by the fabric's
  /// own sockets.
  void adopt_in_hosts(const std::string& interface);
  /// check() once more, and the sysctls of all nodes are read.
  std::vector<OutsideChange> check_all();

 private:
  static constexpr unsigned kCallsBetweenCompares = 50;
  /// Reports of one kind at one node, reported in one line.
  struct Group {
    size_t count = 0;
    std::string first;
  };
  using Groups = std::map<std::pair<netio::KernelChange::Kind, bool>, Group>;

  void read(size_t number, std::vector<OutsideChange>& found);
  void look_at(size_t number, const netio::KernelChange& change, Groups& groups,
               std::vector<OutsideChange>& found) const;
  void watch_next_sysctls();
  void take_sysctls(std::vector<OutsideChange>& found);
  const std::string& name_of(size_t number) const;

  LiveFabric& fabric_;
  IsOurs is_ours_;
  Touched touched_;
  std::vector<NodeLinks> links_;   ///< of each namespace, by number
  netio::ChangeWatchSet watches_;  ///< likewise
  netio::SysctlWatch sysctls_;     ///< likewise, of the first ones
  unsigned calls_ = 0;
  size_t next_compared_ = 0;
};

}  // namespace mrclab::lab
