#pragma once
// The flows of a history as they turn up, and which packet each of their PSNs is.

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/history/packet_history.h"

namespace mrclab::analysis {

class FlowTable {
 public:
  static constexpr uint32_t kNone = Attempt::kNone;
  static constexpr size_t kMaxSlots = 1u << 25;  ///< PSN slots of all flows together

  /// PSNs are unwrapped: counted on over their wrap.
  struct State {
    int64_t base = 0;             ///< of slots[0]
    int64_t highest = 0;          ///< that was seen
    int64_t acknowledged = 0;     ///< all up to it are marked
    int64_t arrived = 0;          ///< all up to it had arrived when this was last looked at
    std::vector<uint32_t> slots;  ///< index of a packet by PSN - base; kNone for none
    /// Packets before `arrived` may be missing after all.
    void forget_arrivals() { arrived = base - 1; }
  };

  /// The number of a flow.
  uint32_t find_or_add(uint32_t source, uint32_t destination, uint32_t qp, bool roce);
  /// Numbers of the flows between two hosts, in one direction.
  std::span<const uint32_t> between(uint32_t source, uint32_t destination) const;
  State& operator[](uint32_t flow) { return states_[flow]; }

  /// Where the packet of a PSN stands. Null if it is out of range, or, without `create`, if nothing
  /// is known of it.
  uint32_t* slot_of(uint32_t flow, Psn psn, bool create);
  /// kNone if there is none.
  uint32_t packet_at(uint32_t flow, Psn psn);

  size_t size() const { return flows_.size(); }
  size_t slots_in_use() const { return slots_in_use_; }

  /// Gives away the flows and, by flow, their slots.
  void give_to(PacketTables& tables);

 private:
  std::vector<Flow> flows_;
  std::vector<State> states_;
  std::unordered_map<uint64_t, uint32_t> index_;                 // by flow_key()
  std::unordered_map<uint64_t, std::vector<uint32_t>> between_;  // by pair_key()
  size_t slots_in_use_ = 0;
};

}  // namespace mrclab::analysis
