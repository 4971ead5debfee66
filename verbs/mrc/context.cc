#include <cerrno>
#include <new>

#include "verbs/mrc/objects.h"

using mrclab::mrc::DeviceAttr;
using mrclab::mrc::plain_error;
using mrclab::mrc::Support;
using mrclab::mrc::valid;

namespace {

/// Of a device without MRC (RC over RoCEv2) everything is 0 and `supported` false.
int query_device(ibv_context* context, DeviceAttr* attr, int* supported) {
  if (context == nullptr || attr == nullptr || supported == nullptr) return plain_error(EINVAL);
  *attr = {};
  *supported = 0;
  Support support;
  if (!mrclab::mrc::find_support(context, support) || support.hello->transport != 0) return 0;
  const mrclab::verbs::HelloReply* hello = support.hello;
  *supported = 1;
  attr->protocol_versions = mrclab::mrc::kProtocolVersion1;
  attr->max_wimm = hello->max_wimm;
  attr->max_wimm_dest = hello->max_wimm;
  attr->max_mpr = hello->max_mpr;
  attr->mpr_resolution = 1;
  attr->max_qp_hint = hello->max_qp;
  // What every device of a lab can do (docs/mrc-rules.md).
  attr->cap =
      mrclab::mrc::kCapTrimNack | mrclab::mrc::kCapDynamicMpr | mrclab::mrc::kCapServiceTime;
  return 0;
}

/// The queue or queue pair of libmrc that stands for one of verbs; null where the program made that one itself.
template <typename T, typename V>
T* of_verbs(mrc_context* context, const V* verbs) {
  const mrclab::verbs::Guard lock(context->mutex);
  for (mrclab::mrc::Object* object = context->children; object != nullptr; object = object->next) {
    if (object->kind.load() != static_cast<uint32_t>(mrclab::mrc::kKindOf<T>)) continue;
    T* candidate = static_cast<T*>(object);
    if (candidate->verbs == verbs) return candidate;
  }
  return nullptr;
}

/// False: an event of a queue (pair) of verbs that libmrc did not make.
bool translate(mrc_context* context, const ibv_async_event& from, mrclab::mrc::AsyncEvent& event) {
  event = {};
  event.type = from.event_type;
  switch (from.event_type) {
    case IBV_EVENT_CQ_ERR:
      event.cq = of_verbs<mrc_cq>(context, from.element.cq);
      return event.cq != nullptr;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      event.qp = of_verbs<mrc_qp>(context, from.element.qp);
      return event.qp != nullptr;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED: return false;
    default: event.port = from.element.port_num; return true;
  }
}

}  // namespace

int mrc_query_device(ibv_context* context, DeviceAttr* attr, int* supported) {
  return query_device(context, attr, supported);
}

int mrc_query_device_ex(ibv_context* context, mrc_context* mrc, DeviceAttr* attr, int* supported) {
  if (mrc != nullptr && (!valid(mrc) || mrc->verbs != context)) return plain_error(EINVAL);
  return query_device(context, attr, supported);
}

void mrc_query_version(uint32_t* current, uint32_t* oldest, uint32_t* vendor,
                       uint32_t* oldest_vendor) {
  if (current != nullptr) *current = mrclab::mrc::kApiVersion;
  if (oldest != nullptr) *oldest = mrclab::mrc::kOldestApiVersion;
  if (vendor != nullptr) *vendor = mrclab::mrc::kVendorVersion;
  if (oldest_vendor != nullptr) *oldest_vendor = mrclab::mrc::kOldestVendorVersion;
}

mrc_context* mrc_create_context(ibv_context* verbs, mrclab::mrc::ContextAttr* attr) {
  Support support;
  if (!mrclab::mrc::find_support(verbs, support) || support.hello->transport != 0) {
    errno = verbs == nullptr ? EINVAL : EOPNOTSUPP;
    return nullptr;
  }
  // A caller that asks for more than there is would read or write more than this library knows.
  if (attr != nullptr && (attr->api_version > mrclab::mrc::kApiVersion ||
                          attr->vendor_version > mrclab::mrc::kVendorVersion)) {
    errno = EOPNOTSUPP;
    return nullptr;
  }
  auto* context = new (std::nothrow) mrc_context;
  if (context == nullptr) {
    errno = ENOMEM;
    return nullptr;
  }
  context->verbs = verbs;
  context->support = support;
  context->api_version =
      attr != nullptr && attr->api_version != 0 ? attr->api_version : mrclab::mrc::kApiVersion;
  context->kind.store(static_cast<uint32_t>(mrclab::mrc::Kind::kContext));
  return context;
}

int mrc_destroy_context(mrc_context* context) {
  if (!valid(context)) return plain_error(EINVAL);
  // What is left goes, users before what they use: queue pairs, then hints and queues, then channels.
  using mrclab::mrc::Kind;
  for (const Kind kind : {Kind::kQp, Kind::kHint, Kind::kCq, Kind::kChannel}) {
    mrclab::mrc::Object* next = nullptr;
    for (mrclab::mrc::Object* object = context->children; object != nullptr; object = next) {
      next = object->next;
      if (object->kind.load() != static_cast<uint32_t>(kind)) continue;
      switch (kind) {
        case Kind::kQp: mrc_destroy_qp(static_cast<mrc_qp*>(object)); break;
        case Kind::kHint: mrc_destroy_qp_hint(static_cast<mrc_qp_hint*>(object)); break;
        case Kind::kCq: mrc_destroy_cq(static_cast<mrc_cq*>(object)); break;
        case Kind::kChannel:
          mrc_destroy_comp_channel(static_cast<mrc_comp_channel*>(object));
          break;
        case Kind::kContext: break;
      }
    }
  }
  if (context->children != nullptr) return plain_error(EBUSY);
  context->kind.store(0);
  delete context;
  return 0;
}

int mrc_get_async_event(mrc_context* context, mrclab::mrc::AsyncEvent* event) {
  using mrclab::mrc::verbs_error;
  if (!valid(context) || event == nullptr) return verbs_error(EINVAL);
  for (;;) {
    ibv_async_event from{};
    if (context->support.verbs.get_async_event(context->verbs, &from) != 0) {
      return verbs_error(errno != 0 ? errno : EIO);
    }
    if (translate(context, from, *event)) return 0;
    context->support.verbs.ack_async_event(&from);
  }
}

void mrc_ack_async_event(mrclab::mrc::AsyncEvent* event) {
  if (event == nullptr) return;
  ibv_async_event to{};
  to.event_type = event->type;
  const Support* support = nullptr;
  switch (event->type) {
    case IBV_EVENT_CQ_ERR:
      if (!valid(event->cq)) return;
      to.element.cq = event->cq->verbs;
      support = &event->cq->context->support;
      break;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      if (!valid(event->qp)) return;
      to.element.qp = event->qp->verbs;
      support = &event->qp->context->support;
      break;
    default: return;  // Of a port nothing is counted.
  }
  support->verbs.ack_async_event(&to);
}
