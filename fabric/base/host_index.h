#pragma once
// Index of what a node keeps for each host (a peer, a queue), by the host's number. A node keeps something for few
// hosts of a large fabric, so the table has room for those alone: a table of hosts by number would take 512 KiB in each
// of 131,072 nodes.

#include <cstdint>
#include <utility>
#include <vector>

namespace mrclab {

/// A hash table with linear probing, at most half full. Nothing is read from it in order.
class HostIndex {
 public:
  static constexpr uint32_t kNone = 0xFFFF'FFFF;

  /// What was set for the host; kNone if nothing was.
  uint32_t find(uint32_t host) const {
    if (slots_.empty()) return kNone;
    const Slot* slot = &slots_[first_place(host)];
    while (slot->index != kNone && slot->host != host) slot = next(slot);
    return slot->index;
  }
  /// `index` is not kNone.
  void set(uint32_t host, uint32_t index) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot* slot = &slots_[first_place(host)];
    while (slot->index != kNone && slot->host != host) slot = next(slot);
    used_ += slot->index == kNone ? 1 : 0;
    *slot = {host, index};
  }
  void clear() {
    slots_.clear();
    used_ = 0;
  }

 private:
  struct Slot {
    uint32_t host = 0;
    uint32_t index = kNone;
  };

  /// Neighbouring hosts, which are often met together, lie far apart (Knuth's multiplicative hash).
  size_t first_place(uint32_t host) const { return host * 0x9E37'79B1u >> shift_; }
  const Slot* next(const Slot* slot) const {
    return ++slot == slots_.data() + slots_.size() ? slots_.data() : slot;
  }
  Slot* next(Slot* slot) { return ++slot == slots_.data() + slots_.size() ? slots_.data() : slot; }
  void grow() {
    std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(used_ == 0 ? 2 : 4 * used_));
    shift_ = 32;
    for (size_t room = slots_.size(); room > 1; room /= 2) --shift_;
    used_ = 0;
    for (const Slot& slot : before) {
      if (slot.index != kNone) set(slot.host, slot.index);
    }
  }

  std::vector<Slot> slots_;  ///< a power of two of them, or none
  uint32_t used_ = 0;
  uint32_t shift_ = 32;
};

}  // namespace mrclab
