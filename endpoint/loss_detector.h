#pragma once
// The time rule of loss detection, after RACK (RFC 8985 §6.2): a packet is lost when one that was
// sent at least a reorder window later is known to have arrived. Fits spraying, where the order of
// PSNs says nothing. Told only of transmissions that are known to be the ones that arrived.

#include <algorithm>

#include "fabric/units.h"

namespace mrclab::endpoint {

class LossDetector {
 public:
  explicit LossDetector(FabricTime reorder_window) : reorder_window_(reorder_window) {}
  void on_arrived(FabricTime sent) { newest_arrived_ = std::max(newest_arrived_, sent); }
  bool is_lost(FabricTime sent) const { return sent + reorder_window_ <= newest_arrived_; }
  /// The same, judged by something else that was sent at `witness` and arrived.
  bool is_lost_by(FabricTime sent, FabricTime witness) const {
    return sent + reorder_window_ <= witness;
  }

 private:
  FabricTime reorder_window_;
  FabricTime newest_arrived_ = FabricTime::from_ps(-1) - reorder_window_;
};

}  // namespace mrclab::endpoint
