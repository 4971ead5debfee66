#pragma once
// The connection of this process to the host's side: a SOCK_SEQPACKET socket of the machine's file system.

#include <cstddef>
#include <cstdint>

namespace mrclab::verbs::held {

/// Connects to `path`; the descriptor, or a negative errno. Blocks while the server has not come so far as to listen.
int connect_link(const char* path);
/// Sends `size` bytes whose first `head_size` stand at `head` and the rest at `rest`, with `descriptor` unless it is
/// negative. 0 or an errno.
int send_message(int link, const void* head, size_t head_size, const void* rest, size_t rest_size,
                 int descriptor);
/// Receives one message: its size, or a negative errno (-EPIPE: the other end is gone, -EMSGSIZE: it is longer than
/// `room`). `descriptors` has kMaxDescriptors places; those that are not used become -1. Null: all are closed.
long receive_message(int link, void* buffer, size_t room, int* descriptors);

}  // namespace mrclab::verbs::held
