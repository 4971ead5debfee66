#pragma once
// What every post of a send ends with, be it a chain of ibv_post_send or a batch of ibv_wr_*.

#include "verbs/client/requests/send_request.h"

namespace mrclab::verbs {

/// Writes the request as it is, or emulated where it is a SEND on a device without; with the send_mutex held. 0;
/// ENOMEM: the queue is full; EOPNOTSUPP; EIO.
int submit_send(Qp& qp, SendRequest& request);

}  // namespace mrclab::verbs
