#include "fabric/wire_model.h"

#include <algorithm>

namespace mrclab {

void IngressWire::go_down(FabricTime at) {
  if (up()) outages_.push_back({at, FabricTime::never()});
}

void IngressWire::come_up(FabricTime at) {
  if (!up()) outages_.back().until = at;
}

bool IngressWire::cut(FabricTime start, FabricTime arrival) const {
  for (auto outage = outages_.rbegin(); outage != outages_.rend(); ++outage) {
    if (outage->until <= start) return false;  // this one and all earlier ones had ended
    if (outage->from <= arrival) return true;
  }
  return false;
}

void IngressWire::forget_before(FabricTime horizon) {
  const auto kept = std::find_if(outages_.begin(), outages_.end(),
                                 [&](const Outage& outage) { return outage.until > horizon; });
  outages_.erase(outages_.begin(), kept);
}

bool EgressWire::takes_next_frame() {
  if (loss_.ppb == 0) return false;
  return chance(draw(seed_, node_, port_, DrawPurpose::kWireLoss, counter_++), loss_);
}

}  // namespace mrclab
