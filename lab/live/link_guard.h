#pragma once
// Notices when another program sets a link down, deletes it, or adds a queueing discipline to it
// (tc): every change that the kernel reports is compared with the state that the lab wants for that
// link.

#include <string>
#include <vector>

#include "lab/bringup/bring_up.h"
#include "netio/kernel/file_descriptor.h"
#include "netio/kernel/link.h"

namespace mrclab::lab {

/// A change of a port by another program.
struct OutsideLinkChange {
  enum class Kind : uint8_t { kDown, kUp, kQdisc };
  PortRef port;
  Kind kind = Kind::kQdisc;
  std::string what;  ///< "set up", "put netem on": before the port's name
};

class LinkGuard {
 public:
  /// `fabric` outlives the guard.
  explicit LinkGuard(LiveFabric& fabric);
  ~LinkGuard();

  /// Changes since the last call, without blocking: one system call when nothing happened. Each
  /// port is reported once when it is no longer as the lab set it, and once when it is up again.
  std::vector<OutsideLinkChange> check();

 private:
  void look_at(NodeId node, std::vector<OutsideLinkChange>& found);
  void tell_qdisc(NodeId node, const netio::QdiscEvent& event,
                  std::vector<OutsideLinkChange>& found) const;

  LiveFabric& fabric_;
  struct PortState {
    int interface = 0;      ///< its index in the kernel, as it was brought up
    bool up = true;         ///< as last seen
    bool set_down = false;  ///< another program did so, and it was reported
    bool gone = false;      ///< another program deleted it
  };
  netio::LinkWatchSet watches_;                ///< by node
  std::vector<std::vector<PortState>> ports_;  ///< by NodeId and port
};

}  // namespace mrclab::lab
