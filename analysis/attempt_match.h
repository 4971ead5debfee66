#pragma once
// Which attempt a sighting of a packet belongs to: the one rule of all that join packets, of the judge
// (packet_join.cc), of captures of any size (traffic_analyzer.cc) and of a single packet hop by hop
// (packet_walk.cc).
//
// An attempt is known by what no switch changes: its entropy value, its retransmission bit and the
// sender's timestamp (TSETH). Of the attempts that agree with a frame, the frame is the oldest of
// which nothing is known yet; if all have ended, it is the newest once more: a wire carried it twice.
// A packet has arrived with the first frame that is whole, also if that frame is such a copy.

#include <cstdint>
#include <optional>

#include "fabric/ids.h"

namespace mrclab::analysis {

struct AttemptMark {
  EntropyValue ev;
  bool retransmission = false;
  bool timed = false;      ///< the frame has a timestamp
  uint16_t timestamp = 0;  ///< the sender's, in its own unit

  /// Of the same attempt, as far as both of them say which.
  bool agrees(const AttemptMark& other) const {
    return ev == other.ev && retransmission == other.retransmission &&
           (!timed || !other.timed || timestamp == other.timestamp);
  }
};

/// Offer every attempt of a packet that agrees with a frame, from the newest to the oldest.
template <class Attempt>
class AttemptChoice {
 public:
  void offer(Attempt attempt, bool open) {
    if (!newest_) newest_ = attempt;
    if (open) {
      open_ = attempt;
    } else if (!ended_) {
      ended_ = attempt;
    }
  }
  /// The oldest of which nothing is known yet.
  const std::optional<Attempt>& open() const { return open_; }
  /// The newest that has ended.
  const std::optional<Attempt>& ended() const { return ended_; }
  const std::optional<Attempt>& newest() const { return newest_; }

 private:
  std::optional<Attempt> open_, ended_, newest_;
};

}  // namespace mrclab::analysis
