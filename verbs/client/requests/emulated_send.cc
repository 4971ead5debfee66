#include "verbs/client/requests/emulated_send.h"

#include <stdio.h>
#include <string.h>

#include "verbs/client/poll.h"
#include "verbs/client/requests/emulation.h"
#include "verbs/client/requests/places.h"

namespace mrclab::verbs {
namespace {

/// How long a SEND waits for the peer's key and for free slots: looks, each of at most 250 us in wall time.
constexpr uint32_t kPatience = 40'000;

bool is_ready(const Emulation& own) {
  return own.peer_key.load() != 0 && own.sent - own.memory->ring.credit < kSlots;
}

/// Until the peer's key and a slot are there. What completes meanwhile is kept for the program.
int wait_until_ready(Qp& qp) {
  Emulation& own = *qp.emulation;
  for (uint32_t tries = 0; !is_ready(own); ++tries) {
    if (server_gone(tries % 64 == 63)) {
      return EIO;
    }
    if (tries == kPatience || qp.state.load() != IBV_QPS_RTS) {
      if (own.peer_key.load() == 0) {
        fprintf(stderr,
                "%s: the peer's queue pair has sent no key for emulated SENDs: it needs "
                "MRCLAB_VERBS_SEND=emulated as well, and has to reach RTS\n",
                link_data().hello->device);
      }
      return ENOMEM;  // as a full queue: what has no peer does not drain
    }
    stash_completions(*qp.recv_cq);
    if (!is_ready(own)) {
      wait_for_peer(*qp.recv_cq, tries);
    }
  }
  return 0;
}

}  // namespace

int send_emulated(Qp& qp, const WorkRecord& head, const Piece* pieces, uint32_t count) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    bytes += pieces[i].bytes;
  }
  if (bytes > kPayload) {
    fprintf(stderr, "%s: an emulated SEND has at most %u bytes, not %llu\n",
            link_data().hello->device, kPayload, static_cast<unsigned long long>(bytes));
    return EINVAL;
  }
  if (!has_places(qp, qp.sends, 1)) {
    return ENOMEM;
  }
  Emulation& own = *qp.emulation;
  if (qp.state.load() == IBV_QPS_RTS) {
    const int error = wait_until_ready(qp);
    if (error != 0) {
      return error;
    }
  }
  const Guard guard(own.mutex);
  const uint64_t number = own.sent % kSlots;
  Slot& slot = own.memory->staging[number];
  slot.head = SlotHead{own.order_sent + 1,
                       static_cast<uint32_t>(bytes),
                       head.immediate,
                       head.opcode == IBV_WR_SEND_WITH_IMM ? 1u : 0u,
                       {}};
  uint8_t* at = slot.data;
  for (uint32_t i = 0; i < count; ++i) {
    if (pieces[i].bytes > 0) {
      memcpy(at, pieces[i].data, pieces[i].bytes);
    }
    at += pieces[i].bytes;
  }
  const ibv_sge list{offsetof(Memory, staging) + number * sizeof(Slot),
                     static_cast<uint32_t>(sizeof(SlotHead) + bytes), own.key};
  SendRequest request;
  request.head = head;
  request.head.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  request.head.flags &= ~static_cast<uint32_t>(IBV_SEND_INLINE);
  request.head.inline_bytes = 0;
  request.head.rkey = own.peer_key.load();
  request.head.remote_address = offsetof(Ring, slots) + number * sizeof(Slot);
  set_list(request, &list, 1);
  const int error = write_send(qp, request, IBV_WC_SEND);
  if (error == 0) {
    ++own.sent;
    ++own.order_sent;
  }
  return error;
}

void note_immediate(Qp& qp) {
  const Guard guard(qp.emulation->mutex);
  ++qp.emulation->order_sent;
}

}  // namespace mrclab::verbs
