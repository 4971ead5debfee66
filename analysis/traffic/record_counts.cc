#include "analysis/traffic/record_counts.h"

#include <algorithm>

namespace mrclab::analysis {

void RecordCounts::add_frame(const DecodedFrame& frame) {
  counters_.bytes += frame.original_length;
  if (frame.opcode) ++counters_.opcodes[*frame.opcode];
  if (frame.decoded != Decoded::kSighting && frame.decoded != Decoded::kRoce) return;
  for (size_t layer = 0; frame.layers != 0 && layer < kLayers; ++layer) {
    counters_.layers[layer] += frame.layers >> layer & 1;
  }
  switch (frame.ip_checksum) {
    case IpChecksum::kRight: break;
    case IpChecksum::kOpen: ++counters_.checksum_open; break;
    case IpChecksum::kWrong: ++counters_.checksum_wrong; break;
  }
}

void RecordCounts::add_unread(Decoded decoded, const DecodedFrame& frame) {
  switch (decoded) {
    case Decoded::kSighting: break;
    case Decoded::kNotMrc: ++counters_.not_mrc; break;
    case Decoded::kRoce:
      ++counters_.roce;
      if (frame.sighting.event == PacketEvent::kDropped) {
        ++counters_.roce_drops[static_cast<size_t>(frame.sighting.cause)];
      }
      break;
    case Decoded::kOtherOpcode: ++counters_.other_opcodes; break;
    case Decoded::kPause: ++counters_.pauses; break;
    case Decoded::kEncrypted: ++counters_.encrypted; break;
    case Decoded::kFragment: ++counters_.fragments; break;
    case Decoded::kTooDeep: ++counters_.too_deep; break;
    case Decoded::kNotEthernet: ++counters_.not_ethernet; break;
    case Decoded::kMalformed: ++counters_.malformed; break;
    case Decoded::kBadRoce: ++counters_.bad_roce; break;
    case Decoded::kBadChecksum: ++counters_.damaged; break;
    case Decoded::kCutShort: ++counters_.cut_short; break;
    case Decoded::kUntimed: ++counters_.untimed; break;
    case Decoded::kTooMany: ++counters_.over_limit; break;
  }
}

void RecordCounts::add_pause(const PauseSeenAt& seen, FabricTime t) {
  for (uint8_t priority = 0; priority < seen.frame.quanta.size(); ++priority) {
    if ((seen.frame.classes >> priority & 1) == 0) continue;
    const PauseAsker asker{seen.asked_by, seen.whole_link ? kAllPriorities : priority};
    if (pause_requests_.size() >= kMaxPauseAskers && !pause_requests_.contains(asker)) {
      ++counters_.pauses_not_kept;
      continue;
    }
    PauseRequests& requests = pause_requests_[asker];
    const uint16_t quanta = seen.frame.quanta[priority];
    ++(quanta > 0 ? requests.asks : requests.ends);
    requests.most_quanta = std::max(requests.most_quanta, quanta);
    requests.first = std::min(requests.first, t);
    requests.last = std::max(requests.last, t);
  }
}

void RecordCounts::add_file(const CaptureCounters& counters) {
  counters_.records += counters.records + counters.skipped();
  counters_.skipped += counters.skipped();
}

void RecordCounts::move_into(Traffic& traffic) {
  TrafficCounters& c = traffic.counters;
  for (uint64_t TrafficCounters::*count :
       {&TrafficCounters::records,        &TrafficCounters::bytes,
        &TrafficCounters::skipped,        &TrafficCounters::not_mrc,
        &TrafficCounters::not_ethernet,   &TrafficCounters::untimed,
        &TrafficCounters::malformed,      &TrafficCounters::bad_roce,
        &TrafficCounters::roce,           &TrafficCounters::other_opcodes,
        &TrafficCounters::pauses,         &TrafficCounters::pauses_not_kept,
        &TrafficCounters::checksum_open,  &TrafficCounters::encrypted,
        &TrafficCounters::fragments,      &TrafficCounters::too_deep,
        &TrafficCounters::checksum_wrong, &TrafficCounters::damaged,
        &TrafficCounters::cut_short,      &TrafficCounters::over_limit}) {
    c.*count += counters_.*count;
  }
  c.opcodes = counters_.opcodes;
  c.roce_drops = counters_.roce_drops;
  c.layers = counters_.layers;
  traffic.pause_requests = std::move(pause_requests_);
}

}  // namespace mrclab::analysis
