#pragma once
// Notices when somebody other than the lab sets a link down: every change that the
// kernel reports is compared with what the lab wants that link to be.

#include <memory>
#include <vector>

#include "lab/bring_up.h"
#include "netio/file_descriptor.h"
#include "netio/link.h"

namespace mrclab::lab {

/// A port whose kernel state is not what the lab set.
struct ForeignLinkChange {
  PortRef port;
  bool up = false;  ///< what it is now
};

class LinkGuard {
 public:
  /// `fabric` outlives the guard.
  explicit LinkGuard(LiveFabric& fabric);
  ~LinkGuard();

  /// Changes since the last call, without blocking: one system call when nothing happened. Each
  /// port is reported once per change of its state.
  std::vector<ForeignLinkChange> check();

 private:
  void look_at(NodeId node, std::vector<ForeignLinkChange>& found);

  LiveFabric& fabric_;
  netio::FileDescriptor epoll_;
  std::vector<netio::LinkWatch> watches_;    ///< by NodeId
  std::vector<std::vector<bool>> reported_;  ///< by NodeId and port: known to differ
};

}  // namespace mrclab::lab
