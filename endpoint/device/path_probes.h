#pragma once
// The probes of paths that a device has sent and that were not answered yet, and the answers that were not taken.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "endpoint/device/verbs_types.h"

namespace mrclab::endpoint {

class PathProbes {
 public:
  static constexpr size_t kMost = 4096;  ///< under way, and answers that wait
  /// Its probes have ids from here on; those of other parts of the host are below.
  static constexpr uint16_t kFirstId = 0x8000;

  bool has_room(size_t probes) const { return open_.size() + done_.size() + probes <= kMost; }
  uint64_t begin_request() { return ++requests_; }
  /// The id of a probe that leaves now.
  uint16_t sent(uint64_t request, EntropyValue ev, FabricTime now, FabricTime timeout) {
    const auto id = static_cast<uint16_t>(kFirstId | (next_++ & 0x7FFF));
    open_.push_back({id, request, ev, now, now + timeout});
    return id;
  }
  /// False if no such probe waits.
  bool answered(uint16_t id, FabricTime now) {
    const auto found =
        std::find_if(open_.begin(), open_.end(), [id](const Open& open) { return open.id == id; });
    if (found == open_.end()) return false;
    done_.push_back({found->request, found->ev, now - found->at});
    open_.erase(found);
    return true;
  }
  /// When the next one is given up; never() if none is under way.
  FabricTime due() const {
    FabricTime at = FabricTime::never();
    for (const Open& open : open_) at = std::min(at, open.until);
    return at;
  }
  /// True if some were given up.
  bool expire(FabricTime now) {
    const size_t before = open_.size();
    for (const Open& open : open_) {
      if (open.until <= now) done_.push_back({open.request, open.ev, std::nullopt});
    }
    std::erase_if(open_, [now](const Open& open) { return open.until <= now; });
    return open_.size() != before;
  }
  std::optional<PathProbe> next() {
    if (done_.empty()) return std::nullopt;
    const PathProbe probe = done_.front();
    done_.pop_front();
    return probe;
  }
  void clear() {
    open_.clear();
    done_.clear();
  }

 private:
  struct Open {
    uint16_t id = 0;
    uint64_t request = 0;
    EntropyValue ev;
    FabricTime at, until;
  };
  std::vector<Open> open_;
  std::deque<PathProbe> done_;
  uint64_t requests_ = 0;
  uint32_t next_ = 0;
};

}  // namespace mrclab::endpoint
