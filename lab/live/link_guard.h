#pragma once
// Notices when somebody other than the lab sets a link down, deletes it, or hangs a queueing
// discipline on it (tc): every change that the kernel reports is compared with what the lab wants
// that link to be.

#include <string>
#include <vector>

#include "lab/bringup/bring_up.h"
#include "netio/kernel/file_descriptor.h"
#include "netio/kernel/link.h"

namespace mrclab::lab {

/// What somebody has done to a port.
struct ForeignLinkChange {
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
  std::vector<ForeignLinkChange> check();

 private:
  void look_at(NodeId node, std::vector<ForeignLinkChange>& found);
  void tell_qdisc(NodeId node, const netio::QdiscEvent& event,
                  std::vector<ForeignLinkChange>& found) const;

  LiveFabric& fabric_;
  struct PortState {
    int interface = 0;      ///< its index in the kernel, as it was brought up
    bool up = true;         ///< as last seen
    bool set_down = false;  ///< by somebody else, as was reported
    bool gone = false;      ///< somebody has deleted it
  };
  netio::LinkWatchSet watches_;                ///< by node
  std::vector<std::vector<PortState>> ports_;  ///< by NodeId and port
};

}  // namespace mrclab::lab
