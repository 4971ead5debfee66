#include "netio/runtime/gate.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <ctime>

namespace mrclab::netio {
namespace {

/// Between processes, so without FUTEX_PRIVATE_FLAG.
void call_futex(std::atomic<uint32_t>& word, int operation, uint32_t value,
                const timespec* timeout) {
  static_assert(sizeof word == sizeof(uint32_t) && std::atomic<uint32_t>::is_always_lock_free);
  ::syscall(SYS_futex, &word, operation, value, timeout, nullptr, 0);
}

timespec duration_of(int64_t ns) { return {ns / 1'000'000'000, ns % 1'000'000'000}; }

}  // namespace

uint64_t GatePage::progress(ProgressCounter counter, uint32_t offset) const {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < process_count; ++i) {
    sum += processes[i].progress[static_cast<uint32_t>(counter) + offset].load(
        std::memory_order_relaxed);
  }
  return sum;
}

void GatePage::tell_of_links() {
  links_made.store(1, std::memory_order_release);
  call_futex(links_made, FUTEX_WAKE, INT_MAX, nullptr);
}

bool GatePage::wait_for_links(int64_t longest_ns) {
  const auto made = [this] { return links_made.load(std::memory_order_acquire) != 0; };
  if (made()) return true;
  const timespec longest = duration_of(longest_ns);
  call_futex(links_made, FUTEX_WAIT, 0, &longest);
  return made();
}

void GatePage::set_limit(FabricTime limit) {
  const int64_t before = limit_ps.exchange(limit.ps(), std::memory_order_acq_rel);
  if (before != kBeforeTime.ps() || limit == kBeforeTime) return;
  openings.fetch_add(1, std::memory_order_release);
  call_futex(openings, FUTEX_WAKE, INT_MAX, nullptr);
}

bool GatePage::wait_for_limit(int64_t longest_ns) {
  const auto open = [this] { return limit_ps.load(std::memory_order_acquire) != kBeforeTime.ps(); };
  const uint32_t seen = openings.load(std::memory_order_acquire);
  if (open()) return true;
  const timespec longest = duration_of(longest_ns);
  call_futex(openings, FUTEX_WAIT, seen, &longest);
  return open();
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

FabricTime GatePage::time_at(LabTime now) const {
  const FabricTime paced = clock.fabric_at(now);
  const auto leash = FabricTime::from_ps(leash_ps.load(std::memory_order_relaxed));
  if (leash == FabricTime::zero()) return paced;
  const FabricTime slowest = slowest_done();
  if (slowest == FabricTime::never()) return paced;
  const auto quiet = FabricTime::from_ps(quiet_ps.load(std::memory_order_acquire));
  return std::min(paced, std::max(slowest + leash, quiet));
}

FabricTime GatePage::slowest_done() const { return slowest(&ProcessSlot::done_ps); }

FabricTime GatePage::slowest_recorded() const { return slowest(&ProcessSlot::recorded_ps); }

FabricTime GatePage::records_cut() const {
  int64_t earliest = FabricTime::never().ps();
  for (uint32_t i = 0; i < process_count; ++i) {
    earliest = std::min(earliest, processes[i].records_cut_ps.load(std::memory_order_acquire));
  }
  return FabricTime::from_ps(earliest);
}

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
  // the next event that each process published then includes every frame there is.
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
