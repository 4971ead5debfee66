// What SightingReader keeps of a frame beside its sighting: where its payload goes.

#include <algorithm>
#include <array>

#include "analysis/capture/flat_index.h"
#include "analysis/history/flow_keys.h"
#include "analysis/history/sighting_reader.h"
#include "fabric/base/byte_order.h"

namespace mrclab::analysis {
namespace {

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

uint32_t SightingReader::keep_placement(const CutFrame& kept, const Sighting& s) {
  const FrameView& packet = kept.view();
  Placement placement;
  if (is_rc_fetch(packet.opcode())) {
    Extension extension;
    packet.read_extension(extension);
    placement.nowhere = placement.first = placement.last = true;
    if (const auto* const read = std::get_if<RcHeaders>(&extension)) {
      const uint64_t pmtu = topology_.pmtu, length = read->reth->dma_length;
      placement.psns = static_cast<uint32_t>(std::max<uint64_t>(1, (length + pmtu - 1) / pmtu));
    }
    seen_.placements.push_back(placement);
    return static_cast<uint32_t>(seen_.placements.size() - 1);
  }
  if (is_rc_request(packet.opcode()) && is_send(packet.opcode())) {
    placement.nowhere = true;
    placement.first = is_first(packet.opcode());
    placement.last = is_last(packet.opcode());
  } else if (is_rc_request(packet.opcode())) {
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
