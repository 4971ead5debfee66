#pragma once
// A requester's evidence about the paths of its entropy values: which losses are held against a value, what
// arrived on it since, and whether most packets to the destination are trimmed just now.

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

class PathEvidence {
 public:
  /// Losses in a row, with no arrival of later packets, that make a path dead.
  static constexpr uint32_t kSilentPath = 4;

  /// A packet that was sent at `sent` on value `ev` is lost. True if the path is dead.
  bool is_dead_after_loss(uint32_t ev, FabricTime sent) {
    Losses& losses = losses_of(ev);
    losses.newest = std::max(losses.newest, sent);
    losses.silent = ev < heard_.size() && heard_[ev] > sent ? 0 : losses.silent + 1;
    return losses.silent >= kSilentPath;
  }
  /// Whatever arrives on it, the value stays bad.
  void condemn(uint32_t ev) { losses_of(ev).newest = FabricTime::never(); }
  void forget_losses(uint32_t ev) {
    if (ev < losses_.size()) losses_[ev].newest = {};
  }
  /// Is a loss held against the value that was sent after `sent`?
  bool is_newer_loss_known(uint32_t ev, FabricTime sent) const {
    return ev < losses_.size() && sent < losses_[ev].newest;
  }
  /// A packet that was sent at `sent` on the value has arrived, whole or trimmed.
  void note_delivery(uint32_t ev, FabricTime sent) {
    if (ev >= heard_.size()) heard_.resize(room_for(ev), FabricTime::from_ps(-1));
    heard_[ev] = std::max(heard_[ev], sent);
  }

  /// What became of the last sixteen packets or so that came to the destination, as a moving average.
  void note_arrival() { trimmed_share_ -= trimmed_share_ / 16; }
  void note_trim(FabricTime now) {
    last_trim_ = now;
    trimmed_share_ += (kWhole - trimmed_share_) / 16;
  }
  /// More than half of what comes to the destination is trimmed, and was so within `recent`.
  bool is_trimming(FabricTime now, FabricTime recent) const {
    return trimmed_share_ > kWhole / 2 && now - last_trim_ <= recent;
  }

 private:
  /// What is held against a value.
  struct Losses {
    FabricTime newest;    ///< when it was sent
    uint32_t silent = 0;  ///< in a row, with no arrival of later packets
  };
  static constexpr uint32_t kWhole = 1 << 16;

  Losses& losses_of(uint32_t ev) {
    if (ev >= losses_.size()) losses_.resize(room_for(ev));
    return losses_[ev];
  }

  /// A set has a power of two of values mostly.
  static size_t room_for(uint32_t ev) { return std::bit_ceil(size_t{ev} + 1); }

  // By value: when the newest that arrived was sent, and losses. Up to the last value with something: a queue pair that
  // only receives gets no answers, and in a sound fabric nothing is lost.
  std::vector<FabricTime> heard_;
  std::vector<Losses> losses_;
  uint32_t trimmed_share_ = 0;                         ///< in 1 / kWhole
  FabricTime last_trim_ = FabricTime::from_ms(-1000);  ///< when the newest trim was reported
};

}  // namespace mrclab::endpoint
