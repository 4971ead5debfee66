#pragma once
// Work requests on their way into the work ring: checked against the queue pair, and as records.

#include "verbs/client/objects.h"
#include "verbs/client/work_writer.h"

namespace mrclab::verbs {

/// One request of a send queue: the head of its record, and a scatter list or data to be copied (IBV_SEND_INLINE). The
/// pieces are kMaxSges at most.
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
/// Takes a place and writes the record; with the send_mutex held. 0; ENOMEM: the queue is full; EIO.
int write_send(Qp& qp, SendRequest& request);
/// With another opcode of its completion than the request's own.
int write_send_as(Qp& qp, SendRequest& request, uint32_t completion);
/// The same for a SEND that is emulated, and counting what that has to count: what every post ends with.
int submit_send(Qp& qp, SendRequest& request);
/// A request that is to be sent now needs a queue pair in RTS, or in an error (it is flushed).
int check_state(const Qp& qp, bool receive);

}  // namespace mrclab::verbs
