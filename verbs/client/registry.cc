#include "verbs/client/registry.h"

namespace mrclab::verbs {
namespace {

constexpr uint32_t kBuckets = 256;
Mutex mutex;
Registered* buckets[kBuckets];

Registered** place_of(Kind kind, uint32_t handle) {
  Registered** at = &buckets[(handle ^ static_cast<uint32_t>(kind) << 6) % kBuckets];
  while (*at != nullptr && ((*at)->kind != kind || (*at)->handle != handle)) {
    at = &(*at)->next;
  }
  return at;
}

}  // namespace

void enter(Registered& entry, void* object, Kind kind, uint32_t handle) {
  const Guard guard(mutex);
  entry.object = object;
  entry.kind = kind;
  entry.handle = handle;
  Registered** bucket = &buckets[(handle ^ static_cast<uint32_t>(kind) << 6) % kBuckets];
  entry.next = *bucket;
  *bucket = &entry;
}

void leave(Registered& entry) {
  const Guard guard(mutex);
  for (Registered*& first : buckets) {
    for (Registered** at = &first; *at != nullptr; at = &(*at)->next) {
      if (*at == &entry) {
        *at = entry.next;
        return;
      }
    }
  }
}

Registered* find_for_async_event(Kind kind, uint32_t handle) {
  const Guard guard(mutex);
  Registered* found = *place_of(kind, handle);
  if (found != nullptr) {
    ++found->async_events;
  }
  return found;
}

Cq* find_for_channel_event(uint32_t handle) {
  const Guard guard(mutex);
  Registered* found = *place_of(Kind::kCq, handle);
  if (found == nullptr) {
    return nullptr;
  }
  Cq* cq = static_cast<Cq*>(found->object);
  pthread_mutex_lock(&cq->base.mutex);
  ++cq->channel_events;
  pthread_mutex_unlock(&cq->base.mutex);
  return cq;
}

}  // namespace mrclab::verbs
