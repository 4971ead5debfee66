#include <pthread.h>
#include <semaphore.h>

#include "verbs/held/baton.h"
#include "verbs/held/entry.h"
#include "verbs/held/locks.h"
#include "verbs/held/next.h"
#include "verbs/held/raw.h"

namespace mrclab::verbs::held {

uint64_t until_of_clock(const timespec& until) {
  if (until.tv_sec < 0) return 0;
  uint64_t ns =
      static_cast<uint64_t>(until.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(until.tv_nsec);
  if (ns >= program.hello.epoch_ns / 2 && program.hello.epoch_ns != 0)
    ns = ns > program.hello.epoch_ns ? ns - program.hello.epoch_ns : 0;
  return ns > kNever / 2000 ? kNever : ns * 1000;
}

namespace {

/// What there is to contend for exists in programs of several threads alone.
bool contends() { return program.standing.load() == Standing::kHeld && has_other_threads(); }

/// Tries `lock` (0, EBUSY, or another error) until it is had. ETIMEDOUT at `until_ps`. False: for the real call.
template <typename Try>
bool acquire(const void* object, uint64_t until_ps, Try lock, int& error, bool cancels = false) {
  Wait wait;
  wait.cancels = cancels;
  wait.object = object;
  wait.until_ps = until_ps;
  while ((error = lock()) == EBUSY) {
    const Woken woken = block(wait);
    if (woken == Woken::kNotHeld) return false;
    if (woken == Woken::kTime) {
      error = lock();
      if (error == EBUSY) error = ETIMEDOUT;
      return true;
    }
  }
  return true;
}

int lock_mutex(pthread_mutex_t* mutex) {
  MRCLAB_NEXT(pthread_mutex_lock);
  int error = 0;
  if (contends() && acquire(
                        mutex, kNever, [&] { return pthread_mutex_trylock(mutex); }, error))
    return error;
  return real(mutex);
}

int unlock_mutex(pthread_mutex_t* mutex) {
  MRCLAB_NEXT(pthread_mutex_unlock);
  const int error = real(mutex);
  if (error == 0 && contends()) wake(mutex, 1);
  return error;
}

/// Waits on a condition: 0, or ETIMEDOUT. It may return without a signal, as conditions may.
int await_condition(pthread_cond_t* condition, pthread_mutex_t* mutex, uint64_t until_ps) {
  spend_call();
  int error = unlock_mutex(mutex);
  if (error != 0) return error;
  Wait wait;
  wait.object = condition;
  wait.until_ps = until_ps;
  const Woken woken = block(wait);
  error = lock_mutex(mutex);
  pthread_testcancel();  // with the mutex, as its cleanup expects
  if (error != 0) return error;
  return woken == Woken::kTime ? ETIMEDOUT : 0;
}

}  // namespace
}  // namespace mrclab::verbs::held

using namespace mrclab::verbs::held;

MRCLAB_EXPORT int pthread_mutex_lock(pthread_mutex_t* mutex) noexcept {
  const Entry entry;
  return lock_mutex(mutex);
}

MRCLAB_EXPORT int pthread_mutex_unlock(pthread_mutex_t* mutex) noexcept {
  const Entry entry;
  return unlock_mutex(mutex);
}

MRCLAB_EXPORT int pthread_mutex_timedlock(pthread_mutex_t* mutex, const timespec* until) noexcept {
  const Entry entry;
  MRCLAB_NEXT(pthread_mutex_timedlock);
  int error = 0;
  if (contends() &&
      acquire(
          mutex, until_of_clock(*until), [&] { return pthread_mutex_trylock(mutex); }, error))
    return error;
  return real(mutex, until);
}

MRCLAB_EXPORT int pthread_mutex_clocklock(pthread_mutex_t* mutex, clockid_t clock,
                                          const timespec* until) noexcept {
  const Entry entry;
  MRCLAB_NEXT(pthread_mutex_clocklock);
  int error = 0;
  if (contends() &&
      acquire(
          mutex, until_of_clock(*until), [&] { return pthread_mutex_trylock(mutex); }, error))
    return error;
  return real(mutex, clock, until);
}

MRCLAB_EXPORT int pthread_cond_wait(pthread_cond_t* condition, pthread_mutex_t* mutex) {
  const Entry entry;
  if (held()) return await_condition(condition, mutex, kNever);
  static decltype(::pthread_cond_wait)* real = nullptr;
  return next_of_version(real, "pthread_cond_wait")(condition, mutex);
}

MRCLAB_EXPORT int pthread_cond_timedwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                         const timespec* until) {
  const Entry entry;
  if (held()) return await_condition(condition, mutex, until_of_clock(*until));
  static decltype(::pthread_cond_timedwait)* real = nullptr;
  return next_of_version(real, "pthread_cond_timedwait")(condition, mutex, until);
}

