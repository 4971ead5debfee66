#pragma once
// Which component was broken, inferred from the packets that hosts sent and received and from their
// reports about entropy values. The fault schedule is not looked at.
//
//   histories --blame_samples--> one sample per transmission: path, when, good or bad
//   samples --search_blame--> components that explain what is bad, best first
//   --find_blame--> joined upwards (optic, switch, host, plane), with evidence in words
//
// The path of a transmission is known from its EV. A component is blamed for an interval of time if
// that makes what happened to the packets over it far more likely than mere chance: a bad one counts
// for it, a good one against it, and both by how much it is supposed to lose. Where several
// components explain the same packets equally well, all are named.
//
// Where switches choose the way of each packet (FARE, adaptive routing of RoCE), captures of switches show it: a packet
// that vanished was lost behind the last switch that sent it on (taken_ways.h). Without such captures a loss has a place
// only where a node recorded the drop; losses_not_told() counts the others.
//
// A drop that the device itself records (no light at the port, wrong frame check, no route, wrong
// ICRC) has a place; a packet that merely does not arrive has none. Trims, and discards
// of full queues, are congestion and blame no component. Packets that the receiving NIC refused, that are still
// under way or that wait in a queue blame none either: lost means that it did not arrive (fabric/packet/drop_kind.h).

#include <vector>

#include "analysis/blame/blame_result.h"
#include "analysis/history/coverage.h"
#include "analysis/history/event_history.h"
#include "analysis/history/packet_history.h"
#include "fabric/topology/topology.h"

namespace mrclab::analysis {

/// Why no component can be blamed if the evidence is not complete: a packet whose arrival was not captured
/// looks like a lost one, and a host without events looks like one whose ports were lit. Nor if the machine
/// itself lost frames between two nodes (`gaps` of the run's timing), which no component of the fabric did.
/// Empty: the evidence is complete.
std::string no_blame_because(const Coverage& coverage, uint64_t gaps);

/// How many packets were lost on ways that switches chose and no record shows, as a sentence; empty if none was. The history is finished.
std::string losses_not_told(const Topology& topology, const PacketHistory& packets);

/// Returns the blames in the order in which they begin. Both histories are finished, and whole: see
/// above.
std::vector<Blame> find_blame(const Topology& topology, const PacketHistory& packets,
                              const EventHistory& events);

}  // namespace mrclab::analysis
