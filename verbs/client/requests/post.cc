#include "verbs/client/requests/post.h"

#include <string.h>

#include "verbs/client/operations.h"
#include "verbs/client/requests/emulated_send.h"
#include "verbs/client/requests/emulation.h"
#include "verbs/client/requests/places.h"

namespace mrclab::verbs {
namespace {

constexpr unsigned kSendFlags =
    IBV_SEND_FENCE | IBV_SEND_SIGNALED | IBV_SEND_SOLICITED | IBV_SEND_INLINE;

/// The list as it is, or the data that it names, copied now.
int set_data(SendRequest& request, const Qp& qp, const ibv_send_wr& wr) {
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > qp.max_send_sge) {
    return EINVAL;
  }
  const auto count = static_cast<uint32_t>(wr.num_sge);
  if ((wr.send_flags & IBV_SEND_INLINE) == 0) {
    set_list(request, wr.sg_list, count);
    return 0;
  }
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    const ibv_sge& sge = wr.sg_list[i];
    bytes += sge.length;
    if (bytes > qp.max_inline) {
      return EINVAL;
    }
    request.pieces[request.count++] = Piece{reinterpret_cast<const void*>(sge.addr), sge.length};
  }
  request.head.inline_bytes = static_cast<uint16_t>(bytes);
  return 0;
}

int make_send(SendRequest& request, const Qp& qp, const ibv_send_wr& wr) {
  const int refused = check_opcode(wr.opcode);
  if (refused != 0) {
    return refused;
  }
  if ((wr.send_flags & ~kSendFlags) != 0) {
    return EINVAL;
  }
  WorkRecord& head = request.head;
  head.wr_id = wr.wr_id;
  head.opcode = static_cast<uint16_t>(wr.opcode);
  head.flags = wr.send_flags;
  switch (wr.opcode) {
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD:
      if ((wr.send_flags & IBV_SEND_INLINE) != 0) {
        return EINVAL;  // the list is where the old value goes
      }
      head.remote_address = wr.wr.atomic.remote_addr;
      head.compare_add = wr.wr.atomic.compare_add;
      head.swap = wr.wr.atomic.swap;
      head.rkey = wr.wr.atomic.rkey;
      break;
    case IBV_WR_RDMA_READ:
      if ((wr.send_flags & IBV_SEND_INLINE) != 0) {
        return EINVAL;
      }
      [[fallthrough]];
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM:
      head.remote_address = wr.wr.rdma.remote_addr;
      head.rkey = wr.wr.rdma.rkey;
      break;
    default: break;
  }
  if (wr.opcode == IBV_WR_RDMA_WRITE_WITH_IMM || wr.opcode == IBV_WR_SEND_WITH_IMM) {
    head.immediate = wr.imm_data;
  }
  return set_data(request, qp, wr);
}

int post_one_receive(Qp& qp, const ibv_recv_wr& wr) {
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > qp.max_recv_sge) {
    return EINVAL;
  }
  if (qp.emulation != nullptr && has_places(qp, qp.receives, 1)) {
    note_receive(qp, wr);
  }
  if (!take_place(qp, qp.receives, Places::Place{wr.wr_id, IBV_WC_RECV, true})) {
    return ENOMEM;
  }
  WorkRecord head{};
  head.kind = static_cast<uint16_t>(WorkKind::kReceive);
  head.wr_id = wr.wr_id;
  head.handle = qp.entry.handle;
  head.sges = static_cast<uint16_t>(wr.num_sge);
  const Piece list{wr.sg_list, head.sges * static_cast<uint32_t>(sizeof(WorkSge))};
  const int error = write_work(head, &list, 1);
  if (error != 0) {
    return_place(qp, qp.receives);
  }
  return error;
}

