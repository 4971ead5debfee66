#pragma once
// The ends of transmissions that a switch waits for, at most one of each port, in the order (time, port). Ports
// that start a frame later nearly always end later, so one is put in from behind, in few steps.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fabric/base/ids.h"
#include "fabric/base/make_room.h"
#include "fabric/base/units.h"

namespace mrclab::switchd {

class SendingEnds {
 public:
  struct End {
    FabricTime at;
    PortId port;
    constexpr auto operator<=>(const End&) const = default;
  };

  bool empty() const { return first_ == ends_.size(); }
  FabricTime next_time() const { return empty() ? FabricTime::never() : ends_[first_].at; }
  void push(const End& end) {
    if (empty()) {
      ends_.clear();
      first_ = 0;
    } else if (first_ > ends_.size() / 2) {  // so what is gone takes no more room than what is there
      ends_.erase(ends_.begin(), ends_.begin() + first_);
      first_ = 0;
    }
    make_room(ends_, 1);
    ends_.push_back(end);
    for (size_t i = ends_.size() - 1; i > static_cast<size_t>(first_) && end < ends_[i - 1]; --i) {
      std::swap(ends_[i], ends_[i - 1]);
    }
  }
  /// Not empty.
  End pop() { return ends_[static_cast<size_t>(first_++)]; }

 private:
  std::vector<End> ends_;
  ptrdiff_t first_ = 0;  // those before it are gone
};

}  // namespace mrclab::switchd
