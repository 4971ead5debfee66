#pragma once
// What the kernel (and Open vSwitch) has for one node, as lines of text that can be compared: interfaces,
// queueing disciplines, filter rules, neighbours, routes, OpenFlow rules and groups. Counters are left out.

#include "live/bringup/bring_up.h"
#include "live/external/bpf_switches.h"
#include "live/external/node_difference.h"
#include "live/external/ovs_switches.h"
#include "netio/kernel/packet_filter.h"

namespace mrclab::lab {

/// Leaves out links between nodes of ours: their interfaces follow fabric time (kernel_mirror.h).
/// `ovs` and `bpf` may be null if they do not forward for the node.
NodeSnapshot take_snapshot(LiveFabric& fabric, NodeId node, netio::PacketFilter& filter,
                           const OvsSwitches* ovs, const BpfSwitches* bpf);

}  // namespace mrclab::lab