int post_one_shared(Srq& srq, const ibv_recv_wr& wr) {
  if (wr.num_sge < 0 || static_cast<uint32_t>(wr.num_sge) > srq.max_sge) {
    return EINVAL;
  }
  if (srq.outstanding.load() >= srq.max_wr) {
    return ENOMEM;
  }
  WorkRecord head{};
  head.kind = static_cast<uint16_t>(WorkKind::kSharedReceive);
  head.wr_id = wr.wr_id;
  head.handle = srq.entry.handle;
  head.sges = static_cast<uint16_t>(wr.num_sge);
  const Piece list{wr.sg_list, head.sges * static_cast<uint32_t>(sizeof(WorkSge))};
  ++srq.outstanding;  // before the record: its completion may come at once
  const int error = write_work(head, &list, 1);
  if (error != 0) {
    --srq.outstanding;
  }
  return error;
}

/// Each request of a chain until one is refused, which `bad` then is.
template <typename Request, typename PostOne>
int post_chain(Request* first, Request** bad, PostOne post_one) {
  for (Request* wr = first; wr != nullptr; wr = wr->next) {
    const int error = post_one(*wr);
    if (error != 0) {
      if (bad != nullptr) {
        *bad = wr;
      }
      return failed(error);
    }
  }
  return 0;
}

}  // namespace

int submit_send(Qp& qp, SendRequest& request) {
  const WorkRecord& head = request.head;
  const bool sends = head.opcode == IBV_WR_SEND || head.opcode == IBV_WR_SEND_WITH_IMM;
  if (qp.emulation == nullptr || (!sends && head.opcode != IBV_WR_RDMA_WRITE_WITH_IMM)) {
    return sends && (link_data().hello->capabilities & kCanSend) == 0
               ? EOPNOTSUPP
               : write_send(qp, request, completion_opcode(request.head.opcode));
  }
  if (!sends) {
    const int error = write_send(qp, request, completion_opcode(request.head.opcode));
    if (error == 0) {
      note_immediate(qp);
    }
    return error;
  }
  if ((head.flags & IBV_SEND_INLINE) != 0) {
    return send_emulated(qp, head, request.pieces, request.count);
  }
  // The list's data, which the library copies in the place of the device.
  Piece pieces[kMaxSges];
  const auto* list =
      request.count > 0 ? static_cast<const ibv_sge*>(request.pieces[0].data) : nullptr;
  for (uint32_t i = 0; i < head.sges; ++i) {
    pieces[i] = Piece{reinterpret_cast<const void*>(list[i].addr), list[i].length};
  }
  WorkRecord whole = head;
  whole.sges = 0;
  return send_emulated(qp, whole, pieces, head.sges);
}

int post_send(ibv_qp* qp, ibv_send_wr* requests, ibv_send_wr** bad) {
  Qp& own = *object_of(qp);
  const Guard guard(own.send_mutex);
  return post_chain(requests, bad, [&own](const ibv_send_wr& wr) {
    const int refused = check_state(own, false);
    if (refused != 0) {
      return refused;
    }
    SendRequest request;
    request.head = WorkRecord{};
    request.count = 0;
    const int error = make_send(request, own, wr);
    return error != 0 ? error : submit_send(own, request);
  });
}

int post_receive(ibv_qp* qp, ibv_recv_wr* requests, ibv_recv_wr** bad) {
  Qp& own = *object_of(qp);
  const Guard guard(own.recv_mutex);
  return post_chain(requests, bad, [&own](const ibv_recv_wr& wr) {
    const int refused = own.srq != nullptr ? EINVAL : check_state(own, true);
    return refused != 0 ? refused : post_one_receive(own, wr);
  });
}

int post_shared_receive(ibv_srq* srq, ibv_recv_wr* requests, ibv_recv_wr** bad) {
  Srq& own = *object_of(srq);
  const Guard guard(own.mutex);
  return post_chain(requests, bad,
                    [&own](const ibv_recv_wr& wr) { return post_one_shared(own, wr); });
}

}  // namespace mrclab::verbs
