#include "endpoint/host/nic_checks.h"

#include <algorithm>
#include <array>

#include "fabric/paths/ecmp.h"
#include "fabric/topology/path.h"

namespace mrclab::endpoint {
namespace {

Refusal refusal_of(ParseError error) {
  switch (error) {
    case ParseError::kNotIpv6:
    case ParseError::kNotIpInIp:
    case ParseError::kNotUdp:
    case ParseError::kNotMrcPort: return Refusal::kOtherTraffic;
    default: return Refusal::kMalformed;
  }
}

/// A data packet without its payload: the headers end where the frame does, and their lengths are
/// those of the modelled frame. (A frame that was cut short anywhere else is malformed.)
bool is_elided(const Frame& frame, const MrcPacket& packet) {
  return carries_data(packet.bth.opcode) && packet.payload.empty() &&
         frame.modelled_size().value ==
             layout_of(packet.encapsulation).udp + packet.inner.payload_length;
}

/// Gives the packet the payload that was lent to its frame. False if its headers have another length.
bool take_lent_payload(const LentPayload& lent, MrcPacket& packet) {
  if (lent.size != packet.payload_length) return false;
  packet.payload = {lent.data, lent.size};
  packet.cut = false;
  return true;
}

}  // namespace

DropCause drop_cause_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::kMalformed:
    case Refusal::kBadTrim: return DropCause::kMalformed;
    case Refusal::kBadIcrc: return DropCause::kBadIcrc;
    case Refusal::kNotMrc:
    case Refusal::kWrongCarrier:
    case Refusal::kCarrierNotEmpty:
    case Refusal::kWrongAddress:
    case Refusal::kUnknownQp:
    case Refusal::kWrongPeer: return DropCause::kNoReceiver;
    case Refusal::kNoPacketBuffer: return DropCause::kReceiveBufferFull;
    case Refusal::kNoBitmap: return DropCause::kNoBitmap;
    case Refusal::kOutOfOrder: return DropCause::kOutOfOrder;
    case Refusal::kNotReady: return DropCause::kNotReady;
    default: return DropCause::kNone;
  }
}

/// Everything that the NIC looks at before the ICRC.
Refusal NicChecks::examine_headers(uint32_t port, std::span<const uint8_t> bytes, bool may_be_cut,
                                   MrcPacket& packet) const {
  const PathMapper& paths = host_.paths;
  const ParseError error = parse_mrc_frame(bytes, packet, {.allow_cut = may_be_cut});
  const bool carried = packet.encapsulation == Encapsulation::kSrv6;
  const bool accepted = !carried || paths.accepts(port, packet.outer.destination);
  const bool ipv4 = packet.encapsulation == Encapsulation::kIpv4;
  const bool ours =
      same_address(packet.inner.destination, ipv4 ? host_address_ipv4(host_.self) : address_);
  if (error == ParseError::kNotMrcPort && (carried ? accepted : ours)) return Refusal::kNotMrc;
  if (error != ParseError::kNone) return refusal_of(error);
  if (!accepted) return Refusal::kWrongCarrier;
  if (carried && !paths.ends_here(packet.outer.destination)) return Refusal::kCarrierNotEmpty;
  if (!ours) return Refusal::kWrongAddress;
  // Lengths show that a packet is trimmed; its DSCP is the choice of the switches' operator, and may be one that is
  // not in our configuration. No requester sends a whole packet with the DSCP of trimmed ones.
  const bool says_trimmed = host_.profile.dscps.is_trimmed(packet.outer.dscp());
  return says_trimmed && !packet.trimmed ? Refusal::kBadTrim : Refusal::kNone;
}

Refusal NicChecks::examine(uint32_t port, const Frame& frame, MrcPacket& packet) const {
  if (frame.damage() != 0) return examine_damaged(port, frame, packet);
  const bool may_be_cut = host_.payload_elided || frame.has_lent();
  const Refusal wrong = examine_headers(port, frame.bytes(), may_be_cut, packet);
  if (packet.cut && !is_elided(frame, packet)) return Refusal::kMalformed;
  if (wrong != Refusal::kNone) return wrong;
  // No switch can have written to a payload that is lent or elided, so its ICRC would be right.
  if (packet.cut) {
    const bool taken = !frame.has_lent() || take_lent_payload(frame.lent(), packet);
    return taken ? Refusal::kNone : Refusal::kMalformed;
  }
  const bool has_icrc = !packet.trimmed && host_.profile.icrc;
  return has_icrc && !icrc_ok(frame.bytes()) ? Refusal::kBadIcrc : Refusal::kNone;
}

/// A switch flipped bits of a frame without payload (Frame::damage): with its payload, every check before the
/// ICRC would end as for these headers, and the ICRC would fail.
Refusal NicChecks::examine_damaged(uint32_t port, const Frame& frame, MrcPacket& packet) const {
  const bool may_be_cut = host_.payload_elided || frame.has_lent();
  std::array<uint8_t, kFrameCapacity> whole{};
  std::copy(frame.bytes().begin(), frame.bytes().end(), whole.begin());
  const size_t size = std::min<size_t>(frame.modelled_size().value, whole.size());
  const Refusal wrong = examine_headers(port, std::span(whole).first(size), may_be_cut, packet);
  packet.payload = {};  // it would point into `whole`
  if (wrong != Refusal::kNone) return wrong;
  return packet.trimmed ? Refusal::kNone : Refusal::kBadIcrc;  // a trimmed packet has no ICRC
}

}  // namespace mrclab::endpoint
