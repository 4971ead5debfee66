// What a program's own signals, faults and clocks do while its thread is watched: spinner_signals WHAT [replaced], which is
// how its reads of the counter are trapped. Prints what it saw.

#include <elf.h>
#include <immintrin.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "verbs/held/spin/instruction.h"
#include "verbs/held/spin/spin.h"
#include "verbs/held/tsc/cpuid_answers.h"
#include "verbs/held/tsc/tsc_trap.h"
#include "verbs/held/tsc/vdso_patch.h"

using namespace mrclab::held;

namespace {

volatile uint64_t flag = 0;
int events_left = 0;
int signal_at = 0;
uint64_t cycles_now = 1000;
TscWay way = TscWay::kBest;

bool pass_event() {
  if (--events_left == signal_at && signal_at != 0) kill(getpid(), SIGUSR1);
  if (events_left <= 0) flag = 1;
  errno = ERANGE;  // which is not the program's
  return true;
}
void not_held(uint64_t, const char* why) {
  std::printf("not held: %s\n", why);
  std::fflush(stdout);
  _exit(3);
}

void spin(int events) {
  flag = 0;
  events_left = events;
  while (flag == 0) {
  }
  const Call call;
}

uint64_t cycles() { return cycles_now++; }

int ends_by(void (*child)()) {
  std::fflush(stdout);
  const pid_t process = fork();
  if (process == 0) {
    forget_after_fork();
    child();
    _exit(0);
  }
  int status = 0;
  waitpid(process, &status, 0);
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

volatile int* volatile nowhere = nullptr;
int null_read() { return *nowhere; }

sigjmp_buf back;
volatile int handled = 0;
volatile uint64_t handler_stack = 0;
void jump_back(int, siginfo_t* info, void*) {
  handled = handled + (info->si_signo == SIGFPE || info->si_addr == nullptr);
  uint64_t here = 0;
  handler_stack = reinterpret_cast<uint64_t>(&here);
  siglongjmp(back, 1);
}
void handle(int number, void (*handler)(int, siginfo_t*, void*), int flags = 0) {
  struct sigaction action {};
  action.sa_sigaction = handler;
  action.sa_flags = SA_SIGINFO | flags;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

void clocks() {
  std::printf("trapped %d\n", trap_tsc(&cycles, &instruction_length, way) == 0 && tsc_is_trapped());
  unsigned core = 9;
  const uint64_t first = __rdtsc(), second = __rdtscp(&core);
  std::printf("%" PRIu64 " %" PRIu64 " core %u\n", first, second, core);
  cycles_now = 0x123456789abcdef;
  std::printf("%" PRIx64 "\n", static_cast<uint64_t>(__rdtsc()));
  const bool can_hide = trap_cpuid();
  uint32_t eax = 1, ebx = 0, ecx = 0, edx = 0;
  asm volatile("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
  std::printf("random numbers and a core's number are offered: %d\n",
              can_hide && ((ecx >> 30 & 1) != 0 || ebx >> 24 != 0));
  {
    const TscLifted lifted;
    std::printf("another program: %d\n", std::system("/bin/true"));
  }
  std::printf("trapped again %d\n", tsc_is_trapped());
}

void answers() {
  const CpuidAnswer all{~0u, ~0u, ~0u, ~0u};
  const CpuidAnswer first = without_chance(1, 0, all), seventh = without_chance(7, 0, all);
  std::printf("%08x %08x %08x %08x\n", ~first.ebx, ~first.ecx, ~seventh.ebx, ~seventh.ecx);
  const CpuidAnswer counter = without_chance(0x15, 0, all), other = without_chance(2, 0, all);
  std::printf("%u %u %u %u %d\n", counter.eax, counter.ebx, counter.ecx,
              without_chance(0x16, 0, all).eax,
              other.eax == ~0u && other.ebx == ~0u && other.ecx == ~0u && other.edx == ~0u);
  // An image that is cut off anywhere, or has been overwritten anywhere, is read no further than it goes.
  const auto* image = reinterpret_cast<const uint8_t*>(getauxval(AT_SYSINFO_EHDR));
  Elf64_Ehdr head;
  std::memcpy(&head, image, sizeof(head));
  const size_t bytes = head.e_shoff + head.e_shnum * sizeof(Elf64_Shdr);
  const VdsoEntry whole = find_vdso_entry({image, bytes}, "__vdso_time");
  unsigned outside = 0;
  for (size_t cut = 0; cut < bytes; cut += 7) {
    auto* copy = new uint8_t[cut + 1];
    std::memcpy(copy, image, cut);
    if (cut > 64) std::memset(copy + cut / 2, 0xff, 9);
    const VdsoEntry entry = find_vdso_entry({copy, cut}, "__vdso_time");
    if (entry.offset + entry.bytes > cut) ++outside;
    delete[] copy;
  }
  std::printf("found %d, outside %u, another %" PRIu64 "\n", whole.bytes > 0, outside,
              find_vdso_entry({image, bytes}, "__vdso_tim").bytes);
}

int fixed_clock(int clock, void* to) {
  *static_cast<timespec*>(to) = {77, clock};
  return 0;
}
int fixed_day(void* to, void*) {
  static_cast<uint64_t*>(to)[0] = 88;
  return 0;
}
int64_t fixed_time(int64_t*) { return 99; }

void vdso() {
  trap_tsc(&cycles, &instruction_length, way);
  const int status = patch_vdso({&fixed_clock, &fixed_day, &fixed_time});
  std::printf("patched %d\n", status);
  timespec time{};
  timespec_get(&time, TIME_UTC);  // inside the C library, past what is interposed
  std::printf("timespec_get %ld\n", static_cast<long>(time.tv_sec));
  const auto* image = reinterpret_cast<const uint8_t*>(getauxval(AT_SYSINFO_EHDR));
  const VdsoEntry entry = find_vdso_entry({image, 8192}, "__vdso_clock_gettime");
  const auto direct =
      reinterpret_cast<int (*)(int, timespec*)>(const_cast<uint8_t*>(image) + entry.offset);
  std::printf("direct %d", direct(CLOCK_MONOTONIC, &time));
  std::printf(" %ld %ld\n", static_cast<long>(time.tv_sec), time.tv_nsec);
}

void faults() {
  handle(SIGSEGV, &jump_back);
  struct sigaction found {};
  sigaction(SIGSEGV, nullptr, &found);
  std::printf("its own handler: %d\n", found.sa_sigaction == &jump_back);
  for (int i = 0; i < 500; ++i) {
    if (sigsetjmp(back, 1) == 0) null_read();
    if (i % 100 == 0) spin(2);
  }
  std::printf("faults %d\n", handled);
  handle(SIGSEGV, &jump_back, static_cast<int>(SA_RESETHAND));
  std::printf("nested %d\n", ends_by([] {
                handle(SIGSEGV, [](int, siginfo_t*, void*) { _exit(null_read()); });
                null_read();
              }));
  signal(SIGSEGV, SIG_DFL);
  std::printf("default %d ignored %d\n", ends_by([] { null_read(); }), ends_by([] {
                signal(SIGSEGV, SIG_IGN);
                kill(getpid(), SIGSEGV);
                null_read();
              }));
}

void divisions() {
  handle(SIGFPE, &jump_back);
  volatile int zero = 0, result = 1;
  for (int i = 0; i < 60; ++i) {
    // In the midst of steps, mostly: no call since the last, and more computing than a tick.
    if (sigsetjmp(back, i & 1) == 0) {
      for (int n = 0; n < 500'000; ++n) result = result + n;
      result = result / zero;
    }
    sigset_t none;
    sigemptyset(&none);
    pthread_sigmask(SIG_SETMASK, &none, nullptr);
    if (i % 10 == 0) spin(2);
  }
  std::printf("divisions %d\n", handled);
}

int deeper(int n) {
  volatile char room[512];
  room[0] = static_cast<char>(n);
  return (n < 1 << 30 ? deeper(n + 1) : 0) + room[0];
}
void overflow() {
  static char alternate[16384];
  const stack_t stack{alternate, 0, sizeof(alternate)};
  stack_t old{};
  std::printf("sigaltstack %d", sigaltstack(&stack, nullptr));
  std::printf(" %d\n", sigaltstack(nullptr, &old) == 0 && old.ss_sp == alternate &&
                           old.ss_size == sizeof(alternate));
  static volatile int overflows = 0;
  handle(
      SIGSEGV,
      [](int, siginfo_t*, void*) {
        overflows = overflows + 1;
        siglongjmp(back, 1);
      },
      SA_ONSTACK);
  for (int i = 0; i < 5; ++i) {
    if (sigsetjmp(back, 1) == 0) deeper(0);
    spin(2);
  }
  std::printf("overflows %d\n", overflows);
}

void breakpoints() {
  static volatile int traps = 0;
  handle(SIGTRAP, [](int, siginfo_t*, void*) { traps = traps + 1; });
  for (int i = 0; i < 20; ++i) {
    for (int n = 0; n < 300'000; ++n) asm volatile("");
    asm volatile("int3");
  }
  spin(3);
  std::printf("traps %d default %d\n", traps, ends_by([] {
                signal(SIGTRAP, SIG_DFL);
                asm volatile("int3");
              }));
}

void masked() {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, nullptr);
  sigprocmask(SIG_SETMASK, &all, nullptr);
  trap_tsc(&cycles, &instruction_length, way);
  const uint64_t cycle = __rdtsc();
  spin(4);
  sigprocmask(SIG_BLOCK, nullptr, &before);
  std::printf("cycle %" PRIu64 " spun, blocked %d %d\n", cycle, sigismember(&before, SIGUSR1),
              sigismember(&before, SIGSEGV));
}

void alarms() {
  static volatile int alarms_seen = 0;
  handle(SIGUSR1, [](int, siginfo_t*, void*) {
    alarms_seen = alarms_seen + 1;
    flag = 1;
  });
  for (int i = 0; i < 50; ++i) {
    signal_at = 3;
    errno = EDOM;
    spin(6);
    if (events_left != 3 || errno != EDOM) std::printf("left %d errno %d\n", events_left, errno);
  }
  std::printf("alarms %d\n", alarms_seen);
}

}  // namespace

int main(int argc, char** argv) {
  const struct {
    const char* name;
    void (*run)();
  } parts[] = {{"clocks", &clocks},           {"answers", &answers},     {"vdso", &vdso},
               {"faults", &faults},           {"divisions", &divisions}, {"overflow", &overflow},
               {"breakpoints", &breakpoints}, {"masked", &masked},       {"alarms", &alarms}};
  if (argc == 3 && std::strcmp(argv[2], "replaced") == 0) way = TscWay::kReplaced;
  SpinOptions options;
  options.tick_ns = 50'000;
  if (const int status = start_proving({&pass_event, &not_held}, options)) return status;
  if (const int status = watch_thread()) return status;
  for (const auto& part : parts) {
    if (argc >= 2 && std::strcmp(argv[1], part.name) == 0) {
      part.run();
      return 0;
    }
  }
  return 2;
}
