#include "endpoint/host/receive_side.h"

#include <algorithm>

#include "endpoint/base/packet_overhead.h"

namespace mrclab::endpoint {

ReceiveSide::ReceiveSide(HostShared& host)
    : host_(host),
      shares_(host.topology.base_rtt, host.topology.host_rate,
              Bytes{host.topology.pmtu} + kPacketOverhead),
      resources_(host.profile),
      drain_{.host = host.environment.self} {
  apply_drain();
}

void ReceiveSide::count_write(uint32_t sender, Bytes payload, uint32_t live_ports) {
  shares_.arrived(sender, payload + kPacketOverhead, live_ports, host_.now);
}

void ReceiveSide::put_penalty(uint32_t sender, Seth& seth) {
  advance();
  const uint8_t of_share = host_.profile.receive_shares ? shares_.penalty(sender) : 0;
  seth.receiver_penalty =
      host_.profile.buffer_penalty ? resources_.buffer.penalty(of_share) : of_share;
  seth.restore_cwnd = seth.receiver_penalty > 0 && resources_.buffer.asks_to_restore();
}

bool ReceiveSide::set_drain(const HostDrain& drain) {
  if (drain_ == drain) return false;
  drain_ = drain;
  advance();
  apply_drain();
  return true;
}

/// The lower one of what the NIC has as built and what a fault leaves.
void ReceiveSide::apply_drain() {
  BitRate rate = host_.profile.receive_rate;
  const bool slow = drain_.kind == DrainKind::kSlow;
  if (slow && (rate.bps == 0 || drain_.rate < rate)) rate = drain_.rate;
  resources_.buffer.set_rate(rate);
  resources_.buffer.set_stalled(drain_.kind == DrainKind::kStalled);
  shares_.set_drain(rate);
}

void ReceiveSide::wait_for_memory(Qpn qp, uint32_t port) {
  memory_waiters_.push({resources_.buffer.taken(), qp, port});
}

std::optional<MemoryWaiter> ReceiveSide::next_in_memory() {
  if (memory_waiters_.empty()) return std::nullopt;
  if (memory_waiters_.front().taken > resources_.buffer.in_memory()) return std::nullopt;
  return memory_waiters_.pop();
}

void ReceiveSide::on_memory_timer() {
  if (host_.now >= memory_timer_) memory_timer_ = FabricTime::never();
  advance();
}

void ReceiveSide::set_timer_of_first_waiter() {
  const FabricTime at =
      std::max(resources_.buffer.in_memory_at(memory_waiters_.front().taken), host_.now);
  if (at == FabricTime::never() || at >= memory_timer_) return;
  memory_timer_ = at;
  host_.events.push(at, EventClass::kTimer, 0, {HostEventKind::kInMemory, 0, 0});
}

void ReceiveSide::power_off() {
  resources_ = ReceiveResources(host_.profile);
  advance();
  apply_drain();
  while (!memory_waiters_.empty()) memory_waiters_.pop();
  memory_timer_ = FabricTime::never();
}

}  // namespace mrclab::endpoint
