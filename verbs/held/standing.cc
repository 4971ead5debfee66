// How a program's standing changes (program.h): at its first call, when it cannot be held, in a fork's child, at its end.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

#include "verbs/held/baton.h"
#include "verbs/held/children.h"
#include "verbs/held/descriptors.h"
#include "verbs/held/link.h"
#include "verbs/held/program.h"
#include "verbs/held/raw.h"
#include "verbs/held/traps.h"

namespace mrclab::verbs::held {
namespace {

const char* last_part(const char* path) {
  const char* const slash = std::strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

/// The program that the lab holds by name is this one. By what was executed, or how it was called: python3 is a link.
bool is_declared() {
  const char* const name = getenv("MRCLAB_PROGRAM");
  if (name == nullptr || *name == 0) return true;
  char path[256] = {};
  const long length = raw(SYS_readlink, word("/proc/self/exe"), word(path), sizeof path - 1);
  return (length > 0 && std::strcmp(last_part(path), name) == 0) ||
         std::strcmp(program_invocation_short_name, name) == 0;
}

struct HelloMessage {
  RequestHeader header;
  HelloRequest hello;
};
struct HelloAnswer {
  ReplyHeader header;
  HelloReply hello;
};

/// The hello and its answer. What this process becomes.
Standing greet(int link) {
  HelloMessage request{};
  request.header.op = Op::kHello;
  request.header.size = sizeof request;
  request.hello.version = kProtocolVersion;
  request.hello.process = static_cast<uint32_t>(program.real_pid);
  std::strncpy(request.hello.program, program_invocation_short_name,
               sizeof request.hello.program - 1);
  const long memory = raw(SYS_openat, AT_FDCWD, word("/proc/self/mem"), O_RDWR | O_CLOEXEC);
  int error = send_message(link, &request, sizeof request, nullptr, 0, static_cast<int>(memory));
  if (memory >= 0) raw(SYS_close, memory);
  if (error != 0) return Standing::kElsewhere;
  HelloAnswer answer{};
  int descriptors[kMaxDescriptors];
  const long size = receive_message(link, &answer, sizeof answer, descriptors);
  if (size != static_cast<long>(sizeof answer) || answer.header.status != 0 ||
      answer.hello.version != kProtocolVersion || descriptors[1] < 0) {
    say(size == -EPIPE ? "the host's side of the lab refused this program"
                       : "the host's side of the lab is of another build");
    return Standing::kElsewhere;
  }
  const long work =
      raw(SYS_mmap, 0, sizeof(WorkRing), PROT_READ | PROT_WRITE, MAP_SHARED, descriptors[0], 0);
  raw(SYS_close, descriptors[0]);
  if (work < 0 && work > -4096) return Standing::kElsewhere;
  program.work = reinterpret_cast<WorkRing*>(work);
  program.events = descriptors[1];
  program.hello = answer.hello;
  program.hello.host[sizeof program.hello.host - 1] = 0;
  program.hello.device[sizeof program.hello.device - 1] = 0;
  program.now_ps = program.attached_ps = answer.header.now_ps;
  program.rate = answer.header.rate;
  program.replied_ns = machine_ns();
  return answer.hello.mode == Mode::kHeld ? Standing::kHeld : Standing::kWall;
}

Standing connect_and_greet() {
  if (!is_declared()) return Standing::kElsewhere;
  const char* path = getenv(kSocketVariable);
  if (path == nullptr || *path == 0) path = kSocketPath;
  const int link = connect_link(path);
  if (link < 0) return Standing::kElsewhere;
  const Standing became = greet(link);
  if (became == Standing::kElsewhere) {
    raw(SYS_close, link);
    return became;
  }
  program.link = link;
  watch_events(program.events);
  if (became == Standing::kHeld) {
    program.was_held = true;
    expect_forks();
    // What this program executes is no program of the lab's, unless somebody declares it anew.
    setenv("MRCLAB_PROGRAM", "/", 1);
  }
  return became;
}

}  // namespace

bool held_by_name() {
  if (program.standing.load(std::memory_order_acquire) != Standing::kUnknown) return held();
  const char* const name = getenv("MRCLAB_PROGRAM");
  return name != nullptr && *name != 0 && attach();
}

bool attach() {
  Standing expected = Standing::kUnknown;
  if (program.standing.compare_exchange_strong(expected, Standing::kAttaching)) {
    const int saved = errno;
    program.link = program.events = -1;
    program.alarm_ps = kNever;
    program.real_pid = static_cast<int>(raw(SYS_getpid));
    adopt_first_thread();
    const Standing became = connect_and_greet();
    program.standing.store(became, std::memory_order_release);
    if (became == Standing::kHeld) begin_traps();
    errno = saved;
  } else if (expected == Standing::kAttaching && this_thread_number() == kMaxThreads) {
    // Another thread connects. The one that connects comes here, too, when what it calls calls us: it passes.
    while (program.standing.load(std::memory_order_acquire) == Standing::kAttaching)
      raw(SYS_sched_yield);
  }
  return program.standing.load(std::memory_order_acquire) == Standing::kHeld;
}

void not_held(const void* address, const char* why) {
  if (program.standing.load(std::memory_order_acquire) != Standing::kHeld) return;
  say("this program cannot be held in fabric time: it ", why);
  struct {
    RequestHeader header;
    NotHeldRequest what;
  } request{};
  request.header.op = Op::kNotHeld;
  request.header.size = sizeof request;
  request.what.address = reinterpret_cast<uint64_t>(address);
  request.what.thread = this_thread_number();
  std::strncpy(request.what.why, why, sizeof request.what.why - 1);
  ReplyHeader answer{};
  if (program.inside == 0) transact(&request, &answer, sizeof answer, nullptr);
  leave_held_time();
}

void leave_held_time() {
  Standing expected = Standing::kHeld;
  program.left_ns = machine_ns();
  program.replied_ns = program.left_ns;
  if (!program.standing.compare_exchange_strong(expected, Standing::kWall)) return;
  stop_ticks();
  release_all_threads();
}

void become_child() {
  const Standing standing = program.standing.load();
  if (standing == Standing::kElsewhere || standing == Standing::kUnknown) return;
  if (program.link >= 0) raw(SYS_close, program.link);
  program.link = -1;
  if (standing == Standing::kHeld) program.left_ns = machine_ns();
  program.standing.store(Standing::kChild, std::memory_order_release);
}

bool tell_end() {
  if (program.standing.load() != Standing::kHeld || program.inside > 0 || !has_baton())
    return false;
  RequestHeader request{};
  request.op = Op::kExit;
  request.size = sizeof request;
  request.spent_ps = program.spent_ps;
  send_message(program.link, &request, sizeof request, nullptr, 0, -1);
  program.left_ns = machine_ns();
  program.standing.store(Standing::kChild);
  return true;
}

namespace {

/// At exit(): the program ends at its own instant, not at that of its last request. What it has yet to do may wait for
/// its other threads.
__attribute__((destructor)) void end_of_program() {
  if (tell_end()) release_all_threads();
}

}  // namespace
}  // namespace mrclab::verbs::held
