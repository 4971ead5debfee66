#include "analysis/checks/placed_messages.h"

namespace mrclab::analysis {

bool wholly_inside(uint64_t va, uint64_t size, uint64_t of_va, uint64_t of_size) {
  return va >= of_va && size <= of_size && va - of_va <= of_size - size;
}

void for_each_misplaced(const PacketHistory& history, uint32_t flow,
                        const std::function<void(const Packet&)>& tell) {
  const Placement* before = nullptr;
  uint64_t begin = 0;
  bool begin_known = false;
  for (const uint32_t number : history.in_order(flow)) {
    if (number == Attempt::kNone || history.packets()[number].placement == Attempt::kNone ||
        history.placement(history.packets()[number]).nowhere) {
      before = nullptr;
      begin_known = false;
      continue;
    }
    const Packet& packet = history.packets()[number];
    const Placement& p = history.placement(packet);
    bool fits = p.payload_bytes <= p.message_bytes;
    if (p.first) {
      begin = p.va;
      begin_known = true;
    } else if (before != nullptr) {
      fits = fits && !before->last && p.va == before->va + before->payload_bytes &&
             p.rkey == before->rkey && p.msn == before->msn &&
             p.message_bytes == before->message_bytes;
    }
    if (begin_known) {
      fits = fits && wholly_inside(p.va, p.payload_bytes, begin, p.message_bytes);
      if (p.last) fits = fits && p.va + p.payload_bytes == begin + p.message_bytes;
    }
    if (!fits && packet.delivered != FabricTime::never()) tell(packet);
    before = &p;
  }
}

uint64_t whole_messages(const PacketHistory& history, uint32_t flow) {
  uint64_t whole = 0;
  uint32_t before = Attempt::kNone;
  for (const uint32_t number : history.in_order(flow)) {
    if (number == Attempt::kNone) break;
    if (number == before) continue;  // one packet of a READ has several PSNs
    before = number;
    const Packet& packet = history.packets()[number];
    if (packet.delivered == FabricTime::never() || packet.placement == Attempt::kNone) break;
    whole += history.placement(packet).last ? 1 : 0;
  }
  return whole;
}

}  // namespace mrclab::analysis
