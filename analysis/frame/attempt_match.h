#pragma once
// Which attempt (transmission) of a packet a frame belongs to. Three joiners share this rule: the
// judge (part_joiner.cc), the analysis of any capture (traffic_analyzer.cc) and the trace of a
// single packet hop by hop (packet_walk.cc).
//
// A *sighting* is one frame seen at one place; an *attempt* is one transmission of a packet, with a
// fate. An attempt is recognized by what no switch changes: its entropy value, its retransmission bit
// and the sender's timestamp (TSETH). Several attempts may agree with a frame. Then the frame belongs
// to the oldest one whose fate is still open. If none is open, the frame is a copy of the newest
// one that has ended: a wire carried it twice. A packet has arrived with its first whole frame,
// even if that frame is a copy.

#include <cstdint>
#include <optional>

#include "fabric/base/ids.h"
#include "fabric/base/units.h"

namespace mrclab::analysis {

/// What became of one attempt to get a packet across.
enum class Fate : uint8_t {
  kInFlight,   ///< no record of its fate (yet)
  kDelivered,  ///< whole, at the receiving host
  kTrimmed,    ///< its header arrived at the receiving host
  kDropped,    ///< a drop record names the cause
};

struct AttemptMark {
  EntropyValue ev;
  bool retransmission = false;
  bool timed = false;      ///< the frame has a timestamp
  uint16_t timestamp = 0;  ///< the sender's, in its own unit
  bool ev_only = false;    ///< nothing but `ev` is known: packet records

  /// Do both marks fit one attempt? What only one of them has rules nothing out.
  bool agrees(const AttemptMark& other) const {
    if (ev != other.ev) return false;
    if (ev_only || other.ev_only) return true;
    return retransmission == other.retransmission &&
           (!timed || !other.timed || timestamp == other.timestamp);
  }
  /// Is a frame seen so long (`behind`) after `before` a copy of the same attempt? A wire that
  /// carries frames twice, or a capture at both of its ends, shows the second within `gap`. A
  /// retransmission comes later: its sender learns of the loss a round trip later.
  bool copies(const AttemptMark& before, FabricTime behind, FabricTime gap) const {
    return behind < gap && agrees(before);
  }
};

/// Chooses among the attempts that agree with a frame. Its user offers them from the newest to the
/// oldest; `open`: the attempt's fate is not known yet.
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
