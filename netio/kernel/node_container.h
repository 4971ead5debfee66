#pragma once
// Running something in a node: its network namespace, its own hostname, a private /run, an
// /etc/hosts that names every host, and a /sys that shows its interfaces (as `ip netns exec` does).
// The mount and UTS namespaces live as long as the command: nothing is left behind.

#include <filesystem>
#include <string>
#include <vector>

#include "netio/kernel/namespace.h"

namespace mrclab::netio {

/// What a node looks like from inside.
struct NodeContainer {
  std::string hostname;
  std::filesystem::path run_directory;  ///< becomes /run; keeps its files between commands
  std::filesystem::path hosts_file;     ///< becomes /etc/hosts
  /// Becomes /run/openvswitch, where its tools look; empty: none.
  std::filesystem::path ovs_directory = {};
  /// Is joined to /sys/class, whose own entries stay; empty: nothing. A kernel that cannot lay one folder over another
  /// (overlayfs) shows /sys/class as it is.
  std::filesystem::path class_directory = {};
};

/// Moves the calling process into the node for good: call it in a child. Throws SystemError.
void enter_node(const NodeContainer& node, const NetworkNamespace& ns);

/// Lays `folder` over /sys/class of the calling process's mount namespace, whose own entries stay. Throws SystemError.
void join_class(const std::filesystem::path& folder);

/// Runs `argv` in the node with this process's terminal and waits for it. Returns its exit code,
/// 128 + n when a signal n ended it, 127 when there is no such command, 126 when it cannot be run.
/// Throws SystemError when the node cannot be entered.
int exec_in_node(const NodeContainer& node, const NetworkNamespace& ns,
                 const std::vector<std::string>& argv);

}  // namespace mrclab::netio
