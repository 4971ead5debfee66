#include "verbs/held/baton.h"

#include <linux/futex.h>
#include <unistd.h>

#include <climits>

#include "verbs/held/raw.h"

namespace mrclab::verbs::held {
namespace {

/// Waits of one thread at one instant. More of them, and what ends them is not what the thread looks for (it waits for
/// room in a socket that has data, say): then time passes between them.
constexpr uint32_t kAgainMax = 1'000;

enum class State { kFree, kReady, kRuns, kWaits, kEnded };

struct Thread {
  State state;
  std::atomic<int> turn;  ///< a futex: 1 when the baton is handed over
  Wait* wait;
  Woken woken;
  uint64_t since;  ///< order in which threads began to wait
  uint64_t progress;
  uint64_t instant_ps;  ///< of its last wait
  uint32_t again;       ///< waits at that instant
};

Thread threads[kMaxThreads];
uint32_t highest;   ///< places in use are below
uint64_t waits;     ///< counts calls of block()
uint64_t progress;  ///< counts threads that went on for another reason than a spin
thread_local uint32_t self = kMaxThreads;

void futex_wake(std::atomic<int>& word) {
  raw(SYS_futex, held::word(&word), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, INT_MAX);
}

void hand_to(uint32_t number) {
  threads[number].turn.store(1, std::memory_order_release);
  futex_wake(threads[number].turn);
}

void await_turn(uint32_t number) {
  std::atomic<int>& turn = threads[number].turn;
  while (turn.exchange(0, std::memory_order_acquire) != 1)
    raw(SYS_futex, word(&turn), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0);
}

void make_ready(Thread& thread, Woken why) {
  thread.state = State::kReady;
  thread.woken = why;
}

bool files_ready(const Wait& wait) {
  return wait.file_count > 0 && poll_now(wait.files, wait.file_count) > 0;
}

/// Threads whose conditions hold by what can be seen without the server.
void look_around() {
  for (uint32_t i = 0; i < highest; ++i) {
    Thread& thread = threads[i];
    if (thread.state != State::kWaits) continue;
    if (thread.wait->until_ps <= now_ps()) {
      make_ready(thread, Woken::kTime);
    } else if (files_ready(*thread.wait) || (thread.wait->spin && thread.progress != progress)) {
      make_ready(thread, Woken::kReady);
    }
  }
}

uint32_t lowest_ready() {
  for (uint32_t i = 0; i < highest; ++i)
    if (threads[i].state == State::kReady) return i;
  return kMaxThreads;
}

/// Who gets SIGALRM: the first thread, as long as it lives.
uint32_t alarm_receiver() { return threads[0].state == State::kEnded ? self : 0; }

struct WaitMessage {
  RequestHeader header;
  WaitRequest wait;
};
struct WaitAnswer {
  ReplyHeader header;
  WaitReply wait;
};

/// Lets time pass until one of the waiting threads can go on. False: the program is held no longer.
bool wait_for_all() {
  WaitMessage request{};
  request.header.op = Op::kWait;
  request.header.size = sizeof request;
  request.wait.until_ps = program.alarm_ps;
  for (uint32_t i = 0; i < highest; ++i) {
    const Thread& thread = threads[i];
    if (thread.state != State::kWaits) continue;
    const Wait& wait = *thread.wait;
    if (wait.until_ps < request.wait.until_ps) request.wait.until_ps = wait.until_ps;
    if (wait.memory || wait.spin || wait.file_count > 0) request.wait.memory = 1;
    for (uint32_t s = 0; s < wait.socket_count; ++s) {
      if (request.wait.count == kMaxWaited) {
        not_held(nullptr, "waits for more than 64 sockets at once");
        return false;
      }
      request.wait.handles[request.wait.count++] = wait.sockets[s];
    }
  }
  WaitAnswer answer{};
  const uint64_t from = now_ps();
  if (transact(&request, &answer, sizeof answer, nullptr) != 0) {
    if (program.standing.load() == Standing::kHeld) not_held(nullptr, "the server refused to wait");
    return false;
  }
  if (now_ps() > from) program.waited_ps += now_ps() - from;
  const uint32_t count = answer.wait.count < kMaxWaited ? answer.wait.count : kMaxWaited;
  for (uint32_t i = 0; i < highest; ++i) {
    Thread& thread = threads[i];
    if (thread.state != State::kWaits) continue;
    const Wait& wait = *thread.wait;
    bool ready = (wait.memory || wait.spin) && wait.until_ps > now_ps();
    for (uint32_t r = 0; r < count && !ready; ++r) {
      if (answer.wait.ready[r] >= request.wait.count) continue;
      for (uint32_t s = 0; s < wait.socket_count; ++s)
        ready = ready || wait.sockets[s] == request.wait.handles[answer.wait.ready[r]];
    }
    if (ready) make_ready(thread, Woken::kReady);
  }
  return true;
}

/// The next thread that can go on; lets time pass for it. kMaxThreads: held no longer.
uint32_t next_thread() {
  while (program.standing.load(std::memory_order_acquire) == Standing::kHeld) {
    look_around();
    const uint32_t receiver = alarm_receiver();
    if (now_ps() >= program.alarm_ps && receiver < highest &&
        threads[receiver].state == State::kWaits)
      make_ready(threads[receiver], Woken::kSignal);
    const uint32_t next = lowest_ready();
    if (next != kMaxThreads) return next;
    if (!wait_for_all()) break;
  }
  return kMaxThreads;
}

}  // namespace

Woken block(Wait& wait) {
  if (program.standing.load(std::memory_order_acquire) != Standing::kHeld) return Woken::kNotHeld;
  if (self == kMaxThreads) {
    not_held(__builtin_return_address(0), "has a thread that did not begin by pthread_create");
    return Woken::kNotHeld;
  }
  if (!has_baton()) return Woken::kSignal;
  Thread& me = threads[self];
  if (raise_alarm_if_due()) return Woken::kSignal;
  me.again = me.instant_ps == now_ps() ? me.again + 1 : 0;
  me.instant_ps = now_ps();
  Wait slow;
  if (me.again > kAgainMax) {
    slow.until_ps = now_ps() + growing_ps(me.again - kAgainMax);
    slow.object = wait.object;
    if (wait.until_ps < slow.until_ps) slow.until_ps = wait.until_ps;
  }
  me.wait = me.again > kAgainMax ? &slow : &wait;
  me.state = State::kWaits;
  me.since = ++waits;
  me.progress = progress;
  const uint32_t next = next_thread();
  if (next == kMaxThreads) return Woken::kNotHeld;
  if (next != self) {
    hand_to(next);
    await_turn(self);
    if (program.standing.load(std::memory_order_acquire) != Standing::kHeld) return Woken::kNotHeld;
  }
  me.state = State::kRuns;
  if (!wait.spin) ++progress;
  if (wait.cancels) pthread_testcancel();
  if (raise_alarm_if_due()) return Woken::kSignal;
  return me.woken == Woken::kSignal ? Woken::kReady : me.woken;
}

uint32_t wake(const void* object, uint32_t count) {
  for (uint32_t woken = 0; woken < count; ++woken) {
    Thread* first = nullptr;
    for (uint32_t i = 0; i < highest; ++i) {
      Thread& thread = threads[i];
      if (thread.state == State::kWaits && thread.wait->object == object &&
          (first == nullptr || thread.since < first->since))
        first = &thread;
    }
    if (first == nullptr) return woken;
    make_ready(*first, Woken::kReady);
  }
  return count;
}

void wake_thread(uint32_t number) {
  if (threads[number].state == State::kWaits) make_ready(threads[number], Woken::kReady);
}

bool has_other_threads() {
  for (uint32_t i = 0; i < highest; ++i) {
    if (i != self && threads[i].state != State::kFree && threads[i].state != State::kEnded)
      return true;
  }
  return false;
}

bool has_baton() { return self != kMaxThreads && threads[self].state == State::kRuns; }
uint32_t this_thread_number() { return self; }

void adopt_first_thread() {
  self = 0;
  highest = 1;
  threads[0].state = State::kRuns;
}

uint32_t begin_thread() {
  for (uint32_t i = 0; i < kMaxThreads; ++i) {
    if (threads[i].state != State::kFree) continue;
    threads[i].turn.store(0);
    make_ready(threads[i], Woken::kReady);
    if (i >= highest) highest = i + 1;
    return i;
  }
  return kMaxThreads;
}

void enter_thread(uint32_t number) {
  self = number;
  await_turn(number);
  threads[number].state = State::kRuns;
  ++progress;
}

void end_thread(bool forget) {
  if (self == kMaxThreads || program.standing.load() != Standing::kHeld) return;
  threads[self].state = forget ? State::kFree : State::kEnded;
  wake(&threads[self]);
  const uint32_t next = next_thread();
  if (next != kMaxThreads) hand_to(next);
}

void forget_thread(uint32_t number) { threads[number].state = State::kFree; }
const void* end_of(uint32_t number) { return &threads[number]; }
bool ended(uint32_t number) { return threads[number].state == State::kEnded; }

void release_all_threads() {
  for (uint32_t i = 0; i < highest; ++i) {
    if (i != self) hand_to(i);
  }
}

}  // namespace mrclab::verbs::held
