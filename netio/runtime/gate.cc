#include "netio/runtime/gate.h"

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

FabricTime GatePage::stop_everywhere() {
  FabricTime latest = kBeforeTime;
  const auto in_force =
      FabricTime::from_ps(limit_ps.exchange(kBeforeTime.ps(), std::memory_order_seq_cst));
  for (uint32_t i = 0; i < process_count; ++i) {  // also processes that have left the gate
    latest = std::max(latest,
                      FabricTime::from_ps(processes[i].claimed_ps.load(std::memory_order_seq_cst)));
  }
  return std::min(latest, in_force);  // a process takes back a claim beyond the limit
}

FabricTime GatePage::slowest(std::atomic<int64_t> ProcessSlot::*instant) const {
  FabricTime slowest = FabricTime::never();
  for (uint32_t i = 0; i < process_count; ++i) {
    if (!in_gate(state(i))) continue;
    const int64_t ps = (processes[i].*instant).load(std::memory_order_acquire);
    slowest = std::min(slowest, FabricTime::from_ps(ps));
  }
  return slowest;
}

FabricTime GatePage::slowest_done() const { return slowest(&ProcessSlot::done_ps); }

FabricTime GatePage::slowest_recorded() const { return slowest(&ProcessSlot::recorded_ps); }

uint64_t GatePage::watched_records() const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < process_count; ++i) {
    sum += processes[i].watched_records.load(std::memory_order_relaxed);
  }
  return sum;
}

std::optional<FabricTime> GatePage::quiet_until() const {
  const std::optional<Quiet> found = quiet();
  if (!found) return std::nullopt;
  return found->next;
}

std::optional<GatePage::Quiet> GatePage::quiet() const {
  // Taken counts before sent counts (Mattern's four counters): if the later sum of what was sent
  // equals the earlier sum of what was taken, nothing was under way at any instant in between, and
  // what each process said then about its next event includes every frame there is.
  uint64_t taken = 0, given = 0;
  Quiet quiet{FabricTime::never(), FabricTime::never()};
  for (uint32_t i = 0; i < process_count; ++i) {
    taken += processes[i].frames_taken.load(std::memory_order_acquire);
  }
  const uint64_t newest = schedule.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < process_count; ++i) {
    if (processes[i].schedule.load(std::memory_order_acquire) != newest) return std::nullopt;
    const auto at = [](const std::atomic<int64_t>& ps) {
      return FabricTime::from_ps(ps.load(std::memory_order_acquire));
    };
    quiet.next = std::min(quiet.next, at(processes[i].next_event_ps));
    quiet.watched = std::min(quiet.watched, at(processes[i].watched_next_ps));
  }
  for (uint32_t i = 0; i < process_count; ++i) {
    given += processes[i].frames_sent.load(std::memory_order_acquire);
    if (!in_gate(state(i))) return std::nullopt;
  }
  if (given != taken) return std::nullopt;
  return quiet;
}

}  // namespace mrclab::netio
