#include "netio/runtime/effect_feed.h"

#include <algorithm>

#include "fabric/node/effect_text.h"
#include "netio/runtime/gate.h"

namespace mrclab::netio {

/// Compares the effects alone: sequence numbers and numbers of faults change when a fault is added
/// to the list.
bool EffectFeed::Entry::same_as(const Entry& other) const {
  return node == other.node && effect.at == other.effect.at && effect.effect == other.effect.effect;
}

uint64_t EffectFeed::replace(const Topology& topology, const std::vector<bool>& mine,
                             const Schedule& schedule, FabricTime committed) {
  // A process that has just started has executed nothing yet, so it needs the
  // settled effects that the schedule still has.
  const FabricTime begin = committed >= schedule.settled ? schedule.settled : kBeforeTime;
  while (!entries_.empty() && handed_out_ > 0 && entries_.front().effect.at <= begin) {
    entries_.pop_front();
    --handed_out_;
  }
  std::deque<Entry> entries;
  for (const ScheduledEffect& effect : schedule.effects) {
    if (effect.at <= begin) continue;
    for_each_concerned(topology, effect.effect, [&](NodeId node) {
      if (mine[node.value]) entries.push_back({node, effect});
    });
  }
  const auto past = static_cast<size_t>(
      std::partition_point(entries.begin(), entries.end(),
                           [&](const Entry& entry) { return entry.effect.at <= committed; }) -
      entries.begin());
  size_t same = 0;
  while (same < std::min(past, handed_out_) && entries[same].same_as(entries_[same])) ++same;
  const size_t late = std::max(past, handed_out_) - same;
  entries_ = std::move(entries);
  handed_out_ = same;
  return late;
}

void EffectFeed::hand_out(FabricTime until, const HandOver& hand_over) {
  while (handed_out_ < entries_.size() && entries_[handed_out_].effect.at <= until) {
    const Entry& entry = entries_[handed_out_++];
    hand_over(entry.node, entry.effect);
  }
}

FabricTime EffectFeed::next(std::optional<NodeId> node) const {
  for (size_t i = handed_out_; i < entries_.size(); ++i) {
    if (!node || entries_[i].node == *node) return entries_[i].effect.at;
  }
  return FabricTime::never();
}

}  // namespace mrclab::netio
