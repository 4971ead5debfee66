// What the verbs library calls: requests over the link, at the program's fabric time.

#include <linux/futex.h>
#include <poll.h>
#include <signal.h>

#include <cstring>

#include "verbs/held/baton.h"
#include "verbs/held/descriptors.h"
#include "verbs/held/link.h"
#include "verbs/held/next.h"
#include "verbs/held/program.h"
#include "verbs/held/raw.h"

namespace mrclab::verbs::held {
namespace {

constexpr uint64_t kPollFirstPs = 50'000;           // 50 ns
constexpr uint64_t kPollLongestPs = 1'000'000'000;  // 1 ms

/// In kWall threads run at once: requests take turns. In kHeld the baton sees to that.
class WallTurn {
 public:
  WallTurn() {
    while (busy_.exchange(1, std::memory_order_acquire) != 0)
      raw(SYS_futex, word(&busy_), FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 1);
  }
  ~WallTurn() {
    busy_.store(0, std::memory_order_release);
    raw(SYS_futex, word(&busy_), FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1);
  }

 private:
  inline static std::atomic<int> busy_;
};

/// A run that is over closes the links and then ends whoever still waits: what the program would print in between would be
/// in its output or not as this machine likes. Where only the host died, it goes on a little later.
void wait_to_be_ended() {
  constexpr uint64_t kLongestNs = 2'000'000'000;
  const uint64_t until = machine_ns() + kLongestNs;
  for (uint64_t now = machine_ns(); now < until; now = machine_ns()) {
    const timespec rest{static_cast<time_t>((until - now) / 1'000'000'000),
                        static_cast<long>((until - now) % 1'000'000'000)};
    raw(SYS_nanosleep, word(&rest), 0);
  }
}

void break_link(const char* why) {
  if (program.link < 0) return;
  raw(SYS_close, program.link);
  program.link = -1;
  say(why, "; this program goes on in the time of this machine, without its host");
  leave_held_time();
}

int exchange(const RequestHeader& head, const void* request, void* reply, uint32_t reply_room,
             int* descriptors) {
  if (program.link < 0) return EIO;
  int error =
      send_message(program.link, &head, sizeof head,
                   static_cast<const char*>(request) + sizeof head, head.size - sizeof head, -1);
  const long size =
      error == 0 ? receive_message(program.link, reply, reply_room, descriptors) : -EPIPE;
  if (size < 0 && size != -EMSGSIZE) {
    if (held()) wait_to_be_ended();
    break_link("the host's side of the lab is gone");
    return EIO;
  }
  ReplyHeader answer{};
  if (size >= static_cast<long>(sizeof answer)) std::memcpy(&answer, reply, sizeof answer);
  const bool whole = answer.status != 0 || size == static_cast<long>(reply_room);
  if (size < static_cast<long>(sizeof answer) || answer.op != head.op || !whole ||
      answer.now_ps < program.now_ps) {
    break_link("the host's side of the lab sent no valid answer");
    return EPROTO;
  }
  program.now_ps = answer.now_ps;
  program.spent_ps = 0;
  program.rate = answer.rate;
  program.replied_ns = machine_ns();
  return answer.status;
}

}  // namespace

int transact(const void* request, void* reply, uint32_t reply_room, int* descriptors) {
  RequestHeader head;
  std::memcpy(&head, request, sizeof head);
  if (head.size < sizeof head || head.size > kMaxMessage || reply_room < sizeof(ReplyHeader))
    return EINVAL;
  head.thread = 0;
  head.spent_ps = program.spent_ps;
  switch (program.standing.load(std::memory_order_acquire)) {
    case Standing::kHeld: {
      if (program.inside > 0) return EBUSY;
      ++program.inside;
      const int status = exchange(head, request, reply, reply_room, descriptors);
      --program.inside;
      // Only programs in this machine's time have a rate: the server holds this one no longer.
      if (program.rate != 0 && head.op != Op::kNotHeld && status != EIO && status != EPROTO) {
        say("the host's side of the lab does not hold this program any longer");
        leave_held_time();
      }
      return status;
    }
    case Standing::kWall: {
      WallTurn turn;
      head.spent_ps = 0;
      return exchange(head, request, reply, reply_room, descriptors);
    }
    default: return EIO;
  }
}

namespace {

/// What a request that only lets time pass becomes where others wait, too: a part of the wait of all.
bool is_wait(const RequestHeader& head) {
  if (head.op == Op::kNextEvent) return true;
  return (head.op == Op::kPollEmpty || head.op == Op::kWait) &&
         (has_other_threads() || program.alarm_ps != kNever);
}

int wait_in_place_of(const RequestHeader& head, const void* request, void* reply,
                     uint32_t reply_room) {
  Wait wait;
  wait.memory = true;
  if (head.op == Op::kNextEvent) wait.spin = true;
  if (head.op == Op::kPollEmpty && head.size >= sizeof head + sizeof(PollRequest)) {
    PollRequest poll;
    std::memcpy(&poll, static_cast<const char*>(request) + sizeof head, sizeof poll);
    wait.until_ps = now_ps() + growing_ps(poll.in_a_row);
  } else if (head.op == Op::kWait && head.size >= sizeof head + sizeof(WaitRequest)) {
    WaitRequest asked;
    std::memcpy(&asked, static_cast<const char*>(request) + sizeof head, sizeof asked);
    wait.until_ps = asked.until_ps;
  }
  if (block(wait) == Woken::kNotHeld) return EIO;
  ReplyHeader answer{};
  answer.op = head.op;
  answer.size = reply_room;
  answer.now_ps = now_ps();
  std::memset(reply, 0, reply_room);
  std::memcpy(reply, &answer, sizeof answer);
  return 0;
}

}  // namespace

uint64_t growing_ps(uint32_t in_a_row) {
  const uint32_t doublings = in_a_row / 32;
  if (doublings > 14) return kPollLongestPs;
  const uint64_t base = kPollFirstPs << doublings;
  const uint64_t ps = base + base * (in_a_row % 32) /
                                 32;  // straight between two doublings, as the host's side has it
  return ps < kPollLongestPs ? ps : kPollLongestPs;
}

void spend(uint64_t ps) {
  if (program.standing.load(std::memory_order_relaxed) != Standing::kHeld || program.inside > 0)
    return;
  program.spent_ps += ps;
  if (!has_baton()) {
    if (this_thread_number() == kMaxThreads)
      not_held(__builtin_return_address(0), "has a thread that did not begin by pthread_create");
    return;
  }
  if (program.spent_ps < kSpendMaxPs && now_ps() < program.alarm_ps) return;
  struct {
    RequestHeader header;
    WaitRequest wait;
  } request{};
  request.header.op = Op::kAdvance;
  request.header.size = sizeof request;
  request.wait.until_ps = now_ps();
  ReplyHeader answer{};
  if (transact(&request, &answer, sizeof answer, nullptr) == 0) raise_alarm_if_due();
}

bool raise_alarm_if_due() {
  if (now_ps() < program.alarm_ps) return false;
  // The first thread gets it, another one after the first has ended; a thread that is not meant goes on.
  if (this_thread_number() != 0 && !ended(0)) return false;
  program.alarm_ps =
      program.alarm_every_ps == 0 ? kNever : program.alarm_ps + program.alarm_every_ps;
  raw(SYS_tgkill, program.real_pid, raw(SYS_gettid), SIGALRM);
  return true;
}

int call(const void* request, void* reply, uint32_t reply_room, int* descriptors) {
  RequestHeader head;
  std::memcpy(&head, request, sizeof head);
  if (held()) {
    if (!has_baton()) {
      if (this_thread_number() != kMaxThreads) return EBUSY;
      not_held(__builtin_return_address(0), "has a thread that did not begin by pthread_create");
    } else {
      raise_alarm_if_due();
      if (is_wait(head)) return wait_in_place_of(head, request, reply, reply_room);
    }
  }
  int received[kMaxDescriptors];
  const int status = transact(request, reply, reply_room, received);
  for (uint32_t i = 0; i < kMaxDescriptors; ++i) {
    if (received[i] >= 0 && head.op == Op::kCreateChannel) watch_events(received[i]);
    if (descriptors != nullptr) {
      descriptors[i] = received[i];
    } else if (received[i] >= 0) {
      raw(SYS_close, received[i]);
    }
  }
  return status;
}

namespace {

int link_attach(const HelloReply** hello, WorkRing** work, int* events) {
  attach();
  switch (program.standing.load(std::memory_order_acquire)) {
    case Standing::kHeld:
    case Standing::kWall: break;
    case Standing::kChild: return EIO;
    default: return ENOENT;
  }
  if (program.link < 0) return EIO;
  *hello = &program.hello;
  *work = program.work;
  *events = program.events;
  return 0;
}

uint64_t link_now_ps() {
  switch (program.standing.load(std::memory_order_acquire)) {
    case Standing::kHeld: return now_ps();
    case Standing::kWall:
      return program.now_ps + (machine_ns() - program.replied_ns) * program.rate / 1000;
    default: return 0;
  }
}

int link_broken() {
  if (program.link < 0) return EIO;
  if (program.standing.load(std::memory_order_acquire) == Standing::kHeld) return 0;
  pollfd one{program.link, 0, 0};
  return poll_now(&one, 1) > 0 ? EIO : 0;
}

Mode link_mode() {
  return program.standing.load(std::memory_order_acquire) == Standing::kHeld ? Mode::kHeld
                                                                             : Mode::kWall;
}

constexpr ProgramLink kLink = {kProgramLinkVersion, sizeof(ProgramLink),
                               link_attach,         call,
                               link_now_ps,         spend,
                               link_broken,         link_mode};

}  // namespace
}  // namespace mrclab::verbs::held

MRCLAB_EXPORT const mrclab::verbs::ProgramLink* mrclab_program_link() {
  return &mrclab::verbs::held::kLink;
}
