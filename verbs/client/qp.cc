// Queue pairs: made, modified, queried and destroyed.

#include <stdlib.h>
#include <string.h>

#include "verbs/client/operations.h"
#include "verbs/client/poll.h"
#include "verbs/client/qp_change.h"
#include "verbs/client/qp_rules.h"
#include "verbs/client/registry.h"
#include "verbs/client/requests/emulation.h"
#include "verbs/client/requests/places.h"

namespace mrclab::verbs {
namespace {

constexpr uint64_t kSendOps = IBV_QP_EX_WITH_SEND | IBV_QP_EX_WITH_SEND_WITH_IMM;
constexpr uint64_t kWriteOps = IBV_QP_EX_WITH_RDMA_WRITE | IBV_QP_EX_WITH_RDMA_WRITE_WITH_IMM;
constexpr uint64_t kAtomicOps =
    IBV_QP_EX_WITH_ATOMIC_CMP_AND_SWP | IBV_QP_EX_WITH_ATOMIC_FETCH_AND_ADD;

uint64_t possible_ops() {
  const uint32_t can = link_data().hello->capabilities;
  return ((can & kCanWrite) != 0 ? kWriteOps : 0) |
         ((can & kCanSend) != 0 || sends_are_emulated() ? kSendOps : 0) |
         ((can & kCanRead) != 0 ? uint64_t{IBV_QP_EX_WITH_RDMA_READ} : 0) |
         ((can & kCanAtomic) != 0 ? kAtomicOps : 0);
}

int check_attributes(const ibv_qp_init_attr_ex& at) {
  constexpr uint32_t kKnown =
      IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS | IBV_QP_INIT_ATTR_CREATE_FLAGS;
  if ((at.comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || at.pd == nullptr || !intact(*object_of(at.pd))) {
    return (at.comp_mask & IBV_QP_INIT_ATTR_PD) == 0 ? EINVAL : ENOENT;
  }
  if (at.qp_type != IBV_QPT_RC || (at.comp_mask & ~kKnown) != 0 ||
      ((at.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && at.create_flags != 0)) {
    return EOPNOTSUPP;
  }
  if ((at.comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0 &&
      (at.send_ops_flags & ~possible_ops()) != 0) {
    return EOPNOTSUPP;
  }
  if (at.send_cq == nullptr || at.recv_cq == nullptr) {
    return EINVAL;
  }
  if (!intact(*object_of(at.send_cq)) || !intact(*object_of(at.recv_cq)) ||
      (at.srq != nullptr && !intact(*object_of(at.srq)))) {
    return ENOENT;
  }
  const HelloReply& hello = *link_data().hello;
  const ibv_qp_cap& cap = at.cap;
  return cap.max_send_wr > hello.max_wr || cap.max_recv_wr > hello.max_wr ||
                 cap.max_send_sge > hello.max_sge || cap.max_recv_sge > hello.max_sge ||
                 cap.max_inline_data > hello.max_inline
             ? EINVAL
             : 0;
}

/// What the server grants is at least what was asked for, and within what it said it has.
bool is_right(const QpReply& reply, const QpRequest& wanted) {
  const HelloReply& hello = *link_data().hello;
  const auto within = [](uint32_t least, uint32_t value, uint32_t most) {
    return least <= value && value <= most;
  };
  return within(wanted.max_send_wr, reply.max_send_wr, hello.max_wr) &&
         within(wanted.max_recv_wr, reply.max_recv_wr, hello.max_wr) &&
         within(wanted.max_send_sge, reply.max_send_sge, kMaxSges) &&
         within(wanted.max_recv_sge, reply.max_recv_sge, kMaxSges) &&
         within(wanted.max_inline, reply.max_inline, kMaxInline) && reply.qpn <= 0xFFFFFF;
}

int create_in_server(Qp& qp, const ibv_qp_init_attr_ex& at) {
  QpRequest request{};
  request.send_cq = qp.send_cq->entry.handle;
  request.recv_cq = qp.recv_cq->entry.handle;
  request.srq = qp.srq != nullptr ? qp.srq->entry.handle : 0;
  request.domain = qp.pd->domain;
  // The emulation's own requests are beside the program's.
  const bool emulated = sends_are_emulated() && qp.srq == nullptr;
  const uint32_t most = link_data().hello->max_wr;
  const uint32_t hidden_sends = emulated ? kHiddenSends : 0;
  const uint32_t hidden_receives = emulated ? kHiddenReceives : 0;
  if (at.cap.max_send_wr + hidden_sends > most || at.cap.max_recv_wr + hidden_receives > most) {
    return EINVAL;
  }
  request.max_send_wr = at.cap.max_send_wr + hidden_sends;
  request.max_recv_wr = at.cap.max_recv_wr + hidden_receives;
  request.max_send_sge = emulated && at.cap.max_send_sge == 0 ? 1 : at.cap.max_send_sge;
  request.max_recv_sge = at.cap.max_recv_sge;
  request.max_inline = emulated && at.cap.max_inline_data < 8 ? 8 : at.cap.max_inline_data;
  // The program's requests carry the flag themselves (write_send); the emulation's own complete silently.
  request.signal_all = qp.signal_all && !emulated ? 1 : 0;
  request.transport = link_data().hello->transport;
  QpReply reply{};
  const int error = ask(Op::kCreateQp, request, &reply);
  if (error != 0) {
    return error;
  }
  qp.entry.handle = reply.handle;
  qp.qpn = reply.qpn;
  qp.max_send_wr = reply.max_send_wr - hidden_sends;
  qp.max_recv_wr = qp.srq != nullptr ? 0 : reply.max_recv_wr - hidden_receives;
  qp.max_send_sge = reply.max_send_sge;
  qp.max_recv_sge = reply.max_recv_sge;
  qp.max_inline = reply.max_inline;
  const bool right = is_right(reply, request);
  const bool has_memory = right && make_places(qp.sends, qp.max_send_wr) &&
                          make_places(qp.receives, qp.max_recv_wr) && fill_builder(qp);
  const int refused = !right ? EPROTO : !has_memory ? ENOMEM : emulated ? start_emulation(qp) : 0;
  if (refused != 0) {
    const HandleRequest undo{reply.handle, 0};
    tell(Op::kDestroyQp, undo);
    end_emulation(qp);
    drop_builder(qp);
    free_places(qp.sends);
    free_places(qp.receives);
    return refused;
  }
  return 0;
}

void fill_public_part(Qp& qp, ibv_qp_init_attr_ex& at) {
  ibv_qp& base = qp.base.qp_base;
  base.context = qp.context;
  base.qp_context = at.qp_context;
  base.pd = at.pd;
  base.send_cq = at.send_cq;
  base.recv_cq = at.recv_cq;
  base.srq = at.srq;
  base.handle = qp.entry.handle;
  base.qp_num = qp.qpn;
  base.state = IBV_QPS_RESET;
  base.qp_type = IBV_QPT_RC;
  pthread_mutex_init(&base.mutex, nullptr);
  pthread_cond_init(&base.cond, nullptr);
  at.cap =
      ibv_qp_cap{qp.max_send_wr, qp.max_recv_wr, qp.max_send_sge, qp.max_recv_sge, qp.max_inline};
  qp.attributes.cap = at.cap;
}

int modify_in_server(Qp& qp, const ibv_qp_attr& at, int mask, const QpAttributesWire* mrc,
                     uint32_t mrc_mask) {
  ModifyRequest request{};
  if (mrc != nullptr) {
    request.attributes = *mrc;
    request.mrc_mask = mrc_mask;
  }
  request.handle = qp.base.qp_base.handle;
  request.mask = static_cast<uint32_t>(mask);
  QpAttributesWire& wire = request.attributes;
  wire.state = (mask & IBV_QP_STATE) != 0 ? static_cast<uint32_t>(at.qp_state) : qp.state.load();
  // The peer writes the ring of emulated SENDs, whatever the program allows it for its own regions.
  wire.access =
      (at.qp_access_flags & 0xF) | (qp.emulation != nullptr ? uint32_t{kRemoteWrite} : 0u);
  memcpy(wire.remote_gid, at.ah_attr.grh.dgid.raw, sizeof(wire.remote_gid));
  if ((mask & IBV_QP_AV) != 0 && at.ah_attr.is_global == 0) {
    memcpy(wire.remote_gid, link_data().hello->gid, 2);  // fd00::, the first host (qp_rules.cc)
  }
  wire.remote_qpn = at.dest_qp_num;
  wire.rq_psn = at.rq_psn;
  wire.sq_psn = at.sq_psn;
  wire.path_mtu = at.path_mtu;
  wire.timeout = at.timeout;
  wire.retry_cnt = at.retry_cnt;
  wire.rnr_retry = at.rnr_retry;
  wire.min_rnr_timer = at.min_rnr_timer;
  wire.max_rd_atomic = at.max_rd_atomic;
  wire.max_dest_rd_atomic = at.max_dest_rd_atomic;
  wire.sgid_index = at.ah_attr.grh.sgid_index;
  return tell(Op::kModifyQp, request);
}

}  // namespace

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* at) {
  const int refused = check_attributes(*at);
  if (refused != 0) {
    return failed_with<ibv_qp>(refused);
  }
  Qp* qp = make<Qp>();
  if (qp == nullptr) {
    return failed_with<ibv_qp>(ENOMEM);
  }
  qp->context = context;
  qp->pd = object_of(at->pd);
  qp->send_cq = object_of(at->send_cq);
  qp->recv_cq = object_of(at->recv_cq);
  qp->srq = at->srq != nullptr ? object_of(at->srq) : nullptr;
  qp->signal_all = at->sq_sig_all != 0;
  qp->extended = (at->comp_mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0;
  qp->send_ops = qp->extended ? at->send_ops_flags : 0;
  const int error = create_in_server(*qp, *at);
  if (error != 0) {
    delete qp;
    return failed_with<ibv_qp>(error);
  }
  fill_public_part(*qp, *at);
  join(*qp->send_cq, *qp);
  if (qp->recv_cq != qp->send_cq) {
    join(*qp->recv_cq, *qp);
  }
  ++qp->pd->users;
  ++qp->send_cq->users;
  ++qp->recv_cq->users;
  if (qp->srq != nullptr) {
    ++qp->srq->users;
  }
  enter(qp->entry, qp, Kind::kQp, qp->entry.handle);
  hold(context);
  return &qp->base.qp_base;
}

int change_qp(Qp& qp, const ibv_qp_attr& at, int mask, const QpAttributesWire* mrc,
              uint32_t mrc_mask) {
  const int error = modify_in_server(qp, at, mask, mrc, mrc_mask);
  if (error != 0) {
    return error;
  }
  merge(qp.attributes, at, mask);
  if ((mask & IBV_QP_STATE) != 0) {
    qp.state.store(at.qp_state);
    qp.base.qp_base.state = at.qp_state;
    if (at.qp_state == IBV_QPS_RESET) {
      forget_completions(*qp.send_cq, qp.qpn);
      forget_completions(*qp.recv_cq, qp.qpn);
      clear_places(qp);
    }
    if (qp.emulation != nullptr) {
      follow_state(qp, at.qp_state);
    }
  }
  return 0;
}

int read_qp(const Qp& qp, QpAttributesWire& attributes) {
  const HandleRequest request{qp.base.qp_base.handle, 0};
  QueryReply reply{};
  const int error = ask(Op::kQueryQp, request, &reply);
  attributes = reply.attributes;
  return error == 0 && attributes.state > IBV_QPS_ERR ? EPROTO : error;
}

}  // namespace mrclab::verbs

using namespace mrclab::verbs;

extern "C" {

ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* init) {
  ibv_qp_init_attr_ex at{};
  at.qp_context = init->qp_context;
  at.send_cq = init->send_cq;
  at.recv_cq = init->recv_cq;
  at.srq = init->srq;
  at.cap = init->cap;
  at.qp_type = init->qp_type;
  at.sq_sig_all = init->sq_sig_all;
  at.comp_mask = IBV_QP_INIT_ATTR_PD;
  at.pd = pd;
  ibv_qp* qp = create_qp_ex(pd->context, &at);
  if (qp != nullptr) {
    init->cap = at.cap;
  }
  return qp;
}

ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  return object_of(qp)->extended ? &object_of(qp)->base : nullptr;
}

int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask) {
  Qp& own = *object_of(qp);
  if (!intact(own)) {
    return failed(ENOENT);
  }
  const auto current = static_cast<ibv_qp_state>(own.state.load());
  const ibv_qp_state next = (attr_mask & IBV_QP_STATE) != 0 ? attr->qp_state : current;
  const bool believed = (attr_mask & IBV_QP_CUR_STATE) == 0 || attr->cur_qp_state == current;
  if (!believed || !is_allowed(current, next, attr_mask) || !has_right_values(*attr, attr_mask)) {
    return failed(EINVAL);
  }
  return result(change_qp(own, *attr, attr_mask, nullptr, 0));
}

int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int, ibv_qp_init_attr* init_attr) {
  Qp& own = *object_of(qp);
  if (!intact(own)) {
    return failed(ENOENT);
  }
  QpAttributesWire wire{};
  const int error = read_qp(own, wire);
  if (error != 0) {
    return failed(error);
  }
  // The state changes by itself; everything else is what was set.
  *attr = own.attributes;
  attr->qp_state = static_cast<ibv_qp_state>(wire.state);
  attr->cur_qp_state = attr->qp_state;
  own.state.store(wire.state);
  qp->state = attr->qp_state;
  *init_attr = ibv_qp_init_attr{};
  init_attr->qp_context = qp->qp_context;
  init_attr->send_cq = qp->send_cq;
  init_attr->recv_cq = qp->recv_cq;
  init_attr->srq = qp->srq;
  init_attr->cap = own.attributes.cap;
  init_attr->qp_type = qp->qp_type;
  init_attr->sq_sig_all = own.signal_all ? 1 : 0;
  return 0;
}

