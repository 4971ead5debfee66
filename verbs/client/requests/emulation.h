#pragma once
// SENDs on a fabric that has none: MRCLAB_VERBS_SEND=emulated at both ends, on devices that have RDMA WRITE alone. A SEND
// becomes a Write with Immediate into a hidden ring of the peer's, and takes a receive there as a SEND would; when that
// completes, the library copies the message from the ring to the receive's list. It is a help for programs that send
// little (gloo: 48 bytes for each buffer), not a transport: what is measured of it measures this library.
//
//   ring of a queue pair, registered at iova 0:   credit | slot 0 | slot 1 | ...      staging of the same size behind it
//
// - The key of the ring is the immediate of the first message in each direction, a Write with Immediate of no bytes at
//   RTS. It takes a receive that the library posts at INIT, ahead of the program's.
// - A slot's head says which in the order of all immediates of its queue pair it is; by that a SEND is told from a
//   program's own Write with Immediate.
// - The receiver writes how many slots are free again into `credit` of the sender's ring.
// - Limits: kPayload bytes a message, kSlots under way; shared receive queues have none; a queue pair that only receives
//   has to reach RTS as well, or its peer gets neither key nor credit (ib_send_bw without -b stops at RTR).
// - The first message goes at RTS, as programs that wait for events do nothing later by which it could: the peer has to
//   reach RTR before the transport gives up. With fabric time slower than this machine's that is never close.

#include "verbs/client/objects.h"

namespace mrclab::verbs {

inline constexpr uint32_t kSlots = 64;
inline constexpr uint32_t kPayload = 64 * 1024;

struct SlotHead {
  uint64_t order;  ///< of this message among all with an immediate, from 1
  uint32_t bytes;
  uint32_t immediate;
  uint32_t has_immediate, reserved[3];
};
struct Slot {
  SlotHead head;
  uint8_t data[kPayload];
};
struct Ring {
  /// How many slots of its own ring the peer has emptied; the peer writes it.
  alignas(64) volatile uint64_t credit;
  alignas(64) Slot slots[kSlots];
};
/// Of a queue pair; the ring is what the peer writes, at offset 0 of the region.
struct Memory {
  Ring ring;
  Slot staging[kSlots];
};

struct Emulation {
  Mutex mutex;  ///< after those of queues, before the work ring's
  Memory* memory;
  uint32_t region, key;
  std::atomic<uint32_t> peer_key;
  uint64_t sent, consumed, told;        ///< slots
  uint64_t order_sent, order_received;  ///< messages with an immediate
  ibv_sge* lists;                       ///< of receives, by their places
  uint32_t* list_lengths;
};

/// Whether the program asked for it and the device needs it.
bool sends_are_emulated();
/// What the program's own queues leave room for in the server: its keys and credits.
inline constexpr uint32_t kHiddenSends = 8;
inline constexpr uint32_t kHiddenReceives = 1;

/// For a queue pair without a shared receive queue. 0 or an errno.
int start_emulation(Qp& qp);
void end_emulation(Qp& qp);
/// After the queue pair was modified to this state: keys are exchanged.
void follow_state(Qp& qp, ibv_qp_state next);

/// Before a receive takes its place, with the recv_mutex held: where its message will go.
void note_receive(Qp& qp, const ibv_recv_wr& wr);

/// A completion of the queue pair, with the completion queue's mutex held. False: it is of the emulation's own, and the
/// program does not see it; no place is freed. Else it is as a SEND's would be.
bool translate(Qp& qp, CompletionEntry& entry);

}  // namespace mrclab::verbs
