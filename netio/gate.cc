#include "netio/gate.h"

#include <algorithm>

namespace mrclab::netio {

uint64_t GatePage::progress(ProgressCounter counter, uint32_t offset) const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < process_count; ++i) {
    sum += processes[i].progress[static_cast<uint32_t>(counter) + offset].load(
        std::memory_order_relaxed);
  }
  return sum;
}

FabricTime GatePage::slowest_done() const {
  FabricTime slowest = FabricTime::never();
  for (uint32_t i = 0; i < process_count; ++i) {
    const ProcessState s = state(i);
    if (s == ProcessState::kReleased || s == ProcessState::kFailed) continue;
    slowest = std::min(slowest,
                       FabricTime::from_ps(processes[i].done_ps.load(std::memory_order_acquire)));
  }
  return slowest;
}

}  // namespace mrclab::netio
