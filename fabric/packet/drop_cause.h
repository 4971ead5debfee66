#pragma once
// Why a packet went no further.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace mrclab {

/// Each cause is counted and recorded under its own name.
enum class DropCause : uint8_t {
  kNone,
  kWireDown,          ///< cut on the wire: it or its sender was down between start and arrival
  kWireLoss,          ///< a lossy wire took it
  kPortDown,          ///< the egress port had no carrier
  kQueueFull,         ///< tail drop of the data queue
  kControlQueueFull,  ///< tail drop of the control queue
  kTrimmedQueueFull,  ///< tail drop of the queue of trimmed frames
  kUnknownUsid,       ///< no route for the active uSID
  kEndOfCarrier,      ///< own uSID with an empty argument: no destination is left
  kHopLimit,
  kMalformed,
  kNotIpv6,
  kForeignCarrier,  ///< destination is not in the fabric's block
  kNoReceiver,      ///< a host's NIC has no queue pair or address for it
  kBadIcrc,
  kNoBuffer,
  kFrameCheck,         ///< bits flipped on the wire, and the port's frame check found them
  kSwitchHung,         ///< a switch that forwards nothing took it in, or had it queued
  kSwitchDown,         ///< was queued in a switch that lost its power
  kHostDown,           ///< was on its way inside a host that lost its power
  kNoRoute,            ///< ECMP: no host has the address, or no uplink is left that leads there
  kReceiveBufferFull,  ///< the receiving NIC had no room before memory: NACK NO_PKT_BUFFER
  kNoBitmap,           ///< the receiving NIC had no bitmap for its PSN: NACK NO_BITMAP
  kOutOfOrder,         ///< the receiving RC queue pair waits for an earlier PSN: NAK sequence error
  kNotReady,           ///< the receiving RC queue pair had no receive: "receiver not ready"
  kPauseStorm,         ///< a switch's watchdog drops what an endless pause holds up
  kNotAuthorised,  ///< a host sent a program that it may not (fabric/topology/programs/program_table.h)
  kNotAuthorisedSource,  ///< a host sent with another's address
  kNotAuthorisedTenant,  ///< a host sent to another tenant
};
inline constexpr size_t kDropCauses = static_cast<size_t>(DropCause::kNotAuthorisedTenant) + 1;
std::string_view name_of(DropCause cause);
/// Was the frame lost before its receiver had all of it? Then it has no record of arrival.
bool lost_on_wire(DropCause cause);

}  // namespace mrclab
