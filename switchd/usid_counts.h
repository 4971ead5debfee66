#pragma once
// What a switch did with each uSID, looked up for every packet: two steps through arrays.

#include <array>
#include <cstdint>
#include <vector>

#include "fabric/base/cache_line.h"
#include "fabric/base/make_room.h"
#include "switchd/counters.h"

namespace mrclab::switchd {

class UsidCounts {
 public:
  /// The counters of this uSID, from now on among those that were seen. Valid until the next call.
  UsidCounters& of(uint16_t usid) {
    uint16_t& page = page_of_[usid >> 8];
    if (page == 0) {
      pages_.reserve(pages_.size() + 1);  // two or three in all
      pages_.emplace_back();
      page = static_cast<uint16_t>(pages_.size());
    }
    uint32_t& number = pages_[page - 1u][usid & 0xFF];
    if (number == 0) {
      make_room(counters_, 1);
      counters_.emplace_back();
      number = static_cast<uint32_t>(counters_.size());
    }
    return counters_[number - 1];
  }

  bool empty() const { return counters_.empty(); }
  /// Loads into the cache the counters of those that were seen.
  void fetch() const { fetch_lines(counters_.data(), counters_.size() * sizeof(UsidCounters)); }
  /// Calls visit(usid, counters) for each uSID that was seen, in their order.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (uint32_t usid = 0; usid <= UINT16_MAX; ++usid) {
      const uint16_t page = page_of_[usid >> 8];
      const uint32_t number = page == 0 ? 0 : pages_[page - 1u][usid & 0xFF];
      if (number != 0) visit(static_cast<uint16_t>(usid), counters_[number - 1]);
    }
  }

 private:
  // Numbers from 1; 0: not seen yet. There are as many counters as uSIDs at most: 65,536.
  std::array<uint16_t, 256> page_of_{};           // by the high byte of the uSID
  std::vector<std::array<uint32_t, 256>> pages_;  // by its low byte
  std::vector<UsidCounters> counters_;
};

}  // namespace mrclab::switchd
