#include "analysis/history/lossless_turns.h"

#include "fabric/base/random.h"

namespace mrclab::analysis {

void LosslessTurns::count_record(NodeId node, PortId port, Direction direction, PacketEvent event,
                                 QueueClass queue, uint64_t frame_name) {
  if (queue == QueueClass::kPause) return;
  const uint64_t key = mix64(frame_name) ^ node.value;
  if (direction == Direction::kIngress && event == PacketEvent::kPassed) {
    if (inside_.size() < kMaxInside) inside_[key] = port;
    return;
  }
  const auto known = inside_.find(key);
  if (known == inside_.end()) return;
  if (event == PacketEvent::kPassed && queue == QueueClass::kLossless) {
    turns_.insert(key_of(node, known->second, port));
  }
  inside_.erase(known);
}

}  // namespace mrclab::analysis
