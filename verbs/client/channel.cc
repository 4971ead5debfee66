// Completion channels and asynchronous events: descriptors that a program may poll, and what it reads through the library.

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "verbs/client/operations.h"
#include "verbs/client/registry.h"

namespace mrclab::verbs {
namespace {

// By number: the held library interposes the functions of these names for the program's own descriptors, and these two are
// the library's. In wall time read() itself, at which a thread that waits for an event can be cancelled.
ssize_t read_descriptor(int fd, void* into, size_t bytes) {
  return is_held() ? syscall(SYS_read, fd, into, bytes) : read(fd, into, bytes);
}
bool is_readable(int fd) {
  pollfd item{fd, POLLIN, 0};
  const timespec at_once{0, 0};
  long ready;
  do {  // a tick of the held library interrupts this call, too, and that says nothing of the descriptor
    ready = syscall(SYS_ppoll, &item, 1, &at_once, nullptr, 0);
  } while (ready < 0 && errno == EINTR);
  return ready == 1;
}
bool is_nonblocking(int fd) {
  const long flags = syscall(SYS_fcntl, fd, F_GETFL);
  return flags >= 0 && (flags & O_NONBLOCK) != 0;
}

/// In mode kHeld time has to pass until the descriptor is readable: nothing would write it while the program waits in
/// the kernel.
int wait_held(int fd, bool async, uint32_t channel) {
  while (is_held() && !is_readable(fd)) {
    if (is_nonblocking(fd)) {
      return EAGAIN;
    }
    WaitRequest request{};
    request.until_ps = UINT64_MAX;
    request.async = async ? 1 : 0;
    request.channels = async ? 0 : 1;
    request.count = request.channels;
    request.handles[0] = channel;
    WaitReply reply{};
    const int error = ask(Op::kWait, request, &reply);
    if (error != 0) {
      return error;
    }
  }
  return 0;
}

/// One event of the descriptor: 0, or an errno. EINTR is the program's to see, as with a device.
template <typename Event>
int read_event(int fd, bool async, uint32_t channel, Event& event) {
  const int error = wait_held(fd, async, channel);
  if (error != 0) {
    return error;
  }
  const ssize_t bytes = read_descriptor(fd, &event, sizeof(event));
  if (bytes == static_cast<ssize_t>(sizeof(event))) {
    return 0;
  }
  if (bytes >= 0) {
    server_gone(true);
    return EIO;  // the server's end is closed
  }
  return errno;
}

Kind kind_of_event(uint32_t event) {
  switch (event) {
    case IBV_EVENT_CQ_ERR: return Kind::kCq;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: return Kind::kSrq;
    default: return Kind::kQp;
  }
}

bool is_of_port(uint32_t event) {
  switch (event) {
    case IBV_EVENT_DEVICE_FATAL:
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
    case IBV_EVENT_GID_CHANGE: return true;
    default: return false;
  }
}

void acknowledge(pthread_mutex_t& mutex, pthread_cond_t& condition, uint32_t& completed,
                 uint32_t count) {
  pthread_mutex_lock(&mutex);
  completed += count;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&mutex);
}

}  // namespace
}  // namespace mrclab::verbs

using namespace mrclab::verbs;

extern "C" {

ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  Channel* channel = make<Channel>();
  if (channel == nullptr) {
    return failed_with<ibv_comp_channel>(ENOMEM);
  }
  HandleReply reply{};
  int descriptors[kMaxDescriptors];
  int error = ask_raw(Op::kCreateChannel, nullptr, 0, &reply, sizeof(reply), descriptors);
  if (error == 0) {
    for (uint32_t i = 1; i < kMaxDescriptors; ++i) {
      if (descriptors[i] >= 0) {
        close(descriptors[i]);
      }
    }
    error = descriptors[0] < 0 ? EPROTO : 0;
  }
  if (error != 0) {
    delete channel;
    return failed_with<ibv_comp_channel>(error);
  }
  channel->context = context;
  channel->handle = reply.handle;
  channel->fd = descriptors[0];
  channel->base.context = context;
  channel->base.fd = channel->fd;
  hold(context);
  return &channel->base;
}

int ibv_destroy_comp_channel(ibv_comp_channel* channel) {
  Channel* own = object_of(channel);
  if (own->users.load() != 0) {
    return failed(EBUSY);
  }
  const HandleRequest request{own->handle, 0};
  const int error = tell(Op::kDestroyChannel, request);
  if (error != 0 && error != EIO) {
    return failed(error);
  }
  close(own->fd);
  drop(own->context);
  delete own;
  return 0;
}

int ibv_get_cq_event(ibv_comp_channel* channel, ibv_cq** cq, void** cq_context) {
  Channel* own = object_of(channel);
  for (;;) {
    ChannelEventWire event{};
    const int error = read_event(own->fd, false, own->handle, event);
    if (error != 0) {
      errno = error;
      return -1;
    }
    Cq* found = find_for_channel_event(event.cq);
    if (found != nullptr) {  // else of one that was destroyed meanwhile
      *cq = reinterpret_cast<ibv_cq*>(&found->base);
      *cq_context = found->base.cq_context;
      return 0;
    }
  }
}

void ibv_ack_cq_events(ibv_cq* cq, unsigned int nevents) {
  acknowledge(cq->mutex, cq->cond, cq->comp_events_completed, nevents);
}

int ibv_get_async_event(ibv_context*, ibv_async_event* event) {
  for (;;) {
    AsyncEventWire wire{};
    const int error = read_event(link_data().events, true, 0, wire);
    if (error != 0) {
      errno = error;
      return -1;
    }
    event->event_type = static_cast<ibv_event_type>(wire.event);
    if (is_of_port(wire.event)) {
      event->element.port_num = 1;
      return 0;
    }
    if (wire.event > IBV_EVENT_WQ_FATAL) {
      continue;  // no event of this interface
    }
    const Registered* found = find_for_async_event(kind_of_event(wire.event), wire.handle);
    if (found == nullptr) {
      continue;  // of an object that was destroyed meanwhile
    }
    switch (found->kind) {
      case Kind::kCq: event->element.cq = static_cast<ibv_cq*>(found->object); return 0;
      case Kind::kSrq: event->element.srq = static_cast<ibv_srq*>(found->object); return 0;
      case Kind::kQp: event->element.qp = static_cast<ibv_qp*>(found->object); return 0;
    }
  }
}

void ibv_ack_async_event(ibv_async_event* event) {
  if (is_of_port(event->event_type)) {
    return;
  }
  switch (kind_of_event(event->event_type)) {
    case Kind::kCq: {
      ibv_cq* cq = event->element.cq;
      acknowledge(cq->mutex, cq->cond, cq->async_events_completed, 1);
      return;
    }
    case Kind::kSrq: {
      ibv_srq* srq = event->element.srq;
      acknowledge(srq->mutex, srq->cond, srq->events_completed, 1);
      return;
    }
    case Kind::kQp: {
      ibv_qp* qp = event->element.qp;
      acknowledge(qp->mutex, qp->cond, qp->events_completed, 1);
      return;
    }
  }
}

MRCLAB_LATEST(ibv_ack_async_event);
MRCLAB_LATEST(ibv_ack_cq_events);
MRCLAB_LATEST(ibv_get_async_event);
MRCLAB_LATEST(ibv_get_cq_event);

}  // extern "C"
