// Events of entropy values and probes: what a controller sees of paths.

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "verbs/mrc/control.h"

using namespace mrclab::mrc;
namespace verbs = mrclab::verbs;

namespace {

struct HandleMessage {
  verbs::RequestHeader header;
  verbs::HandleRequest body;
};
struct EmptyMessage {
  verbs::RequestHeader header;
};
struct EmptyAnswer {
  verbs::ReplyHeader header;
};

constexpr int kMaxEvents = 128;  ///< more entries than this no queue of events has
/// Between two polls for answers: a wall clock's time, in held time the fabric's.
constexpr useconds_t kBetweenPolls_us = 50;
/// The host answers for each path at the latest at the timeout. This many polls more, and it never will.
constexpr uint32_t kMaxPolls = 1'000'000;
constexpr uint32_t kMaxPaths = 256;

struct ProbeBatch {
  verbs::RequestHeader header;
  verbs::ProbeRequest body;
};
struct ProbeStarted {
  verbs::ReplyHeader header;
  verbs::ProbeStartedReply body;
};
struct PollMessage {
  verbs::RequestHeader header;
  verbs::PollProbesRequest body;
};
struct PollAnswer {
  verbs::ReplyHeader header;
  verbs::ProbeReply body;
};

/// A response for the first request of this value that has none.
bool respond(EndpointRequest* requests, int count, bool* done, uint32_t ev, uint64_t rtt_ns,
             EndpointResponse& response) {
  for (int i = 0; i < count; ++i) {
    uint32_t value = 0;
    if (done[i] || value_of(requests[i].ev, value) != 0 || value != ev) continue;
    done[i] = true;
    response = {};
    response.id = requests[i].id;
    response.port = port_of(ev);
    response.rtt_ns = static_cast<uint32_t>(rtt_ns < UINT32_MAX ? rtt_ns : UINT32_MAX);
    return true;
  }
  return false;
}

int check_batch(const Support& support, const EndpointRequest* requests, int count,
                verbs::ProbeRequest& wire) {
  for (int i = 0; i < count; ++i) {
    const EndpointRequest& request = requests[i];
    if (request.format != kFormatStev) return EOPNOTSUPP;
    if (std::memcmp(request.source.raw, support.hello->gid, sizeof request.source.raw) != 0) {
      return EINVAL;
    }
    // One batch goes to one host here.
    if (std::memcmp(request.destination.raw, requests[0].destination.raw,
                    sizeof request.destination.raw) != 0) {
      return EOPNOTSUPP;
    }
    if (const int error = value_of(request.ev, wire.values[i])) return error;
  }
  return 0;
}

}  // namespace

mrc_cq* mrc_ctl_create_ev_event_cq(mrc_context* context, int cqe, void* user,
                                   mrc_comp_channel* channel, int vector) {
  int error = check_controller(context);
  if (error == 0 && (cqe < 1 || cqe > kMaxEvents || vector != 0)) error = EINVAL;
  if (error == 0 && channel != nullptr) error = EOPNOTSUPP;  // Such a queue is polled.
  if (error != 0) {
    errno = error;
    return nullptr;
  }
  auto* made = make<mrc_cq>(context);
  if (made == nullptr) return nullptr;
  EmptyMessage request{};
  struct {
    verbs::ReplyHeader header;
    verbs::HandleReply body;
  } answer{};
  error = call(context->support, verbs::Op::kCreatePathEvents, request, answer);
  if (error != 0) {
    forget(made);
    errno = error;
    return nullptr;
  }
  made->user = user;
  made->events = answer.body.handle;
  made->entries = static_cast<int>(answer.body.limit);
  return made;
}

int mrclab::mrc::destroy_events(mrc_cq* cq) {
  HandleMessage request{};
  request.body.handle = cq->events;
  EmptyAnswer answer{};
  return call(cq->context->support, verbs::Op::kDestroyPathEvents, request, answer);
}

int mrc_ctl_poll_ev_event(mrc_cq* cq, int entries, EvEventAttr* events) {
  if (!valid(cq) || cq->verbs != nullptr || entries < 0 || (entries > 0 && events == nullptr)) {
    return -EINVAL;
  }
  const mrclab::verbs::Guard lock(cq->mutex);
  // Before 1.0.1 the struct ended before the state; its padding made both 56 bytes, or 48 in an array of such.
  const bool with_state = cq->context->api_version >= version_of(1, 0, 1);
  for (int i = 0; i < entries; ++i) {
    HandleMessage request{};
    request.body.handle = cq->events;
    struct {
      verbs::ReplyHeader header;
      verbs::PathEventReply body;
    } answer{};
    const int error = call(cq->context->support, verbs::Op::kPollPathEvent, request, answer);
    if (error == EAGAIN) return i;
    if (error != 0) return i > 0 ? i : -error;
    EvEventAttr event{};
    event.profile = answer.body.profile;
    event.ev = ev_of(answer.body.ev);
    event.ev.port = static_cast<uint8_t>(answer.body.port);
    event.drop_count = answer.body.drops;
    event.state = answer.body.state;
    const size_t bytes = with_state ? sizeof event : offsetof(EvEventAttr, state);
    std::memcpy(reinterpret_cast<char*>(events) + static_cast<size_t>(i) * bytes, &event, bytes);
  }
  return entries;
}

int mrc_ctl_ep_batch_send_wait(mrc_context* context, uint8_t traffic_class, uint32_t op,
                               EndpointRequest* requests, int count, uint32_t timeout_ns,
                               EndpointResponse* responses, int* response_count) {
  if (const int error = check_controller(context)) return plain_error(error);
  if (requests == nullptr || responses == nullptr || response_count == nullptr || count < 1 ||
      count > static_cast<int>(kMaxPaths)) {
    return plain_error(EINVAL);
  }
  *response_count = 0;
  // Probes have a class of their own here, as the specification asks for; of another there is none.
  (void)traffic_class;
  if (op != kEvProbe) return plain_error(EOPNOTSUPP);
  ProbeBatch request{};
  if (const int error = check_batch(context->support, requests, count, request.body)) {
    return plain_error(error);
  }
  std::memcpy(request.body.gid, requests[0].destination.raw, sizeof request.body.gid);
  request.body.count = static_cast<uint32_t>(count);
  request.body.timeout_ns = timeout_ns;
  ProbeStarted started{};
  if (const int error = call(context->support, verbs::Op::kProbePaths, request, started)) {
    return plain_error(error);
  }
  bool done[kMaxPaths]{};
  uint32_t left = static_cast<uint32_t>(count);
  for (uint32_t polls = 0; left > 0; ++polls) {
    if (polls == kMaxPolls) return plain_error(EIO);
    PollMessage poll{};
    poll.body.request = started.body.request;
    PollAnswer answer{};
    if (const int error = call(context->support, verbs::Op::kPollProbes, poll, answer)) {
      return plain_error(error);
    }
    if (answer.body.count > kMaxPaths || answer.body.left > kMaxPaths) return plain_error(EPROTO);
    for (uint32_t i = 0; i < answer.body.count; ++i) {
      const auto& path = answer.body.paths[i];
      if (path.answered != 0 && *response_count < count &&
          respond(requests, count, done, path.ev, path.rtt_ns, responses[*response_count])) {
        ++*response_count;
      }
    }
    left = answer.body.left;
    if (left > 0) ::usleep(kBetweenPolls_us);
  }
  return *response_count == count ? 0 : plain_error(ETIMEDOUT);
}
