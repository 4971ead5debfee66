#pragma once
// Work requests of a program that the device has: what their completions need. A place is the identifier that the
// device gets and returns.

#include <cstdint>
#include <memory>
#include <vector>

#include "verbs/server/program_objects.h"

namespace mrclab::verbs {

struct WorkSlot {
  uint64_t wr_id = 0;
  uint32_t owner = 0;   ///< handle of its queue pair, or of its shared receive queue
  uint32_t opcode = 0;  ///< ibv_wc_opcode of its completion
  uint64_t bytes = 0;   ///< that were copied from the program's memory for it
  uint32_t length = 0;
  bool receive = false;
  bool shared = false;  ///< owner is a shared receive queue
  bool signaled = false;
  bool used = false;
  /// Shared with the table of regions: a receive that is posted outlives a deregistration.
  std::vector<std::shared_ptr<RegionObject>> regions;
};

class WorkSlots {
 public:
  /// The caller bounds how many there are: places of queues.
  uint32_t take() {
    uint32_t place = 0;
    if (free_.empty()) {
      place = static_cast<uint32_t>(slots_.size());
      slots_.emplace_back();
    } else {
      place = free_.back();
      free_.pop_back();
    }
    slots_[place].used = true;
    return place;
  }
  /// Null if the place is not in use.
  WorkSlot* find(uint64_t place) {
    return place < slots_.size() && slots_[place].used ? &slots_[place] : nullptr;
  }
  void release(uint32_t place) {
    slots_[place] = {};
    free_.push_back(place);
  }
  /// All that `matches`.
  template <class Matches>
  void release_if(Matches matches) {
    for (uint32_t place = 0; place < slots_.size(); ++place) {
      if (slots_[place].used && matches(slots_[place])) release(place);
    }
  }
  size_t in_use() const { return slots_.size() - free_.size(); }

 private:
  std::vector<WorkSlot> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace mrclab::verbs
