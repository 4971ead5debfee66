// What SightingReader keeps of a frame beside its sighting: the fields of an answer, the place of a payload.

#include <algorithm>
#include <array>

#include "analysis/capture/flat_index.h"
#include "analysis/history/flow_keys.h"
#include "analysis/history/sighting_reader.h"
#include "fabric/base/byte_order.h"

namespace mrclab::analysis {
namespace {

/// InfiniBand vol. 1 table 47: the top bits of the syndrome are 0 for an ACK.
bool is_ack(const Aeth& aeth) { return aeth.syndrome >> 5 == 0; }

/// Enough to distinguish payloads that are not made to collide. At most kPayloadSample bytes.
uint32_t sample_of(std::span<const uint8_t> bytes) {
  std::array<uint8_t, 16> padded{};
  static_assert(kPayloadSample <= padded.size());
  if (bytes.size() == kPayloadSample) {
    std::copy_n(bytes.begin(), kPayloadSample, padded.begin());  // without a call
  } else {
    std::copy(bytes.begin(), bytes.end(), padded.begin());
  }
  const uint64_t hash = mixed(load_be<uint64_t>(&padded[0]) ^ mixed(load_be<uint64_t>(&padded[8])));
  const auto sample = static_cast<uint32_t>(hash);
  return sample == 0 ? 1 : sample;
}

}  // namespace

uint32_t SightingReader::keep_answer(const FrameView& packet, const Extension& extension) {
  SeenAnswer fields;
  if (const auto* sack = std::get_if<Seth>(&extension)) {
    fields.ev = sack->entropy;
    fields.cumulative = sack->cumulative;
    fields.bitmap_offset = sack->sack_offset;
    fields.bitmap = sack->bitmap;
    fields.trigger = sack->probe_response
                         ? sack->cumulative
                         : sack->cumulative + static_cast<int16_t>(sack->psn_offset_or_probe_id);
  } else if (const auto* nack = std::get_if<Neth>(&extension)) {
    fields.ev = nack->entropy;
    fields.trigger = nack->psn;
    fields.nack_reason = nack->reason;
    fields.is_nack = true;
  } else if (const auto* rc = std::get_if<Aeth>(&extension);
             rc && packet.opcode() == Opcode::kRcAcknowledge) {
    // An ACK covers its PSN, a NAK and "receiver not ready" what is before theirs. The way back has the
    // source port of the data's.
    fields.ev = packet.entropy();
    fields.is_nak = !is_ack(*rc);
    fields.is_not_ready = rc->syndrome >> 5 == 1;
    fields.cumulative = packet.psn() + (fields.is_nak ? -1 : 0);
    fields.trigger = fields.cumulative;
    fields.is_rc = true;
  } else if (const auto* ack = std::get_if<Aeth>(&extension); ack && is_ack(*ack)) {
    fields.cumulative = packet.psn();
    fields.is_ack = true;
  } else {
    return Attempt::kNone;
  }
  seen_.answers.push_back(fields);
  return static_cast<uint32_t>(seen_.answers.size() - 1);
}

uint32_t SightingReader::keep_placement(const CutFrame& kept, const Sighting& s) {
  const FrameView& packet = kept.view();
  Placement placement;
  if (is_rc_request(packet.opcode())) {
    MrcPacket whole;
    kept.decode(whole);
    const auto known = rc_messages_.placement_of(flow_key(s.source, s.destination, s.qp), whole);
    if (!known) return Attempt::kNone;
    placement = *known;
  } else {
    if (packet.trimmed()) return Attempt::kNone;
    const Reth reth = packet.reth();
    placement.va = reth.va;
    placement.rkey = reth.rkey;
    placement.message_bytes = reth.dma_length;
    placement.payload_bytes = static_cast<uint32_t>(packet.payload_length());
    placement.msn = packet.meth().msn;
    placement.first = is_first(packet.opcode());
    placement.last = is_last(packet.opcode());
  }
  if (const size_t size = std::min(kPayloadSample, packet.payload_length());
      kept.payload().size() >= size) {
    placement.sample = sample_of(kept.payload().first(size));
  }
  seen_.placements.push_back(placement);
  return static_cast<uint32_t>(seen_.placements.size() - 1);
}

}  // namespace mrclab::analysis
