#pragma once
// A mutex of POSIX and who holds it. The held library interposes the functions of pthread, by which threads of a held
// program wait for each other in a fixed order; nothing in the verbs library spins on a lock.

#include <pthread.h>

#include <new>

namespace mrclab::verbs {

/// Never destroyed: on Linux nothing has to be, and one of the library's own may still be in use when the process ends.
class Mutex {
 public:
  constexpr Mutex() = default;
  Mutex(const Mutex&) = delete;
  Mutex& operator=(const Mutex&) = delete;
  void lock() { pthread_mutex_lock(&mutex_); }
  bool try_lock() { return pthread_mutex_trylock(&mutex_) == 0; }
  void unlock() { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
};

class Guard {
 public:
  explicit Guard(Mutex& mutex) : mutex_(mutex) { mutex_.lock(); }
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard() { mutex_.unlock(); }

 private:
  Mutex& mutex_;
};

/// A new object, or null: nothing here throws.
template <typename T>
T* make() {
  return new (std::nothrow) T{};
}

}  // namespace mrclab::verbs
