#pragma once
// What a requester knows of the paths of its entropy values: which losses are held against a value, what
// arrived on it since, and whether most packets to the destination are trimmed just now.

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fabric/units.h"

namespace mrclab::endpoint {

class PathEvidence {
 public:
  /// Losses in a row, with nothing heard of later packets, that tell a dead path.
  static constexpr uint32_t kSilentPath = 4;

  explicit PathEvidence(size_t values) : values_(values) {}

  /// A packet that was sent at `sent` on value `ev` is lost. True if the path is dead.
  bool is_dead_after_loss(uint32_t ev, FabricTime sent) {
    Value& value = values_[ev];
    value.held_against = std::max(value.held_against, sent);
    value.silent = value.heard > sent ? 0 : value.silent + 1;
    return value.silent >= kSilentPath;
  }
  /// Whatever arrives on it, the value stays bad.
  void condemn(uint32_t ev) { values_[ev].held_against = FabricTime::never(); }
  void forget_losses(uint32_t ev) { values_[ev].held_against = {}; }
  /// Is a loss held against the value that was sent after `sent`?
  bool is_newer_loss_known(uint32_t ev, FabricTime sent) const {
    return sent < values_[ev].held_against;
  }
  /// A packet that was sent at `sent` on the value has arrived, whole or trimmed.
  void hear(uint32_t ev, FabricTime sent) { values_[ev].heard = std::max(values_[ev].heard, sent); }

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
  struct Value {
    FabricTime held_against;                     ///< when the newest loss was sent
    FabricTime heard = FabricTime::from_ps(-1);  ///< when the newest that arrived was sent
    uint32_t silent = 0;  ///< losses in a row, with nothing heard of later packets
  };
  static constexpr uint32_t kWhole = 1 << 16;

  std::vector<Value> values_;
  uint32_t trimmed_share_ = 0;                         ///< in 1 / kWhole
  FabricTime last_trim_ = FabricTime::from_ms(-1000);  ///< when the newest trim was told
};

}  // namespace mrclab::endpoint
