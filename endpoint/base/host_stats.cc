#include "endpoint/base/host_stats.h"

namespace mrclab::endpoint {

std::string_view name_of(Refusal refusal) {
  switch (refusal) {
    case Refusal::kNone: return "none";
    case Refusal::kMalformed: return "malformed";
    case Refusal::kOtherTraffic: return "other_traffic";
    case Refusal::kNotMrc: return "not_mrc";
    case Refusal::kWrongCarrier: return "wrong_carrier";
    case Refusal::kCarrierNotEmpty: return "carrier_not_empty";
    case Refusal::kWrongAddress: return "wrong_address";
    case Refusal::kBadIcrc: return "bad_icrc";
    case Refusal::kUnknownQp: return "unknown_qp";
    case Refusal::kWrongPeer: return "wrong_peer";
    case Refusal::kQpInError: return "qp_in_error";
    case Refusal::kBadTrim: return "bad_trim";
    case Refusal::kBadLength: return "bad_length";
    case Refusal::kBadRkey: return "bad_rkey";
    case Refusal::kOutOfBounds: return "out_of_bounds";
    case Refusal::kDuplicate: return "duplicate";
    case Refusal::kPsnOutOfWindow: return "psn_out_of_window";
    case Refusal::kPsnFarPast: return "psn_far_past";
    case Refusal::kSackOfFuture: return "sack_of_future";
    case Refusal::kNackOfUnsent: return "nack_of_unsent";
    case Refusal::kAckOfFuture: return "ack_of_future";
    case Refusal::kUnknownEv: return "unknown_ev";
    case Refusal::kStaleFeedback: return "stale_feedback";
    case Refusal::kUnexpectedOpcode: return "unexpected_opcode";
    case Refusal::kBrokenMessage: return "broken_message";
    case Refusal::kTooManyImmediates: return "too_many_immediates";
    case Refusal::kNoPacketBuffer: return "no_packet_buffer";
    case Refusal::kNoBitmap: return "no_bitmap";
    case Refusal::kOutOfOrder: return "out_of_order";
    case Refusal::kNotReady: return "not_ready";
  }
  return "unknown";
}

void HostStats::count_qp_error(std::string_view reason) {
  ++qps_in_error;
  for (QpErrorCount& known : qp_errors) {
    if (known.reason != reason) continue;
    ++known.count;
    return;
  }
  qp_errors.push_back({std::string(reason), 1});
}

uint64_t HostStats::goodput_bytes() const {
  uint64_t sum = 0;
  for (const PlaneStats& plane : planes) sum += plane.rx_payload_bytes;
  return sum;
}

}  // namespace mrclab::endpoint