int ibv_query_qp_data_in_order(ibv_qp*, enum ibv_wr_opcode, uint32_t) {
  return 0;  // packets take several planes: only the completion says that all has arrived
}

int ibv_destroy_qp(ibv_qp* qp) {
  Qp* own = object_of(qp);
  if (!intact(*own)) {
    return failed(ENOENT);
  }
  const HandleRequest request{own->entry.handle, 0};
  const int error = tell(Op::kDestroyQp, request);
  if (error != 0 && error != EIO) {
    return failed(error);
  }
  forget_completions(*own->send_cq, own->qpn);
  forget_completions(*own->recv_cq, own->qpn);
  part(*own->send_cq, *own);
  if (own->recv_cq != own->send_cq) {
    part(*own->recv_cq, *own);
  }
  leave(own->entry);
  pthread_mutex_lock(&qp->mutex);
  while (qp->events_completed != own->entry.async_events) {
    pthread_cond_wait(&qp->cond, &qp->mutex);
  }
  pthread_mutex_unlock(&qp->mutex);
  --own->pd->users;
  --own->send_cq->users;
  --own->recv_cq->users;
  if (own->srq != nullptr) {
    --own->srq->users;
  }
  end_emulation(*own);
  drop_builder(*own);
  free_places(own->sends);
  free_places(own->receives);
  drop(own->context);
  delete own;
  return 0;
}

MRCLAB_LATEST(ibv_create_qp);
MRCLAB_LATEST(ibv_destroy_qp);
MRCLAB_LATEST(ibv_modify_qp);
MRCLAB_LATEST(ibv_query_qp);

}  // extern "C"
