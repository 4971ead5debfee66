#pragma once
// Hosts that are to blame for what no path explains: hosts that send without heeding congestion, hosts that
// refuse packets they receive, and hosts that pause their ports without end. Only analysis/blame*.cc include this.

#include <vector>

#include "analysis/blame/blame_result.h"
#include "analysis/history/packet_history.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// Hosts that sent datagrams to one host at the same time, faster than a quarter of a port.
void blame_bursts(const Topology& topology, const PacketHistory& packets,
                  std::vector<Blame>& blames);

/// Hosts whose NIC refused packets because its receive buffer was full (NACK NO_PKT_BUFFER): what is
/// behind it, PCIe or memory, took less than was sent. The paths carried all of that.
void blame_receivers(const Topology& topology, const PacketHistory& packets,
                     std::vector<Blame>& blames);

/// Hosts whose NIC paused a port of a switch for kStormRtts or longer without a gap. A NIC whose buffer is
/// full lets its switch go on as soon as a packet has left the buffer, so that this one took less than a
/// packet in all that time. The pauses are those that arrived at switches, which packet records show.
void blame_pausers(const Topology& topology, const PacketHistory& packets,
                   std::vector<Blame>& blames);

}  // namespace mrclab::analysis
