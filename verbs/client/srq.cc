// Shared receive queues.

#include <string.h>

#include "verbs/client/operations.h"
#include "verbs/client/registry.h"

namespace mrclab::verbs {
namespace {

bool has_srqs() { return (link_data().hello->capabilities & kCanSrq) != 0; }

ibv_srq* create_srq(ibv_pd* pd, void* user, ibv_srq_attr& wanted) {
  Pd* domain = object_of(pd);
  const HelloReply& hello = *link_data().hello;
  if (!has_srqs() || !intact(*domain) || wanted.max_wr == 0 || wanted.max_wr > hello.max_wr ||
      wanted.max_sge > hello.max_sge || wanted.srq_limit > wanted.max_wr) {
    return failed_with<ibv_srq>(!has_srqs() ? EOPNOTSUPP : !intact(*domain) ? ENOENT : EINVAL);
  }
  Srq* srq = make<Srq>();
  if (srq == nullptr) {
    return failed_with<ibv_srq>(ENOMEM);
  }
  // The limit is armed by ibv_modify_srq alone (IBTA 10.2.9.1).
  const SrqRequest request{0, wanted.max_wr, wanted.max_sge, 0, 0, domain->domain};
  HandleReply reply{};
  const int error = ask(Op::kCreateSrq, request, &reply);
  if (error != 0) {
    delete srq;
    return failed_with<ibv_srq>(error);
  }
  srq->context = pd->context;
  srq->pd = domain;
  srq->max_wr = wanted.max_wr;
  srq->max_sge = wanted.max_sge;
  srq->base.context = pd->context;
  srq->base.srq_context = user;
  srq->base.pd = pd;
  srq->base.handle = reply.handle;
  pthread_mutex_init(&srq->base.mutex, nullptr);
  pthread_cond_init(&srq->base.cond, nullptr);
  ++domain->users;
  enter(srq->entry, srq, Kind::kSrq, reply.handle);
  hold(srq->context);
  return &srq->base;
}

}  // namespace

ibv_srq* create_srq_ex(ibv_context*, ibv_srq_init_attr_ex* at) {
  constexpr uint32_t kKnown = IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_TYPE;
  const bool basic =
      (at->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0 || at->srq_type == IBV_SRQT_BASIC;
  if ((at->comp_mask & ~kKnown) != 0 || !basic) {
    return failed_with<ibv_srq>(EOPNOTSUPP);
  }
  return (at->comp_mask & IBV_SRQ_INIT_ATTR_PD) != 0 ? create_srq(at->pd, at->srq_context, at->attr)
                                                     : failed_with<ibv_srq>(EINVAL);
}

int get_srq_number(ibv_srq* srq, uint32_t* number) {
  *number = srq->handle;
  return 0;
}

}  // namespace mrclab::verbs

using namespace mrclab::verbs;

extern "C" {

ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* init) {
  return create_srq(pd, init->srq_context, init->attr);
}

int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* at, int mask) {
  Srq* own = object_of(srq);
  if (!intact(*own)) {
    return failed(ENOENT);
  }
  if ((mask & ~(IBV_SRQ_LIMIT | IBV_SRQ_MAX_WR)) != 0) {
    return failed(EINVAL);
  }
  if ((mask & IBV_SRQ_MAX_WR) != 0) {
    return failed(EOPNOTSUPP);  // IBV_DEVICE_SRQ_RESIZE is not among the device's flags
  }
  if ((mask & IBV_SRQ_LIMIT) != 0 && at->srq_limit > own->max_wr) {
    return failed(EINVAL);
  }
  const SrqRequest request{srq->handle,    0, 0, at->srq_limit, static_cast<uint32_t>(mask),
                           own->pd->domain};
  return result(tell(Op::kModifySrq, request));
}

int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* at) {
  if (!intact(*object_of(srq))) {
    return failed(ENOENT);
  }
  const HandleRequest request{srq->handle, 0};
  SrqReply reply{};
  const int error = ask(Op::kQuerySrq, request, &reply);
  if (error == 0) {
    *at = ibv_srq_attr{reply.max_wr, reply.max_sge, reply.limit};
  }
  return result(error);
}

int ibv_destroy_srq(ibv_srq* srq) {
  Srq* own = object_of(srq);
  if (!intact(*own)) {
    return failed(ENOENT);
  }
  if (own->users.load() != 0) {
    return failed(EBUSY);
  }
  const HandleRequest request{own->entry.handle, 0};
  const int error = tell(Op::kDestroySrq, request);
  if (error != 0 && error != EIO) {
    return failed(error);
  }
  leave(own->entry);
  pthread_mutex_lock(&srq->mutex);
  while (srq->events_completed != own->entry.async_events) {
    pthread_cond_wait(&srq->cond, &srq->mutex);
  }
  pthread_mutex_unlock(&srq->mutex);
  --own->pd->users;
  drop(own->context);
  delete own;
  return 0;
}

MRCLAB_LATEST(ibv_create_srq);
MRCLAB_LATEST(ibv_destroy_srq);
MRCLAB_LATEST(ibv_modify_srq);
MRCLAB_LATEST(ibv_query_srq);

}  // extern "C"
