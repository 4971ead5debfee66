#pragma once
// The links and addresses of one namespace of a lab, as they were seen last: looked at again when the kernel reports a
// change, because its report does not name who made it. What differs from the lab's intent was another program's doing.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "live/bringup/bring_up.h"
#include "live/world/outside_change.h"
#include "netio/kernel/installed_addresses.h"
#include "netio/kernel/link.h"

namespace mrclab::lab {

class NodeLinks {
 public:
  /// `nodes` share a namespace, whose links and addresses are now as intended. `fabric` outlives this.
  NodeLinks(LiveFabric& fabric, std::vector<NodeId> nodes);

  NodeId owner() const { return nodes_.front(); }
  /// What others changed since the last call. Each port is reported once when it is no longer as the lab set it, and
  /// once when it is up again.
  void look_at_links(std::vector<OutsideChange>& found);
  void look_at_addresses(std::vector<OutsideChange>& found);
  /// The lab has made this interface, with its addresses, since the last call.
  void adopt(const std::string& interface);
  /// "p1.t0-1:d0", "sr0 of h0"; empty if there is no such link.
  std::string name_of(uint32_t ifindex) const;

 private:
  struct Known {
    netio::LinkState state;
    std::optional<PortRef>
        port;               ///< empty: the loopback, mgmt0, and the pair sr0/sr1 (node_plan.h)
    bool set_down = false;  ///< another program did so, and it was reported
    bool gone = false;      ///< another program deleted it
  };
  void compare(Known& known, const netio::LinkState& now, std::vector<OutsideChange>& found) const;
  void look_at_gone(const std::set<uint32_t>& there, std::vector<OutsideChange>& found);
  std::string name_of(const Known& known) const;
  /// Is the link down by the lab's own doing, or reported as down?
  bool is_known_down(uint32_t ifindex) const;

  LiveFabric& fabric_;
  std::vector<NodeId> nodes_;
  netio::NamespaceNetlink netlink_;  ///< of its own: the fabric's may have requests under way
  std::map<uint32_t, Known> links_;  ///< by ifindex
  std::set<netio::InstalledAddress> addresses_;
};

}  // namespace mrclab::lab
