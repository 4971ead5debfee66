#pragma once
// REPS, recycled entropies for packet spraying (Bonato et al., 2024; the sizes are those of htsim's
// buffer_reps): a value that an answer without a mark has named is used once more, the oldest first; while
// there is none, values are drawn. After a loss the cache freezes: its values, which worked of late, are used
// over and over, and afterwards it is filled anew from drawn ones.

#include <array>
#include <cstdint>
#include <optional>

#include "fabric/base/units.h"

namespace mrclab::endpoint {

class RecycledValues {
 public:
  static constexpr uint32_t kSlots = 8;
  /// Packets after a freeze whose values are drawn, whatever the cache holds.
  static constexpr uint32_t kExploring = 16;

  /// An answer without a mark has named the value.
  void recycle(uint32_t value);
  /// The value of the next packet; empty: it is to be drawn.
  std::optional<uint32_t> next(FabricTime now);
  /// A packet was lost: no value is drawn until `until`, if the cache has any.
  void freeze(FabricTime now, FabricTime until);

 private:
  struct Slot {
    uint32_t value = 0;
    bool fresh = false;  ///< not used since the answer
  };
  void thaw_if_due(FabricTime now);

  std::array<Slot, kSlots> ring_{};
  uint32_t head_ = 0;  ///< the slot that is written next, and the oldest one once all are filled
  uint32_t filled_ = 0;
  uint32_t frozen_at_ = 0;  ///< the slot that is used next while frozen
  uint32_t exploring_ = 0;
  std::optional<FabricTime> frozen_until_;
};

}  // namespace mrclab::endpoint
