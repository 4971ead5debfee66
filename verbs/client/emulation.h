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

#include "verbs/client/objects.h"
#include "verbs/client/post.h"

namespace mrclab::verbs {

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

/// A SEND in place of the record; with the send_mutex held. `pieces` is its data. As write_send; EINVAL: too long.
int send_emulated(Qp& qp, const WorkRecord& head, const Piece* pieces, uint32_t count);
/// The program's own immediates are counted: after a Write with Immediate was written, with the send_mutex held.
void note_immediate(Qp& qp);
/// Before a receive takes its place, with the recv_mutex held: where its message will go.
void note_receive(Qp& qp, const ibv_recv_wr& wr);

/// A completion of the queue pair, with the completion queue's mutex held. False: it is of the emulation's own, and the
/// program does not see it; no place is freed. Else it is as a SEND's would be.
bool translate(Qp& qp, CompletionEntry& entry);

}  // namespace mrclab::verbs
