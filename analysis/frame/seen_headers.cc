#include "analysis/frame/seen_headers.h"

#include <algorithm>

#include "fabric/base/byte_order.h"
#include "fabric/packet/trailer.h"

namespace mrclab::analysis {
namespace {

using AnswerKind = SeenAnswer::Kind;

/// InfiniBand vol. 1 table 47: the top bits of the syndrome are 0 for an ACK, 1 for "receiver not ready", 3 for a
/// NAK, whose lower bits are the reason.
AnswerKind kind_of(const Aeth& aeth, bool rc) {
  constexpr uint8_t kSequenceError = 0x60;
  const int top = aeth.syndrome >> 5;
  if (!rc) return top == 0 ? AnswerKind::kAck : AnswerKind::kNone;
  if (aeth.syndrome == kSequenceError) return AnswerKind::kRcSequenceNak;
  return top == 0 ? AnswerKind::kRcAck : top == 1 ? AnswerKind::kRcNotReady : AnswerKind::kRcNak;
}

}  // namespace

SeenAnswer answer_in(const FrameView& packet) {
  Extension extension;
  packet.read_extension(extension);
  SeenAnswer answer;
  if (const auto* sack = std::get_if<Seth>(&extension)) {
    answer.kind = AnswerKind::kSack;
    answer.probe = sack->probe_response;
    answer.bitmap = sack->bitmap;
    answer.ev = sack->entropy;
    answer.trigger = answer.cumulative = sack->cumulative;
    answer.bitmap_offset = sack->sack_offset;
    answer.out_of_order = sack->out_of_order;
    answer.timestamp = sack->tx_timestamp;
    answer.near_id = sack->spdcid;
    answer.far_id = sack->dpdcid;
    answer.mark = sack->mark;
    if (answer.probe) {
      answer.probe_id = sack->psn_offset_or_probe_id;
    } else {
      answer.trigger = sack->cumulative + static_cast<int16_t>(sack->psn_offset_or_probe_id);
    }
  } else if (const auto* nack = std::get_if<Neth>(&extension)) {
    answer.kind = AnswerKind::kNack;
    answer.ev = nack->entropy;
    answer.trigger = nack->psn;
    answer.timestamp = nack->tx_timestamp;
    answer.nack_reason = nack->reason;
    answer.near_id = nack->spdcid;
    answer.far_id = nack->dpdcid;
  } else if (const auto* aeth = std::get_if<Aeth>(&extension)) {
    answer.kind = kind_of(*aeth, packet.is_roce());
    // An ACK covers its PSN, a NAK and "receiver not ready" of RC what is before theirs.
    answer.cumulative = packet.psn() + (answer.is_rc_nak() ? -1 : 0);
    if (answer.is_rc()) {
      answer.ev = packet.entropy();  // the way back has the source port of the data's
      answer.trigger = answer.cumulative;
    }
  } else if (std::holds_alternative<RcResponse>(extension)) {
    // What answers a request with data shows that it arrived.
    answer.kind = AnswerKind::kRcAck;
    answer.cumulative = answer.trigger = packet.psn();
    answer.ev = packet.entropy();
  } else if (const auto* peth = std::get_if<Peth>(&extension)) {
    answer.probe = true;
    answer.probe_id = peth->probe_id;
  } else if (const auto* erth = std::get_if<Erth>(&extension)) {
    answer.probe = erth->op == EndpointOp::kEvProbe;
  } else if (const auto* eeth = std::get_if<Eeth>(&extension)) {
    answer.probe = eeth->op == EndpointOp::kEvProbe;
  }
  return answer;
}

std::span<const uint8_t> without_void(std::span<const uint8_t> ethernet_frame) {
  constexpr size_t kVoidHead = kEthernetBytes + 2;
  if (ethernet_frame.size() < kVoidHead ||
      load_be<uint16_t>(&ethernet_frame[kEthernetBytes - 2]) != kVoidEthertype) {
    return ethernet_frame;
  }
  const size_t count = load_be<uint16_t>(&ethernet_frame[kEthernetBytes]);
  return ethernet_frame.subspan(kVoidHead, std::min(count, ethernet_frame.size() - kVoidHead));
}

std::optional<TimeTrailer> trailer_of(std::span<const uint8_t> ethernet_frame) {
  const std::optional<size_t> offset = trailer_offset(ethernet_frame);
  return offset ? parse_trailer(ethernet_frame.subspan(*offset)) : std::nullopt;
}

}  // namespace mrclab::analysis
