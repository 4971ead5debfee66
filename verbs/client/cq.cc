// Completion queues: made, armed and destroyed. What a program takes from one is in poll.cc.

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "verbs/client/operations.h"
#include "verbs/client/registry.h"

namespace mrclab::verbs {
namespace {

size_t ring_bytes(uint32_t depth) {
  return offsetof(CompletionRing, entries) + size_t{depth} * sizeof(CompletionEntry);
}

bool map_ring(Cq& cq, int fd, uint32_t depth, uint32_t wanted) {
  // A power of two not below what was asked for, and no more than 16 times the most that the device has.
  const bool right = depth >= wanted && (depth & (depth - 1)) == 0 && depth > 0 &&
                     depth / 16 <= link_data().hello->max_cqe;
  struct stat status {};
  if (!right || fd < 0 || fstat(fd, &status) != 0 ||
      status.st_size < static_cast<off_t>(ring_bytes(depth))) {
    return false;
  }
  void* at = mmap(nullptr, ring_bytes(depth), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (at == MAP_FAILED) {
    return false;
  }
  cq.ring = static_cast<CompletionRing*>(at);
  cq.mapped = ring_bytes(depth);
  cq.depth = depth;
  return true;
}

int create_in_server(Cq& cq, uint32_t depth) {
  CqRequest request{depth, cq.channel != nullptr ? cq.channel->handle : 0};
  HandleReply reply{};
  int descriptors[kMaxDescriptors];
  int error = ask(Op::kCreateCq, request, &reply, descriptors);
  if (error != 0) {
    return error;
  }
  if (!map_ring(cq, descriptors[0], reply.limit, depth)) {
    const HandleRequest undo{reply.handle, 0};
    tell(Op::kDestroyCq, undo);
    error = EPROTO;
  }
  for (const int fd : descriptors) {
    if (fd >= 0) {
      close(fd);
    }
  }
  cq.entry.handle = reply.handle;
  return error;
}

}  // namespace

Cq* make_cq(ibv_context* context, uint32_t depth, void* user, ibv_comp_channel* channel,
            int vector) {
  const HelloReply& hello = *link_data().hello;
  if (depth == 0 || depth > hello.max_cqe || vector < 0 || vector >= context->num_comp_vectors) {
    return failed_with<Cq>(EINVAL);
  }
  Cq* cq = make<Cq>();
  if (cq == nullptr) {
    return failed_with<Cq>(ENOMEM);
  }
  cq->context = context;
  cq->channel = channel != nullptr ? object_of(channel) : nullptr;
  const int error = create_in_server(*cq, depth);
  if (error != 0) {
    delete cq;
    return failed_with<Cq>(error);
  }
  ibv_cq_ex& base = cq->base;
  base.context = context;
  base.channel = channel;
  base.cq_context = user;
  base.handle = cq->entry.handle;
  base.cqe = static_cast<int>(cq->depth);
  pthread_mutex_init(&base.mutex, nullptr);
  pthread_cond_init(&base.cond, nullptr);
  enter(cq->entry, cq, Kind::kCq, cq->entry.handle);
  if (cq->channel != nullptr) {
    ++cq->channel->users;
    ++channel->refcnt;
  }
  hold(context);
  return cq;
}

int request_notification(ibv_cq* cq, int solicited_only) {
  Cq* own = object_of(cq);
  if (own->channel == nullptr) {
    return failed(EINVAL);
  }
  const ArmRequest request{own->entry.handle, solicited_only != 0 ? 1u : 0u};
  return result(tell(Op::kArmCq, request));
}

}  // namespace mrclab::verbs

using namespace mrclab::verbs;

extern "C" {

ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context, ibv_comp_channel* channel,
                      int comp_vector) {
  Cq* cq =
      make_cq(context, cqe > 0 ? static_cast<uint32_t>(cqe) : 0, cq_context, channel, comp_vector);
  return cq != nullptr ? reinterpret_cast<ibv_cq*>(&cq->base) : nullptr;
}

int ibv_resize_cq(ibv_cq*, int) { return failed(EOPNOTSUPP); }

int ibv_destroy_cq(ibv_cq* cq) {
  Cq* own = object_of(cq);
  if (!intact(*own)) {
    return failed(ENOENT);
  }
  if (own->users.load() != 0) {
    return failed(EBUSY);
  }
  const HandleRequest request{own->entry.handle, 0};
  const int error = tell(Op::kDestroyCq, request);
  if (error != 0 && error != EIO) {
    return failed(error);
  }
  leave(own->entry);
  // Whoever was given an event still uses the queue until it is acknowledged (ibv_get_cq_event(3)).
  pthread_mutex_lock(&cq->mutex);
  while (cq->comp_events_completed != own->channel_events ||
         cq->async_events_completed != own->entry.async_events) {
    pthread_cond_wait(&cq->cond, &cq->mutex);
  }
  pthread_mutex_unlock(&cq->mutex);
  if (own->channel != nullptr) {
    --own->channel->users;
    --own->channel->base.refcnt;
  }
  munmap(own->ring, own->mapped);
  free(own->stash);
  drop(own->context);
  delete own;
  return 0;
}

MRCLAB_LATEST(ibv_create_cq);
MRCLAB_LATEST(ibv_destroy_cq);
MRCLAB_LATEST(ibv_resize_cq);

}  // extern "C"
