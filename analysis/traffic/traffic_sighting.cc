#include "analysis/traffic/traffic_sighting.h"

namespace mrclab::analysis {

Stage stage_of(const Ipv6Address& carrier, EntropyValue ev) {
  size_t left = 0;
  while (left < 6 && load_be<uint16_t>(&carrier[4 + 2 * left]) != 0) ++left;
  for (size_t i = left; i < 6; ++i) {
    if (load_be<uint16_t>(&carrier[4 + 2 * i]) != 0) return Stage::kUnknown;
  }
  // A carrier that ends at a leaf, which strips it, lacks the NIC port or kernel that others end with.
  constexpr uint16_t kFirstOfHosts = 0xC000;  // in both layouts of fabric/topology/usid.h
  if (left > 0 && load_be<uint16_t>(&carrier[4 + 2 * (left - 1)]) < kFirstOfHosts) ++left;
  switch (left) {
    case 1: return Stage::kHostDown;
    case 2: {
      const std::optional<Path> path = path_of(ev);
      return path && path->uplink == kT0LocalUplink ? Stage::kHostUp : Stage::kSpineDown;
    }
    case 3: return Stage::kSpineUp;
    case 4: return Stage::kHostUp;
    default: return Stage::kUnknown;
  }
}

uint8_t sent_rank(const TrafficSighting& s) {
  return static_cast<uint8_t>(2 * wires_behind(s.stage) + (s.end == WireEnd::kArriving ? 1 : 0));
}

uint8_t arrived_rank(const TrafficSighting& s) {
  if (s.stage == Stage::kHostDown) return s.end == WireEnd::kLeaving ? 2 : 3;
  return s.stage == Stage::kUnknown ? 1 : 0;
}

uint32_t ConversationTable::find(const Ipv6Address& source, const Ipv6Address& destination,
                                 Qpn qp) const {
  const uint32_t found = index_.find(conversation_key(source, destination, qp));
  if (found == kNone) return kNone;
  const Conversation& c = all_[found];
  return is_between(c, source, destination, qp) ? found : kNone;
}

uint32_t ConversationTable::find_or_add_by_key(const Ipv6Address& source,
                                               const Ipv6Address& destination, Qpn qp) {
  const uint32_t found = index_.find_or_add(conversation_key(source, destination, qp),
                                            static_cast<uint32_t>(all_.size()));
  if (found == kNone) return kNone;
  if (found == all_.size()) {
    all_.push_back({source, destination, qp, false, {}, {}});
    return found;
  }
  const Conversation& c = all_[found];  // two that share a 64-bit key: the second is not followed
  return is_between(c, source, destination, qp) ? found : kNone;
}

}  // namespace mrclab::analysis
