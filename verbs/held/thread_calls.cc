// Threads of a held program: made by pthread_create, one runs at a time (baton.h).

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <time.h>

#include "verbs/held/baton.h"
#include "verbs/held/entry.h"
#include "verbs/held/locks.h"
#include "verbs/held/next.h"
#include "verbs/held/raw.h"
#include "verbs/held/traps.h"

namespace mrclab::verbs::held {
namespace {

/// What a new thread begins with, and by what others find its number. One place per number of baton.h.
struct Begun {
  void* (*start)(void*);
  void* argument;
  pthread_t thread;
  bool detached;
  bool known;  ///< `thread` is set
};
Begun begun[kMaxThreads];
pthread_key_t at_end;
bool has_key;

uint32_t number_of(pthread_t thread) {
  for (uint32_t i = 0; i < kMaxThreads; ++i)
    if (begun[i].known && pthread_equal(begun[i].thread, thread) != 0) return i;
  return kMaxThreads;
}

/// A destructor of thread-specific data. Those of others may still wait for locks, so this one has itself called again,
/// until nothing comes after it.
void leave(void* value) {
  const auto round = reinterpret_cast<uintptr_t>(value);
  if (round < PTHREAD_DESTRUCTOR_ITERATIONS) {
    pthread_setspecific(at_end, reinterpret_cast<void*>(round + 1));
    return;
  }
  untrap_thread();
  const uint32_t number = this_thread_number();
  const bool detached = number < kMaxThreads && begun[number].detached;
  if (detached) begun[number].known = false;
  end_thread(detached);
}

void* enter(void* place) {
  const auto* const mine = static_cast<const Begun*>(place);
  pthread_setspecific(at_end, reinterpret_cast<void*>(uintptr_t{1}));
  enter_thread(static_cast<uint32_t>(mine - begun));
  trap_thread();
  return mine->start(mine->argument);
}

int create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
           void* argument, decltype(&::pthread_create) real) {
  if (!has_key) {
    if (pthread_key_create(&at_end, leave) != 0) return EAGAIN;
    has_key = true;
    pthread_setspecific(at_end, reinterpret_cast<void*>(uintptr_t{1}));
    begun[0].thread = pthread_self();
    begun[0].known = true;
  }
  const uint32_t number = begin_thread();
  if (number == kMaxThreads) {
    not_held(reinterpret_cast<void*>(start), "has more than 64 threads");
    return real(thread, attributes, start, argument);
  }
  int detached = PTHREAD_CREATE_JOINABLE;
  if (attributes != nullptr) pthread_attr_getdetachstate(attributes, &detached);
  begun[number] = {start, argument, {}, detached == PTHREAD_CREATE_DETACHED, false};
  const int error = real(thread, attributes, enter, &begun[number]);
  if (error != 0) {
    forget_thread(number);
    return error;
  }
  begun[number].thread = *thread;
  begun[number].known = true;
  return 0;
}

/// Waits for the end of `thread` in fabric time. False: for the real call; else `error` is what it came to unless 0.
bool await_end(pthread_t thread, uint64_t until_ps, int& error) {
  error = 0;
  const uint32_t number = number_of(thread);
  if (number == kMaxThreads) return false;
  if (number == this_thread_number()) {
    error = EDEADLK;
    return true;
  }
  Wait wait;
  wait.object = end_of(number);
  wait.cancels = true;
  wait.until_ps = until_ps;
  while (!ended(number)) {
    const Woken woken = block(wait);
    if (woken == Woken::kNotHeld) return false;
    if (woken == Woken::kTime && !ended(number)) {
      error = ETIMEDOUT;
      return true;
    }
  }
  begun[number].known = false;
  forget_thread(number);
  return true;
}

}  // namespace
}  // namespace mrclab::verbs::held

using namespace mrclab::verbs::held;

MRCLAB_EXPORT int pthread_create(pthread_t* thread, const pthread_attr_t* attributes,
                                 void* (*start)(void*), void* argument) noexcept {
  const Entry entry;
  MRCLAB_NEXT(pthread_create);
  if (!held()) return real(thread, attributes, start, argument);
  spend_call();
  return create(thread, attributes, start, argument, real);
}

MRCLAB_EXPORT int pthread_join(pthread_t thread, void** result) {
  const Entry entry;
  MRCLAB_NEXT(pthread_join);
  int error = 0;
  if (held() && await_end(thread, kNever, error) && error != 0) return error;
  return real(thread, result);
}

MRCLAB_EXPORT int pthread_tryjoin_np(pthread_t thread, void** result) noexcept {
  const Entry entry;
  MRCLAB_NEXT(pthread_join);
  int error = 0;
  if (held() && await_end(thread, now_ps(), error) && error != 0)
    return error == ETIMEDOUT ? EBUSY : error;
  return real(thread, result);
}

MRCLAB_EXPORT int pthread_timedjoin_np(pthread_t thread, void** result, const timespec* until) {
  const Entry entry;
  MRCLAB_NEXT(pthread_timedjoin_np);
  int error = 0;
  if (held() && await_end(thread, until_of_clock(*until), error) && error != 0) return error;
  return real(thread, result, until);
}

MRCLAB_EXPORT int pthread_cancel(pthread_t thread) {
  const Entry entry;
  MRCLAB_NEXT(pthread_cancel);
  const int error = real(thread);
  const uint32_t number = error == 0 && held() ? number_of(thread) : kMaxThreads;
  if (number != kMaxThreads && number != this_thread_number()) wake_thread(number);
  return error;
}

MRCLAB_EXPORT int pthread_detach(pthread_t thread) noexcept {
  const Entry entry;
  MRCLAB_NEXT(pthread_detach);
  const uint32_t number = held() ? number_of(thread) : kMaxThreads;
  if (number < kMaxThreads) {
    begun[number].detached = true;
    if (ended(number)) {
      begun[number].known = false;
      forget_thread(number);
    }
  }
  return real(thread);
}
