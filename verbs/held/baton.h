#pragma once
// The threads of a held program: one runs at a time, the one that has the baton. Whoever has to wait gives it to the
// lowest-numbered thread that can go on; if there is none, it asks the server to let time pass until one of all waiting
// threads can. So the order in which threads run depends on nothing but the program and fabric time, and the server has
// one waiting party, however many threads wait.

#include <poll.h>
#include <pthread.h>

#include <atomic>
#include <cstdint>

#include "verbs/held/program.h"

namespace mrclab::verbs::held {

inline constexpr uint32_t kMaxThreads = 64;
/// Sockets that one thread waits for, and all together.
inline constexpr uint32_t kMaxWaited = sizeof(WaitRequest::handles) / sizeof(uint32_t);

/// What a thread waits for; whatever comes first. Lives on the waiting thread's stack.
struct Wait {
  uint64_t until_ps = kNever;
  bool memory = false;           ///< an inbound write, a completion, an event
  bool spin = false;             ///< as `memory`, and what other threads do
  bool cancels = false;          ///< a cancelled thread ends here
  const void* object = nullptr;  ///< a lock, a thread: until wake(object)
  pollfd* files =
      nullptr;  ///< descriptors of the process itself, or of channels: until one is ready
  uint32_t file_count = 0;
  uint32_t socket_count = 0;
  uint32_t sockets[kMaxWaited];
};

enum class Woken {
  kTime,     ///< until_ps has come
  kReady,    ///< what was waited for may have come: look
  kSignal,   ///< a signal was handled
  kNotHeld,  ///< time is this machine's now: wait in its way
};

/// Waits. Held programs only, in a thread that `this_thread_number` knows.
Woken block(Wait& wait);
/// The threads that wait for `object` can go on: the first `count` of them, in the order in which they began to wait. How
/// many there were.
uint32_t wake(const void* object, uint32_t count = UINT32_MAX);
/// The thread is to be cancelled: if it waits, it goes on, and ends where it may.
void wake_thread(uint32_t number);
/// Others than the running thread exist: what lets time pass must go by block().
bool has_other_threads();
/// The calling thread has the baton: false in a signal handler that came while it waited.
bool has_baton();
/// Number of the calling thread; kMaxThreads for one that this library has not seen begin.
uint32_t this_thread_number();

/// The first thread, at attach.
void adopt_first_thread();
/// A place for a new thread; kMaxThreads if there is none. It can run when the caller gives up the baton.
uint32_t begin_thread();
/// In the new thread: waits for its turn.
void enter_thread(uint32_t number);
/// At the end of a thread: whoever can go on does. `forget`: nobody will ask for its end.
void end_thread(bool forget);
/// The number is free: the thread could not be made, or its end was seen.
void forget_thread(uint32_t number);
/// Object to wait for the end of a thread, which ended() states.
const void* end_of(uint32_t number);
bool ended(uint32_t number);
/// Every thread runs from now on; the baton means nothing any longer.
void release_all_threads();

}  // namespace mrclab::verbs::held
