#pragma once
// Captures that overlap: the same file twice, the pieces of a rotated capture that share some seconds,
// two captures of one port. A record that another file has as well, at the same instant and alike, is
// one sighting.

#include <vector>

#include "analysis/traffic/traffic_sighting.h"

namespace mrclab::analysis {

class TrafficOverlap {
 public:
  /// Has another file shown this one already? To be called in order of time.
  bool is_repeat(const TrafficSighting& s) {
    if (s.t != t_) {
      t_ = s.t;
      seen_.clear();
    }
    for (Seen& seen : seen_) {
      // A file may hold a frame twice: each of them stands for one record of another file.
      if (seen.first.feed == s.feed || seen.repeated_by == s.feed || !alike(seen.first, s))
        continue;
      seen.repeated_by = s.feed;
      ++repeats_;
      return true;
    }
    if (seen_.size() < kMaxAtOnce) seen_.push_back({s, s.feed});
    return false;
  }
  uint64_t repeats() const { return repeats_; }

 private:
  /// Bound on the frames of one instant; a hostile capture may have all its records there.
  static constexpr size_t kMaxAtOnce = 64;
  struct Seen {
    TrafficSighting first;
    uint16_t repeated_by;
  };

  static bool alike(const TrafficSighting& a, const TrafficSighting& b) {
    return a.conversation == b.conversation && a.psn == b.psn && a.ev == b.ev &&
           a.opcode == b.opcode && a.event == b.event && a.stage == b.stage && a.end == b.end &&
           a.traffic_class == b.traffic_class && a.retransmission == b.retransmission &&
           a.answer.trigger == b.answer.trigger && a.answer.bitmap == b.answer.bitmap &&
           a.answer.probe_id == b.answer.probe_id;
  }

  FabricTime t_ = FabricTime::never();
  std::vector<Seen> seen_;
  uint64_t repeats_ = 0;
};

}  // namespace mrclab::analysis
