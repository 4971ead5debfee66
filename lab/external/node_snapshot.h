#pragma once
// What the kernel (and Open vSwitch) has for one node, as lines of text that can be compared: interfaces,
// queueing disciplines, filter rules, neighbours, routes, OpenFlow rules and groups. Counters are left out.

#include <optional>
#include <string>
#include <vector>

#include "lab/bringup/bring_up.h"
#include "lab/external/bpf_switches.h"
#include "lab/external/ovs_switches.h"
#include "netio/kernel/packet_filter.h"

namespace mrclab::lab {

using NodeSnapshot = std::vector<std::string>;  ///< sorted

/// Leaves out links between nodes of ours: their interfaces follow fabric time (kernel_mirror.h).
/// `ovs` and `bpf` may be null if they do not forward for the node.
NodeSnapshot take_snapshot(LiveFabric& fabric, NodeId node, netio::PacketFilter& filter,
                           const OvsSwitches* ovs, const BpfSwitches* bpf);

/// The first difference in words: "missing: ...", "new: ..."; empty if there is none.
std::optional<std::string> first_difference(const NodeSnapshot& before, const NodeSnapshot& after);

}  // namespace mrclab::lab