MRCLAB_EXPORT int pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex,
                                         clockid_t clock, const timespec* until) {
  const Entry entry;
  if (held()) return await_condition(condition, mutex, until_of_clock(*until));
  MRCLAB_NEXT(pthread_cond_clockwait);
  return real(condition, mutex, clock, until);
}

// The real ones, too: a thread may wait really since before the program was held, or since it is not any longer.
MRCLAB_EXPORT int pthread_cond_signal(pthread_cond_t* condition) noexcept {
  const Entry entry;
  if (contends()) wake(condition, 1);
  static decltype(::pthread_cond_signal)* real = nullptr;
  return next_of_version(real, "pthread_cond_signal")(condition);
}

MRCLAB_EXPORT int pthread_cond_broadcast(pthread_cond_t* condition) noexcept {
  const Entry entry;
  if (contends()) wake(condition);
  static decltype(::pthread_cond_broadcast)* real = nullptr;
  return next_of_version(real, "pthread_cond_broadcast")(condition);
}

MRCLAB_EXPORT int sem_wait(sem_t* semaphore) {
  const Entry entry;
  int error = 0;
  const auto take = [&] { return sem_trywait(semaphore) == 0 ? 0 : EBUSY; };
  if (held() && acquire(semaphore, kNever, take, error, true)) return 0;
  MRCLAB_NEXT(sem_wait);
  return real(semaphore);
}

MRCLAB_EXPORT int sem_timedwait(sem_t* semaphore, const timespec* until) {
  const Entry entry;
  int error = 0;
  const auto take = [&] { return sem_trywait(semaphore) == 0 ? 0 : EBUSY; };
  if (held() && acquire(semaphore, until_of_clock(*until), take, error, true))
    return error == 0 ? 0 : failed(error);
  MRCLAB_NEXT(sem_timedwait);
  return real(semaphore, until);
}

MRCLAB_EXPORT int sem_clockwait(sem_t* semaphore, clockid_t clock, const timespec* until) {
  const Entry entry;
  int error = 0;
  const auto take = [&] { return sem_trywait(semaphore) == 0 ? 0 : EBUSY; };
  if (held() && acquire(semaphore, until_of_clock(*until), take, error, true))
    return error == 0 ? 0 : failed(error);
  MRCLAB_NEXT(sem_clockwait);
  return real(semaphore, clock, until);
}

MRCLAB_EXPORT int sem_post(sem_t* semaphore) noexcept {
  const Entry entry;
  MRCLAB_NEXT(sem_post);
  const int result = real(semaphore);
  if (result == 0 && contends()) wake(semaphore, 1);
  return result;
}

MRCLAB_EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t* lock) noexcept {
  const Entry entry;
  MRCLAB_NEXT(pthread_rwlock_rdlock);
  int error = 0;
  if (contends() && acquire(
                        lock, kNever, [&] { return pthread_rwlock_tryrdlock(lock); }, error))
    return error;
  return real(lock);
}

MRCLAB_EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t* lock) noexcept {
  const Entry entry;
  MRCLAB_NEXT(pthread_rwlock_wrlock);
  int error = 0;
  if (contends() && acquire(
                        lock, kNever, [&] { return pthread_rwlock_trywrlock(lock); }, error))
    return error;
  return real(lock);
}

MRCLAB_EXPORT int pthread_rwlock_unlock(pthread_rwlock_t* lock) noexcept {
  const Entry entry;
  MRCLAB_NEXT(pthread_rwlock_unlock);
  const int error = real(lock);
  if (error == 0 && contends()) wake(lock);
  return error;
}

MRCLAB_EXPORT int pthread_spin_lock(pthread_spinlock_t* lock) noexcept {
  const Entry entry;
  MRCLAB_NEXT(pthread_spin_lock);
  int error = 0;
  if (contends() &&
      acquire(
          const_cast<int*>(lock), kNever, [&] { return pthread_spin_trylock(lock); }, error))
    return error;
  return real(lock);
}

MRCLAB_EXPORT int pthread_spin_unlock(pthread_spinlock_t* lock) noexcept {
  const Entry entry;
  MRCLAB_NEXT(pthread_spin_unlock);
  const int error = real(lock);
  if (contends()) wake(const_cast<int*>(lock), 1);
  return error;
}
