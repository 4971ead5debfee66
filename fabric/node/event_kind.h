#pragma once
// The kinds of events (EventRecord, a line of events.jsonl): one name for each, for who writes it and who looks for it.

#include <array>
#include <string_view>

namespace mrclab {

namespace event_kind {

// Hosts.
inline constexpr std::string_view kEvState = "ev_state";
inline constexpr std::string_view kEvActive = "ev_active";
inline constexpr std::string_view kLossDetected = "loss_detected";
inline constexpr std::string_view kQpError = "qp_error";
inline constexpr std::string_view kFlowMoved = "flow_moved";
inline constexpr std::string_view kPortStatusSent = "port_status_sent";
inline constexpr std::string_view kPortStatusReceived = "port_status_received";
inline constexpr std::string_view kRemap = "remap";
inline constexpr std::string_view kPortAvoided = "port_avoided";
inline constexpr std::string_view kPortRestored = "port_restored";
inline constexpr std::string_view kMemoryMismatch = "memory_mismatch";
inline constexpr std::string_view kCollectiveDone = "collective_done";
inline constexpr std::string_view kStepDone = "step_done";
inline constexpr std::string_view kWindow = "window";
inline constexpr std::string_view kWindowsLeftOut = "windows_left_out";
inline constexpr std::string_view kMapperReport = "mapper_report";
inline constexpr std::string_view kDenylist = "denylist";
inline constexpr std::string_view kDenylistSet = "denylist_set";
// Hosts and switches of a fabric with an orchestrator.
inline constexpr std::string_view kNeighbour = "neighbour";
// Switches, and hosts with a speaker.
inline constexpr std::string_view kSwitchService = "switch_service";
inline constexpr std::string_view kSwitchState = "switch_state";
inline constexpr std::string_view kPortUp = "port_up";
inline constexpr std::string_view kPortDown = "port_down";
inline constexpr std::string_view kBgpUp = "bgp_up";
inline constexpr std::string_view kBgpDown = "bgp_down";
inline constexpr std::string_view kBgpFault = "bgp_fault";
inline constexpr std::string_view kBgpLimit = "bgp_limit";
inline constexpr std::string_view kFib = "fib";
inline constexpr std::string_view kProtected = "protected";
inline constexpr std::string_view kNotified = "notified";
// The lab.
inline constexpr std::string_view kLinkMirroredDown = "link_mirrored_down";
inline constexpr std::string_view kLinkMirroredUp = "link_mirrored_up";
inline constexpr std::string_view kOutageNotMirrored = "outage_not_mirrored";
inline constexpr std::string_view kKernelLinkDown = "kernel_link_down";
inline constexpr std::string_view kKernelLinkUp = "kernel_link_up";
inline constexpr std::string_view kKernelFilter = "kernel_filter";
inline constexpr std::string_view kKernelQueue = "kernel_queue";
inline constexpr std::string_view kKernelRate = "kernel_rate";
inline constexpr std::string_view kKernelRoute = "kernel_route";
inline constexpr std::string_view kUndoVerified = "undo_verified";
inline constexpr std::string_view kUndoFailed = "undo_failed";
inline constexpr std::string_view kOutsideFault = "outside_fault";
inline constexpr std::string_view kLogSealed = "log_sealed";

}  // namespace event_kind

/// The text of an event, for people.
struct EventKindInfo {
  std::string_view name;
  std::string_view writer;
  std::string_view meaning;
};

inline constexpr std::array kEventKinds{
    EventKindInfo{event_kind::kEvState, "host",
                  "an entropy value, or all of a plane, changed its state: cause is the new one"},
    EventKindInfo{event_kind::kEvActive, "host",
                  "a backup took the place of an active entropy value"},
    EventKindInfo{event_kind::kLossDetected, "host",
                  "a requester holds a packet for lost, and why"},
    EventKindInfo{event_kind::kQpError, "host",
                  "a queue pair failed, with the reason of its completion"},
    EventKindInfo{event_kind::kFlowMoved, "host",
                  "an RC queue pair sends by another port from now on"},
    EventKindInfo{event_kind::kPortStatusSent, "host", "a NIC reported its ports to a peer"},
    EventKindInfo{event_kind::kPortStatusReceived, "host",
                  "a NIC took a peer's report of its ports"},
    EventKindInfo{event_kind::kRemap, "host", "a NIC sends nothing while it maps its ports anew"},
    EventKindInfo{event_kind::kPortAvoided, "host",
                  "a NIC noticed that its port is dark and sends nothing by it"},
    EventKindInfo{event_kind::kPortRestored, "host", "a NIC sends by its port again"},
    EventKindInfo{event_kind::kMemoryMismatch, "host",
                  "memory does not hold what was written to it"},
    EventKindInfo{event_kind::kCollectiveDone, "host",
                  "a host finished an iteration of a collective"},
    EventKindInfo{event_kind::kStepDone, "host", "a host finished its part of a step of a job"},
    EventKindInfo{event_kind::kWindow, "host",
                  "the congestion window to a peer, and what it followed"},
    EventKindInfo{event_kind::kWindowsLeftOut, "host", "more windows followed than a file keeps"},
    EventKindInfo{
        event_kind::kMapperReport, "host",
        "what a mapper's agent found out in a period: probes sent, and those that were lost"},
    EventKindInfo{event_kind::kNeighbour, "host, switch",
                  "what LLDP shows at the other end of a port: found, changed, or gone"},
    EventKindInfo{event_kind::kSwitchService, "switch",
                  "a switch is provisioned, checked, in service, or kept out of it, and why"},
    EventKindInfo{event_kind::kDenylist, "host",
                  "the collector denies a part, allows it again, or would deny too much"},
    EventKindInfo{event_kind::kDenylistSet, "host", "a denylist is in force at a host"},
    EventKindInfo{event_kind::kSwitchState, "switch",
                  "a switch hung, works again, lost or has power"},
    EventKindInfo{event_kind::kPortUp, "switch", "a port has carrier again"},
    EventKindInfo{event_kind::kPortDown, "switch", "a port lost its carrier"},
    EventKindInfo{event_kind::kBgpUp, "speaker", "a session with a neighbour is up"},
    EventKindInfo{event_kind::kBgpDown, "speaker", "a session with a neighbour ended, and why"},
    EventKindInfo{event_kind::kBgpFault, "speaker", "a neighbour's message breaks a rule"},
    EventKindInfo{event_kind::kBgpLimit, "speaker", "a bound was reached: what is left out"},
    EventKindInfo{event_kind::kFib, "speaker", "the table of next hops changed"},
    EventKindInfo{event_kind::kProtected, "switch",
                  "fast reroute: a port is in no group until it is back, whatever routing says"},
    EventKindInfo{event_kind::kNotified, "switch",
                  "fast reroute: the neighbour at this port has lost hosts, or has them back"},
    EventKindInfo{event_kind::kLinkMirroredDown, "lab",
                  "the kernel's link was set down, as the fault has it"},
    EventKindInfo{event_kind::kLinkMirroredUp, "lab", "the kernel's link was set up again"},
    EventKindInfo{event_kind::kOutageNotMirrored, "lab",
                  "an outage was too short for the kernel's link"},
    EventKindInfo{event_kind::kKernelLinkDown, "lab",
                  "a link of a switch that is not ours was set down"},
    EventKindInfo{event_kind::kKernelLinkUp, "lab", "it was set up again"},
    EventKindInfo{event_kind::kKernelFilter, "lab", "a packet filter of a switch that is not ours"},
    EventKindInfo{event_kind::kKernelQueue, "lab", "what the shaper of such a switch counted"},
    EventKindInfo{event_kind::kKernelRate, "lab", "the rate of its shaper"},
    EventKindInfo{event_kind::kKernelRoute, "lab", "a route of it"},
    EventKindInfo{event_kind::kUndoVerified, "lab",
                  "it was read back after a heal: as before the fault"},
    EventKindInfo{event_kind::kUndoFailed, "lab",
                  "after a heal it is not as before the fault: what differs"},
    EventKindInfo{event_kind::kOutsideFault, "lab", "somebody else changed something"},
    EventKindInfo{event_kind::kLogSealed, "lab",
                  "the file's last line: from when to when it is whole"},
};

}  // namespace mrclab
