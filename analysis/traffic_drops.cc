// Records of drops: losses that a capture names.

#include <algorithm>

#include "analysis/traffic_analyzer.h"

namespace mrclab::analysis {

void TrafficAnalyzer::on_drop(const FrameSighting& s) {
  const uint32_t flow = flow_of(s.conversation);
  const uint32_t path = path_of_flow(flow, s);
  PsnSlot* slot = path == kNone ? nullptr : open_slot(flow, s.psn);
  if (slot == nullptr) {
    ++traffic_.counters.behind;
    return;
  }
  // A host's own port that could not send: the packet never left, and no other record shows it.
  const bool at_sender = s.stage == Stage::kHostUp && s.end == WireEnd::kLeaving;
  TrafficAttempt* attempt =
      slot->attempts > 0 && !at_sender ? oldest_open(*slot, marks_of(s)) : nullptr;
  if (attempt == nullptr && !at_sender && slot->attempts > 0 && s.stage == Stage::kHostDown) {
    attempt = newest_ended(*slot, marks_of(s));  // it arrived, then the NIC refused it
    if (attempt != nullptr && attempt->fate == AttemptFate::kDelivered) {
      undo_arrival(traffic_.flows[flow], traffic_.paths[path], *slot);
    }
  }
  if (attempt == nullptr && slot->attempts > 0) {
    ++traffic_.flows[flow].resent;
    ++traffic_.paths[path].resent;
    ++plane(traffic_.paths[path].plane).resent;
    attempt = add_attempt(*slot, attempt_of(s, s.t.ps(), slot->finished()));
  } else if (attempt == nullptr) {
    slot->first = attempt_of(s, s.t.ps(), false);
    slot->attempts = 1;
    slot->payload = static_cast<uint16_t>(std::min<uint32_t>(s.payload, UINT16_MAX));
    attempt = &slot->first;
    on_first_sent(s, flow, path);
  }
  if (attempt != nullptr) attempt->fate = AttemptFate::kDropped;
}

void TrafficAnalyzer::undo_arrival(TrafficFlow& flow, FlowPath& path, PsnSlot& slot) {
  if (!slot.finished() || flow.delivered == 0 || path.delivered == 0) return;
  uint32_t whole = slot.first.fate == AttemptFate::kDelivered ? 1 : 0;
  for (uint32_t at = slot.later; at != kNone; at = later_[at].previous) {
    whole += later_[at].attempt.fate == AttemptFate::kDelivered ? 1 : 0;
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
