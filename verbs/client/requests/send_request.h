#pragma once
// A request of a send queue on its way into the work ring: checked against the device, and as a record.

#include "verbs/client/objects.h"
#include "verbs/client/requests/work_writer.h"

namespace mrclab::verbs {

/// The head of its record, and a scatter list or data to be copied (IBV_SEND_INLINE). The pieces are kMaxSges at most.
struct SendRequest {
  WorkRecord head;
  Piece pieces[kMaxSges];
  uint32_t count;
};

/// Whether the device has this opcode: 0, EINVAL or EOPNOTSUPP; the first SEND that is refused writes a line to stderr.
int check_opcode(uint32_t opcode);
/// Of the record's completion.
uint32_t completion_opcode(uint32_t opcode);
/// Of a scatter list; ibv_sge and WorkSge are the same bytes.
void set_list(SendRequest& request, const ibv_sge* list, uint32_t count);
/// A request that is to be sent now needs a queue pair in RTS, or in an error (it is flushed).
int check_state(const Qp& qp, bool receive);
/// Takes a place and writes the record; with the send_mutex held. `completion` is the opcode of its completion.
/// 0; ENOMEM: the queue is full; EIO.
int write_send(Qp& qp, SendRequest& request, uint32_t completion);

}  // namespace mrclab::verbs
