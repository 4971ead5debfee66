#pragma once
// The sender's side of emulated SENDs (emulation.h).

#include "verbs/client/requests/send_request.h"

namespace mrclab::verbs {

/// A SEND in place of the record; with the send_mutex held. `pieces` is its data. As write_send; EINVAL: too long.
int send_emulated(Qp& qp, const WorkRecord& head, const Piece* pieces, uint32_t count);
/// The program's own immediates are counted: after a Write with Immediate was written, with the send_mutex held.
void note_immediate(Qp& qp);

}  // namespace mrclab::verbs
