#pragma once
// A completion queue's reader: which queue pairs complete into it, and their entries as the program sees them.

#include "verbs/client/objects.h"

namespace mrclab::verbs {

/// The queue pair's completions come to this queue, or no longer. Neither queue's mutex is held.
void join(Cq& cq, Qp& qp);
void part(Cq& cq, Qp& qp);
/// What has not been polled yet of a queue pair that was reset or destroyed is never seen (as with the providers of
/// rdma-core). The mutex is not held.
void forget_completions(Cq& cq, uint32_t qpn);
/// Moves what the ring has to the queue's stash, from where the program polls it first; nothing where the queue is being
/// polled just now.
void stash_completions(Cq& cq);
/// A moment for the peer, as after the `tries`-th empty poll.
void wait_for_peer(Cq& cq, uint32_t tries);
void to_work_completion(const CompletionEntry& entry, ibv_wc& wc);

}  // namespace mrclab::verbs
