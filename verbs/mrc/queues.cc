// Completion channels and queues: those of our libibverbs. The context of a queue of verbs is the mrc_cq.

#include <cerrno>

#include "verbs/mrc/objects.h"

using mrclab::mrc::forget;
using mrclab::mrc::make;
using mrclab::mrc::plain_error;
using mrclab::mrc::valid;
using mrclab::mrc::verbs_error;

int mrc_create_comp_channel(mrc_context* context, mrc_comp_channel** channel) {
  if (!valid(context) || channel == nullptr) return verbs_error(EINVAL);
  auto* made = make<mrc_comp_channel>(context);
  if (made == nullptr) return verbs_error(ENOMEM);
  made->verbs = context->support.verbs.create_comp_channel(context->verbs);
  if (made->verbs == nullptr) {
    const int error = errno != 0 ? errno : EIO;
    forget(made);
    return verbs_error(error);
  }
  *channel = made;
  return 0;
}

int mrc_get_comp_channel_fd(mrc_comp_channel* channel, int* fd) {
  if (!valid(channel) || fd == nullptr) return plain_error(EINVAL);
  *fd = channel->verbs->fd;
  return 0;
}

int mrc_destroy_comp_channel(mrc_comp_channel* channel) {
  if (!valid(channel)) return verbs_error(EINVAL);
  if (const int error = channel->context->support.verbs.destroy_comp_channel(channel->verbs)) {
    return verbs_error(error);
  }
  forget(channel);
  return 0;
}

mrc_cq* mrc_create_cq(mrc_context* context, int cqe, void* user, mrc_comp_channel* channel,
                      int vector) {
  if (!valid(context) || (channel != nullptr && (!valid(channel) || channel->context != context))) {
    errno = EINVAL;
    return nullptr;
  }
  auto* made = make<mrc_cq>(context);
  if (made == nullptr) return nullptr;
  made->user = user;
  made->verbs = context->support.verbs.create_cq(
      context->verbs, cqe, made, channel != nullptr ? channel->verbs : nullptr, vector);
  if (made->verbs == nullptr) {
    const int error = errno != 0 ? errno : EIO;
    forget(made);
    errno = error;
    return nullptr;
  }
  made->entries = made->verbs->cqe;
  return made;
}

int mrc_poll_cq(mrc_cq* cq, int entries, ibv_wc* wc) {
  if (!valid(cq) || cq->verbs == nullptr) return plain_error(EINVAL);
  return cq->verbs->context->ops.poll_cq(cq->verbs, entries, wc);
}

int mrc_destroy_cq(mrc_cq* cq) {
  if (!valid(cq)) return verbs_error(EINVAL);
  const int error = cq->verbs != nullptr ? cq->context->support.verbs.destroy_cq(cq->verbs)
                                         : mrclab::mrc::destroy_events(cq);
  if (error != 0) return verbs_error(error);
  forget(cq);
  return 0;
}

int mrc_req_notify_cq(mrc_cq* cq, int solicited_only) {
  if (!valid(cq)) return verbs_error(EINVAL);
  if (cq->verbs == nullptr) return verbs_error(EOPNOTSUPP);
  const int error = cq->verbs->context->ops.req_notify_cq(cq->verbs, solicited_only);
  return error != 0 ? verbs_error(error) : 0;
}

int mrc_get_cq_event(mrc_comp_channel* channel, mrc_cq** cq, void** user) {
  if (!valid(channel) || cq == nullptr || user == nullptr) return plain_error(EINVAL);
  ibv_cq* verbs = nullptr;
  void* ours = nullptr;
  if (channel->context->support.verbs.get_cq_event(channel->verbs, &verbs, &ours) != 0) return -1;
  *cq = static_cast<mrc_cq*>(ours);
  *user = (*cq)->user;
  return 0;
}

void mrc_ack_cq_events(mrc_cq* cq, unsigned events) {
  if (valid(cq) && cq->verbs != nullptr)
    cq->context->support.verbs.ack_cq_events(cq->verbs, events);
}
