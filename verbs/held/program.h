#pragma once
// What this process is to its lab: a held program, or none. One object per process, without a constructor; whoever
// holds the baton (baton.h) may use it, which before the second thread is everybody.
//
//   kUnknown ── first call for which fabric time matters ──> kElsewhere   not declared, or no server
//                                                        ──> kHeld        its time is its host's
//                                                        ──> kWall        the server offers no more
//   kHeld    ── cannot be held, or the server is gone ─────> kWall        clocks go on from where they stood
//   any      ── fork ──────────────────────────────────────> kChild       no connection; clocks as in kWall

#include <atomic>
#include <cstdint>

#include "verbs/client/program_link.h"

namespace mrclab::verbs::held {

enum class Standing : int { kUnknown, kAttaching, kElsewhere, kHeld, kWall, kChild };

inline constexpr uint64_t kNever = UINT64_MAX;
/// How much a program may use up by itself before the server is asked, and so by how much an alarm or a thread that
/// waits can be late: a fifth of a millisecond's tick of a kernel would be more.
inline constexpr uint64_t kSpendMaxPs = 100'000'000;

struct Program {
  std::atomic<Standing> standing;
  int link;    ///< -1: broken
  int events;  ///< descriptor of asynchronous events
  WorkRing* work;
  HelloReply hello;
  uint64_t now_ps;       ///< of the last reply
  uint64_t spent_ps;     ///< since then
  uint64_t waited_ps;    ///< passed in waiting: no CPU time
  uint64_t attached_ps;  ///< when the hello was answered
  uint64_t alarm_ps;     ///< of SIGALRM; kNever: none
  uint64_t alarm_every_ps;
  uint64_t rate;        ///< kWall: of the last reply
  uint64_t replied_ns;  ///< this machine's CLOCK_MONOTONIC at the last reply in kWall
  bool was_held;        ///< its clocks are the fabric's, or go on from there
  uint64_t left_ns;     ///< CLOCK_MONOTONIC of this machine when it ceased to be held
  int inside;           ///< a request is on its way: a signal handler must not send another
  int real_pid;
};
extern Program program;

/// True while the program's time is the fabric's. The first call connects; it returns when the server has answered,
/// which is when all declared programs of the lab are there.
bool attach();
inline bool held() {
  const Standing standing = program.standing.load(std::memory_order_acquire);
  return standing == Standing::kHeld || (standing == Standing::kUnknown && attach());
}
/// The same, for calls that wrappers (a shell, env) make, too: they attach only a program that is declared by name.
bool held_by_name();
/// Fabric time of a held program.
inline uint64_t now_ps() { return program.now_ps + program.spent_ps; }
/// The same in nanoseconds, and how it goes on when the program is held no longer. Only if `was_held`.
uint64_t program_ns();

/// One request over the link (program_link.h, call()). Descriptors of channels are watched.
int call(const void* request, void* reply, uint32_t reply_room, int* descriptors);
/// The same without alarms and other threads: what the baton itself sends.
int transact(const void* request, void* reply, uint32_t reply_room, int* descriptors);
/// The program used up `ps`; asks the server when that has become much. SIGALRM may be raised in it.
void spend(uint64_t ps);
/// Cost of a call that this library answers or passes on.
inline void spend_call() { spend(program.hello.cost_call_ps); }
/// What the n-th vain look in a row costs: 50 ns, doubled every 32, at most 1 ms. Loops that look again and again get
/// somewhere, and stay exact because the first thing that happens ends the wait.
uint64_t growing_ps(uint32_t in_a_row);
/// Raises SIGALRM if its fabric time has come and this thread is the one that gets it. True: it was raised.
bool raise_alarm_if_due();

/// The program cannot be held: a line on stderr and to the server, with `address`, where it was noticed; from now on it
/// lives in this machine's time. Safe in signal handlers.
void not_held(const void* address, const char* why);
/// The clocks go on from where they stand, at this machine's pace, and every waiting thread runs.
void leave_held_time();
/// After fork, in the child.
void become_child();

/// The program ends at this instant by what it does itself. To the server one that says nothing was ended from outside.
/// Its other threads stay where they are. Safe in handlers of its own signals. False: it was not held, or is in a call.
bool tell_end();
/// The same if this signal, which the program is about to give itself, ends it.
void tell_if_ending(int number);

/// "mrclab: `text``more`" on stderr, past the C library.
void say(const char* text, const char* more = "");
/// CLOCK_MONOTONIC of this machine.
uint64_t machine_ns();

}  // namespace mrclab::verbs::held
