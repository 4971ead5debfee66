#include "verbs/client/requests/send_request.h"

#include <stddef.h>
#include <stdio.h>

#include "verbs/client/requests/emulation.h"
#include "verbs/client/requests/places.h"

namespace mrclab::verbs {
namespace {

static_assert(sizeof(ibv_sge) == sizeof(WorkSge) &&
              offsetof(ibv_sge, length) == offsetof(WorkSge, length) &&
              offsetof(ibv_sge, lkey) == offsetof(WorkSge, lkey));

void report_refused_send() {
  static std::atomic<bool> reported{false};
  if (!reported.exchange(true)) {
    fprintf(
        stderr,
        "%s: no SEND: MRC has RDMA WRITE alone, with or without an immediate; fabrics of RoCE ('profile: roce') have SENDs, and "
        "MRCLAB_VERBS_SEND=emulated (at both ends) sends them as writes into a hidden ring\n",
        link_data().hello->device);
  }
}

}  // namespace

int check_opcode(uint32_t opcode) {
  const uint32_t can = link_data().hello->capabilities;
  const auto need = [can](uint32_t capability) { return (can & capability) != 0 ? 0 : EOPNOTSUPP; };
  switch (opcode) {
    case IBV_WR_RDMA_WRITE:
    case IBV_WR_RDMA_WRITE_WITH_IMM: return need(kCanWrite);
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM:
      if (sends_are_emulated()) {
        return 0;
      }
      if ((can & kCanSend) == 0) {
        report_refused_send();
      }
      return need(kCanSend);
    case IBV_WR_RDMA_READ: return need(kCanRead);
    case IBV_WR_ATOMIC_CMP_AND_SWP:
    case IBV_WR_ATOMIC_FETCH_AND_ADD: return need(kCanAtomic);
    case IBV_WR_LOCAL_INV:
    case IBV_WR_BIND_MW:
    case IBV_WR_SEND_WITH_INV:
    case IBV_WR_TSO:
    case IBV_WR_ATOMIC_WRITE: return EOPNOTSUPP;
    default: return EINVAL;
  }
}

uint32_t completion_opcode(uint32_t opcode) {
  switch (opcode) {
    case IBV_WR_SEND:
    case IBV_WR_SEND_WITH_IMM: return IBV_WC_SEND;
    case IBV_WR_RDMA_READ: return IBV_WC_RDMA_READ;
    case IBV_WR_ATOMIC_CMP_AND_SWP: return IBV_WC_COMP_SWAP;
    case IBV_WR_ATOMIC_FETCH_AND_ADD: return IBV_WC_FETCH_ADD;
    default: return IBV_WC_RDMA_WRITE;
  }
}

void set_list(SendRequest& request, const ibv_sge* list, uint32_t count) {
  request.head.sges = static_cast<uint16_t>(count);
  request.pieces[0] = Piece{list, count * static_cast<uint32_t>(sizeof(WorkSge))};
  request.count = 1;
}

int check_state(const Qp& qp, bool receive) {
  switch (qp.state.load()) {
    case IBV_QPS_RESET: return EINVAL;
    case IBV_QPS_INIT:
    case IBV_QPS_RTR: return receive ? 0 : EINVAL;
    default: return 0;
  }
}

int write_send(Qp& qp, SendRequest& request, uint32_t completion) {
  WorkRecord& head = request.head;
  if (qp.signal_all) {
    head.flags |= IBV_SEND_SIGNALED;
  }
  const Places::Place place{head.wr_id, completion, (head.flags & IBV_SEND_SIGNALED) != 0};
  if (!take_place(qp, qp.sends, place)) {
    return ENOMEM;
  }
  head.kind = static_cast<uint16_t>(WorkKind::kSend);
  head.handle = qp.entry.handle;
  const int error = write_work(head, request.pieces, request.count);
  if (error != 0) {
    return_place(qp, qp.sends);
  }
  return error;
}

}  // namespace mrclab::verbs
