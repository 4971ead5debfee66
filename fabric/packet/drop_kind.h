#pragma once
// What a drop means for the frame and for the place. All output uses "lost" in this sense:
//
//   lost        The frame did not arrive at its host. What still waits (in a queue, behind a pause, on a wire at the
//               end) is not lost, nor is what was retransmitted although it had arrived.
//   congested   Lost, because a queue had no room. No component is at fault.
//   denied      Lost, because the fabric lets its sender send no such packet. No component is at fault.
//   refused     Not lost: it arrived, and the NIC did not take it. Its sender sends it again.

#include <cstdint>

#include "fabric/packet/drop_cause.h"

namespace mrclab {

enum class DropKind : uint8_t {
  kNone,       ///< no drop
  kBroken,     ///< lost at a component that is broken, without power or without a route
  kCongested,  ///< lost, because a queue or a buffer on the way had no room
  kDenied,     ///< lost, because its sender may not send it
  kRefused,    ///< arrived, and the receiving NIC had no room for it, or waits for another one (RC)
};

constexpr DropKind drop_kind(DropCause cause) {
  switch (cause) {
    case DropCause::kNone: return DropKind::kNone;
    case DropCause::kQueueFull:
    case DropCause::kControlQueueFull:
    case DropCause::kTrimmedQueueFull:
    case DropCause::kNoBuffer:
    case DropCause::kPauseStorm: return DropKind::kCongested;
    case DropCause::kReceiveBufferFull:
    case DropCause::kNoBitmap:
    case DropCause::kOutOfOrder:
    case DropCause::kNotReady: return DropKind::kRefused;
    case DropCause::kNotAuthorised:
    case DropCause::kNotAuthorisedSource:
    case DropCause::kNotAuthorisedTenant: return DropKind::kDenied;
    case DropCause::kWireDown:
    case DropCause::kWireLoss:
    case DropCause::kPortDown:
    case DropCause::kUnknownUsid:
    case DropCause::kEndOfCarrier:
    case DropCause::kHopLimit:
    case DropCause::kMalformed:
    case DropCause::kNotIpv6:
    case DropCause::kForeignCarrier:
    case DropCause::kNoReceiver:
    case DropCause::kBadIcrc:
    case DropCause::kFrameCheck:
    case DropCause::kSwitchHung:
    case DropCause::kSwitchDown:
    case DropCause::kHostDown:
    case DropCause::kNoRoute: return DropKind::kBroken;
  }
  return DropKind::kBroken;
}

}  // namespace mrclab
