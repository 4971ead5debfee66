#pragma once
// Which attempt (transmission) of a packet a frame belongs to. Three joiners share this rule: the
// judge (packet_joiner.cc), the analysis of any capture (traffic_analyzer.cc) and the trace of a
// single packet hop by hop (packet_walk.cc).
//
// An attempt is recognized by what no switch changes: its entropy value, its retransmission bit and
// the sender's timestamp (TSETH). Several attempts may agree with a frame. Then the frame belongs
// to the oldest one whose fate is still open. If none is open, the frame is a copy of the newest
// one that has ended: a wire carried it twice. A packet has arrived with its first whole frame,
// even if that frame is a copy.

#include <cstdint>
#include <optional>

#include "fabric/ids.h"

namespace mrclab::analysis {

struct AttemptMark {
  EntropyValue ev;
  bool retransmission = false;
  bool timed = false;      ///< the frame has a timestamp
  uint16_t timestamp = 0;  ///< the sender's, in its own unit

  /// Do both marks fit one attempt? A timestamp that only one of them has rules nothing out.
  bool agrees(const AttemptMark& other) const {
    return ev == other.ev && retransmission == other.retransmission &&
           (!timed || !other.timed || timestamp == other.timestamp);
  }
};

/// Chooses among the attempts that agree with a frame. Its user offers them from the newest to the
/// oldest; `open` says that the attempt's fate is not known yet.
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
  /// The oldest attempt whose fate is not known yet.
  const std::optional<Attempt>& open() const { return open_; }
  /// The newest attempt that has ended.
  const std::optional<Attempt>& ended() const { return ended_; }
  const std::optional<Attempt>& newest() const { return newest_; }

 private:
  std::optional<Attempt> open_, ended_, newest_;
};

}  // namespace mrclab::analysis
