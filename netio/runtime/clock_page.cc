#include "netio/runtime/clock_page.h"

#include <ctime>
#include <limits>

namespace mrclab::netio {

LabTime LabTime::now() {
  timespec ts{};
  ::clock_gettime(CLOCK_MONOTONIC, &ts);
  return {int64_t{ts.tv_sec} * 1'000'000'000 + ts.tv_nsec};
}

FabricTime ClockPage::Plain::at(LabTime lab) const {
  const __int128 elapsed = lab.ns > lab_ns ? lab.ns - lab_ns : 0;
  return FabricTime::from_ps(fabric_ps + static_cast<int64_t>((elapsed * rate_q32) >> 32));
}

void ClockPage::publish(LabTime from, FabricTime fabric, Dilation dilation) {
  const double ps_per_ns = dilation.k > 0 ? 1000.0 / dilation.k : 0.0;
  const uint32_t count = count_.load(std::memory_order_relaxed);
  Segment& slot = segments_[count % kSegments];
  version_.fetch_add(1, std::memory_order_acq_rel);
  slot.lab_ns.store(from.ns, std::memory_order_relaxed);
  slot.fabric_ps.store(fabric.ps(), std::memory_order_relaxed);
  slot.rate_q32.store(static_cast<int64_t>(ps_per_ns * 4294967296.0), std::memory_order_relaxed);
  count_.store(count + 1, std::memory_order_relaxed);
  version_.fetch_add(1, std::memory_order_release);
}

void ClockPage::reset(FabricTime fabric, LabTime now) { publish(now, fabric, Dilation{0}); }

void ClockPage::set_dilation(Dilation dilation, LabTime now) {
  const LabTime from = now + kLeadNs;
  publish(from, fabric_at(from), dilation);
}

void ClockPage::jump(FabricTime fabric, Dilation dilation, LabTime now) {
  const LabTime from = now + kLeadNs;
  const FabricTime continuous = fabric_at(from);
  publish(from, fabric > continuous ? fabric : continuous, dilation);
}

void ClockPage::set_back(FabricTime fabric, Dilation dilation, LabTime now) {
  publish(now, fabric, dilation);
}

ClockPage::Plain ClockPage::segment_for(LabTime lab) const {
  for (;;) {  // bounded in practice: a publication is a handful of stores
    const uint32_t before = version_.load(std::memory_order_acquire);
    if ((before & 1) != 0) continue;
    const uint32_t count = count_.load(std::memory_order_relaxed);
    Plain found{0, 0, 0};
    const uint32_t kept = static_cast<uint32_t>(kSegments);
    const uint32_t oldest = count > kept ? count - kept : 0;
    for (uint32_t i = count; i > oldest; --i) {
      const Segment& s = segments_[(i - 1) % kSegments];
      found = {s.lab_ns.load(std::memory_order_relaxed),
               s.fabric_ps.load(std::memory_order_relaxed),
               s.rate_q32.load(std::memory_order_relaxed)};
      if (found.lab_ns <= lab.ns) break;
    }
    std::atomic_thread_fence(std::memory_order_acquire);
    if (version_.load(std::memory_order_relaxed) == before) return found;
  }
}

FabricTime ClockPage::fabric_at(LabTime lab) const { return segment_for(lab).at(lab); }

int64_t ClockPage::lab_ns_between(FabricTime from, FabricTime to, LabTime now) const {
  const Plain segment = segment_for(now);
  if (segment.rate_q32 == 0) return std::numeric_limits<int64_t>::max();
  const __int128 distance = to.ps() - from.ps();
  return static_cast<int64_t>((distance << 32) / segment.rate_q32);
}

}  // namespace mrclab::netio
