// Barriers of a held program's threads. The C library's own can only be waited for really, so how many threads each
// barrier is for is noted when it is made.

#include <pthread.h>

#include "verbs/held/baton.h"
#include "verbs/held/entry.h"
#include "verbs/held/next.h"
#include "verbs/held/raw.h"

namespace mrclab::verbs::held {
namespace {

struct Barrier {
  const pthread_barrier_t* object;  ///< null: free
  uint32_t threads;
  uint32_t waiting;
  uint64_t round;
};
constexpr uint32_t kMaxBarriers = 64;
Barrier barriers[kMaxBarriers];

Barrier* barrier_of(const pthread_barrier_t* object) {
  for (Barrier& barrier : barriers)
    if (barrier.object == object) return &barrier;
  return nullptr;
}

}  // namespace
}  // namespace mrclab::verbs::held

using namespace mrclab::verbs::held;

MRCLAB_EXPORT int pthread_barrier_init(pthread_barrier_t* object,
                                       const pthread_barrierattr_t* attributes,
                                       unsigned threads) noexcept {
  const Entry entry;
  MRCLAB_NEXT(pthread_barrier_init);
  const int error = real(object, attributes, threads);
  if (error != 0 || program.standing.load() == Standing::kElsewhere) return error;
  Barrier* place = barrier_of(object);
  if (place == nullptr) place = barrier_of(nullptr);
  if (place != nullptr)
    *place = {object, threads, 0, 0};
  else
    not_held(__builtin_return_address(0), "has more barriers than can be held");
  return 0;
}

MRCLAB_EXPORT int pthread_barrier_destroy(pthread_barrier_t* object) noexcept {
  const Entry entry;
  MRCLAB_NEXT(pthread_barrier_destroy);
  if (Barrier* const barrier = barrier_of(object)) barrier->object = nullptr;
  return real(object);
}

MRCLAB_EXPORT int pthread_barrier_wait(pthread_barrier_t* object) noexcept {
  const Entry entry;
  MRCLAB_NEXT(pthread_barrier_wait);
  Barrier* const barrier = held() ? barrier_of(object) : nullptr;
  if (barrier == nullptr) return real(object);
  if (++barrier->waiting == barrier->threads) {
    barrier->waiting = 0;
    ++barrier->round;
    wake(barrier);
    return PTHREAD_BARRIER_SERIAL_THREAD;
  }
  const uint64_t round = barrier->round;
  Wait wait;
  wait.object = barrier;
  while (barrier->round == round) {
    // Those who came before are not in the real barrier: together they could not leave it.
    if (block(wait) == Woken::kNotHeld) return real(object);
  }
  return 0;
}
