#pragma once
// The writer's side of the work ring, which all queues of the process share.

#include "verbs/client/link.h"

namespace mrclab::verbs {

/// A piece of what follows the head of a record.
struct Piece {
  const void* data;
  uint32_t bytes;
};

/// Completes the head (`bytes`, and `at_ps` in mode kHeld, where it costs cost_post_ps) and writes the record. A full ring
/// waits for the server to take what is in it. 0; EIO: the server is gone, or its side of the ring cannot be right.
int write_work(WorkRecord& head, const Piece* pieces, uint32_t count);

}  // namespace mrclab::verbs
