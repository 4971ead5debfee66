#include "analysis/history/flow_table.h"

#include <algorithm>

#include "analysis/history/flow_keys.h"

namespace mrclab::analysis {
namespace {

/// How far a PSN may be from those seen: MRC's largest window (specification table 7-4).
constexpr int64_t kMaxPsnGap = 32'640;
constexpr int64_t kMaxFrontGrowth = 1 << 16;  // slots that may move when an older PSN turns up
constexpr int64_t kPsnModulus = 1 << 24;

}  // namespace

uint32_t FlowTable::find_or_add(uint32_t source, uint32_t destination, uint32_t qp, bool roce) {
  const auto [entry, added] =
      index_.try_emplace(flow_key(source, destination, qp), static_cast<uint32_t>(flows_.size()));
  if (added) {
    between_[pair_key(source, destination)].push_back(entry->second);
    flows_.push_back({source, destination, Qpn{qp}, roce});
    states_.emplace_back();
  }
  return entry->second;
}

std::span<const uint32_t> FlowTable::between(uint32_t source, uint32_t destination) const {
  const auto found = between_.find(pair_key(source, destination));
  if (found == between_.end()) return {};
  return found->second;
}

uint32_t* FlowTable::slot_of(uint32_t flow, Psn psn, bool create) {
  State& state = states_[flow];
  if (state.slots.empty()) {
    if (!create || slots_in_use_ >= kMaxSlots) return nullptr;
    // One modulus up, so that PSNs before the first seen stay positive.
    state.base = state.highest = psn.value() + kPsnModulus;
    state.acknowledged = state.arrived = state.base - 1;
    state.slots.assign(1, kNone);
    ++slots_in_use_;
    return &state.slots[0];
  }
  const Psn highest{static_cast<uint32_t>(state.highest & Psn::kMask)};
  const int64_t unwrapped = state.highest + (psn - highest);
  int64_t index = unwrapped - state.base;
  const auto size = static_cast<int64_t>(state.slots.size());
  if (index >= 0 && index < size) return &state.slots[static_cast<size_t>(index)];
  const int64_t missing = index < 0 ? -index : index - size + 1;
  if (!create || missing > kMaxPsnGap || slots_in_use_ + missing > kMaxSlots) return nullptr;
  if (index < 0 && size > kMaxFrontGrowth) return nullptr;
  slots_in_use_ += static_cast<size_t>(missing);
  if (index < 0) {
    state.slots.insert(state.slots.begin(), static_cast<size_t>(missing), kNone);
    state.base -= missing;
    state.acknowledged = std::min(state.acknowledged, state.base - 1);
    state.arrived = std::min(state.arrived, state.base - 1);
    index = 0;
  } else {
    state.slots.resize(static_cast<size_t>(index) + 1, kNone);
    state.highest = unwrapped;
  }
  return &state.slots[static_cast<size_t>(index)];
}

uint32_t FlowTable::packet_at(uint32_t flow, Psn psn) {
  const uint32_t* slot = slot_of(flow, psn, false);
  return slot == nullptr ? kNone : *slot;
}

void FlowTable::give_to(PacketTables& tables) {
  tables.flows = std::move(flows_);
  tables.in_order.reserve(states_.size());
  for (State& state : states_) tables.in_order.push_back(std::move(state.slots));
}

}  // namespace mrclab::analysis
