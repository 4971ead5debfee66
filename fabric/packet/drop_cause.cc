#include "fabric/packet/drop_cause.h"

namespace mrclab {

std::string_view name_of(DropCause cause) {
  switch (cause) {
    case DropCause::kNone: return "none";
    case DropCause::kWireDown: return "wire_down";
    case DropCause::kWireLoss: return "wire_loss";
    case DropCause::kPortDown: return "port_down";
    case DropCause::kQueueFull: return "queue_full";
    case DropCause::kControlQueueFull: return "control_queue_full";
    case DropCause::kTrimmedQueueFull: return "trimmed_queue_full";
    case DropCause::kUnknownUsid: return "unknown_usid";
    case DropCause::kEndOfCarrier: return "end_of_carrier";
    case DropCause::kHopLimit: return "hop_limit";
    case DropCause::kMalformed: return "malformed";
    case DropCause::kNotIpv6: return "not_ipv6";
    case DropCause::kForeignCarrier: return "foreign_carrier";
    case DropCause::kNoReceiver: return "no_receiver";
    case DropCause::kBadIcrc: return "bad_icrc";
    case DropCause::kNoBuffer: return "no_buffer";
    case DropCause::kFrameCheck: return "frame_check";
    case DropCause::kSwitchHung: return "switch_hung";
    case DropCause::kSwitchDown: return "switch_down";
    case DropCause::kHostDown: return "host_down";
    case DropCause::kNoRoute: return "no_route";
    case DropCause::kReceiveBufferFull: return "receive_buffer_full";
    case DropCause::kNoBitmap: return "no_bitmap";
    case DropCause::kOutOfOrder: return "out_of_order";
    case DropCause::kNotReady: return "not_ready";
    case DropCause::kPauseStorm: return "pause_storm";
    case DropCause::kNotAuthorised: return "not_authorised";
    case DropCause::kNotAuthorisedSource: return "not_authorised_source";
    case DropCause::kNotAuthorisedTenant: return "not_authorised_tenant";
  }
  return "unknown";
}

bool lost_on_wire(DropCause cause) {
  switch (cause) {
    case DropCause::kWireDown:
    case DropCause::kWireLoss:
    case DropCause::kFrameCheck:
    case DropCause::kNoBuffer: return true;
    default: return false;
  }
}

}  // namespace mrclab
