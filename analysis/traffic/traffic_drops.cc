// Records of drops in captures: each names a packet, a place and a cause.

#include <algorithm>

#include "analysis/traffic/traffic_analyzer.h"
#include "fabric/node/node.h"
#include "fabric/packet/drop_kind.h"

namespace mrclab::analysis {

void TrafficAnalyzer::on_drop(const TrafficSighting& s) {
  const uint32_t flow = flow_of(s.conversation);
  const uint32_t path = path_of_flow(flow, s);
  PsnSlot* slot = path == kNone ? nullptr : open_slot(flow, s.psn);
  if (slot == nullptr) {
    ++traffic_.counters.behind;
    return;
  }
  // A host's own port that could not send: the packet never left, and no other record shows it.
  const bool at_sender = s.stage == Stage::kHostUp && s.end == WireEnd::kLeaving;
  const AttemptChoice<TrafficAttempt*> choice =
      at_sender ? AttemptChoice<TrafficAttempt*>{} : attempts_of(s, *slot);
  TrafficAttempt* attempt = choice.open().value_or(nullptr);
  if (attempt == nullptr && choice.ended()) {
    attempt = *choice.ended();
    if (s.stage != Stage::kHostDown || lost_on_wire(s.cause)) {  // the second frame of this attempt
      ++traffic_.counters.copies;
      return;
    }
    if (attempt->fate == Fate::kDelivered) {  // it arrived, then the NIC refused it
      undo_arrival(traffic_.flows[flow], traffic_.paths[path], *slot);
    }
  }
  if (attempt == nullptr && slot->attempts > 0) {
    ++traffic_.flows[flow].resent;
    ++traffic_.paths[path].resent;
    ++plane(traffic_.paths[path].plane).resent;
    attempt = add_attempt(*slot, attempt_of(s, path, s.t.ps(), slot->finished()));
  } else if (attempt == nullptr) {
    slot->first = attempt_of(s, path, s.t.ps(), false);
    slot->attempts = 1;
    slot->payload = static_cast<uint16_t>(std::min<uint32_t>(s.payload, UINT16_MAX));
    attempt = &slot->first;
    on_first_sent(s, flow, path);
  }
  if (attempt == nullptr) return;
  attempt->fate = Fate::kDropped;
  attempt->refused = drop_kind(s.cause) == DropKind::kRefused;
}

void TrafficAnalyzer::undo_arrival(TrafficFlow& flow, FlowPath& path, PsnSlot& slot) {
  if (!slot.finished() || flow.delivered == 0 || path.delivered == 0) return;
  uint32_t whole = slot.first.fate == Fate::kDelivered ? 1 : 0;
  for (uint32_t at = slot.later; at != kNone; at = later_[at].previous) {
    whole += later_[at].attempt.fate == Fate::kDelivered ? 1 : 0;
  }
  if (whole != 1) {  // another attempt delivered it as well
    if (flow.duplicates > 0) --flow.duplicates;
    return;
  }
  slot.arrived = TrafficAttempt::kUnseen;
  --flow.delivered;
  --path.delivered;
  flow.delivered_bytes -= std::min<uint64_t>(slot.payload, flow.delivered_bytes);
  path.delivered_bytes -= std::min<uint64_t>(slot.payload, path.delivered_bytes);
  PlaneTraffic& on = plane(path.plane);
  if (on.delivered > 0) --on.delivered;
  on.delivered_bytes -= std::min<uint64_t>(slot.payload, on.delivered_bytes);
}

}  // namespace mrclab::analysis
