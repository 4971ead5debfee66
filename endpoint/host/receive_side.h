#pragma once
// What a host's NIC does for all that it receives: even shares of many senders, the buffer between ports
// and memory, and the messages whose end waits until they are in memory.

#include <cstdint>
#include <optional>

#include "endpoint/host/host_shared.h"
#include "endpoint/queue_pair/receive_shares.h"
#include "endpoint/queue_pair/responder.h"
#include "fabric/base/fifo.h"
#include "fabric/packet/headers.h"

namespace mrclab::endpoint {

/// Whose message ends wait for memory, from which count of bytes on.
struct MemoryWaiter {
  Bytes taken;
  Qpn qp;
  uint32_t port = 0;  ///< where the last packet came in
};

class ReceiveSide {
 public:
  /// `host` outlives it.
  explicit ReceiveSide(HostShared& host);

  /// Buffer and bitmaps that queue pairs share; queue pairs give their bitmaps back before it ends.
  ReceiveResources& resources() { return resources_; }
  const ReceiveResources& resources() const { return resources_; }

  /// Any frame that came in: what fills the ports.
  void count_frame(Bytes wire_length) { shares_.count_frame(wire_length); }
  /// A write of `sender` came in while `live_ports` ports were up.
  void count_write(uint32_t sender, Bytes payload, uint32_t live_ports);
  /// What a SACK asks its sender to give up: for the sake of the others, and of the receive buffer.
  void put_penalty(uint32_t sender, Seth& seth);

  /// A fault makes memory slow, stalls it, or ends that. False if it was so already.
  bool set_drain(const HostDrain& drain);
  /// Brings the buffer up to the present.
  void advance() { resources_.buffer.advance(host_.now); }

  /// All that came in until now has to be in memory before `qp` may report its message ends.
  void wait_for_memory(Qpn qp, uint32_t port);
  /// The next one whose bytes are in memory, in the order of their arrival.
  std::optional<MemoryWaiter> next_in_memory();
  /// The event of the timer has come.
  void on_memory_timer();
  /// One event stands in the queue, as for queue pairs: what comes later is found out when it comes.
  void set_memory_timer() {
    if (!memory_waiters_.empty()) set_timer_of_first_waiter();
  }

  /// The host loses its power: everything that waits is gone; a drain that a fault made stays.
  void power_off();

 private:
  static constexpr size_t kMemoryWaiterLimit = 1 << 24;  ///< packets in the largest buffer
  void apply_drain();
  void set_timer_of_first_waiter();

  HostShared& host_;
  ReceiveShares shares_;
  ReceiveResources resources_;
  HostDrain drain_;  ///< what a fault makes of it
  Fifo<MemoryWaiter> memory_waiters_{kMemoryWaiterLimit};
  FabricTime memory_timer_ = FabricTime::never();  ///< earliest event for them in the queue
};

}  // namespace mrclab::endpoint
