// Every clock, sleep and number of chance that a program can ask the system for, printed.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static volatile int alarms;
static void on_alarm(int number) {
  (void)number;
  ++alarms;
}

int main(void) {
  printf("begins %lld\n", now());
  const clockid_t clocks[] = {CLOCK_REALTIME,         CLOCK_MONOTONIC,      CLOCK_MONOTONIC_RAW,
                              CLOCK_BOOTTIME,         CLOCK_REALTIME_COARSE, CLOCK_MONOTONIC_COARSE,
                              CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};
  for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; ++i) {
    struct timespec t, r;
    clock_gettime(clocks[i], &t);
    clock_getres(clocks[i], &r);
    printf("clock %d: %ld.%09ld by %ld ns\n", (int)clocks[i], (long)t.tv_sec, t.tv_nsec, r.tv_nsec);
  }
  struct timeval day;
  gettimeofday(&day, NULL);
  printf("day %ld.%06ld time %ld\n", (long)day.tv_sec, (long)day.tv_usec, (long)time(NULL));
  struct timespec utc;
  timespec_get(&utc, TIME_UTC);
  printf("utc %ld.%09ld\n", (long)utc.tv_sec, utc.tv_nsec);
#ifdef __x86_64__
  uint64_t tsc = __builtin_ia32_rdtsc();
  unsigned core;
  uint64_t tscp = __builtin_ia32_rdtscp(&core);
  printf("tsc %llu %llu on core %u\n", (unsigned long long)tsc, (unsigned long long)tscp, core);
#endif

  long long from = now();
  usleep(1500);
  printf("usleep(1500): %lld\n", now() - from);
  from = now();
  sleep(2);
  printf("sleep(2): %lld\n", now() - from);
  from = now();
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 3;
  clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
  printf("clock_nanosleep of 3 s: %lld\n", now() - from);
  from = now();
  poll(NULL, 0, 250);
  printf("poll 250 ms: %lld\n", now() - from);
  from = now();
  struct timeval quarter = {0, 250000};
  select(0, NULL, NULL, NULL, &quarter);
  printf("select 250 ms: %lld\n", now() - from);

  sem_t semaphore;
  sem_init(&semaphore, 0, 0);
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1;
  from = now();
  int result = sem_timedwait(&semaphore, &until);
  printf("sem_timedwait 1 s: %d %d %lld\n", result, errno == ETIMEDOUT, now() - from);

  signal(SIGALRM, on_alarm);
  alarm(1);
  from = now();
  struct timespec ten = {10, 0}, left;
  result = nanosleep(&ten, &left);
  printf("alarm(1) in nanosleep(10): %d, %d alarms, %ld.%09ld left, %lld\n", result, alarms,
         (long)left.tv_sec, left.tv_nsec, now() - from);
  struct itimerval every = {{0, 1000}, {0, 1000}};
  setitimer(ITIMER_REAL, &every, NULL);
  from = now();
  long long reads = 0;
  while (alarms < 11) {
    now();
    ++reads;
  }
  every.it_value.tv_usec = 0;
  setitimer(ITIMER_REAL, &every, NULL);
  printf("10 alarms of 1 ms in %lld clock reads, %lld\n", reads, now() - from);

  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct itimerspec fires = {{0, 100000}, {0, 500000}};
  timerfd_settime(timer, 0, &fires, NULL);
  uint64_t expired;
  from = now();
  result = (int)read(timer, &expired, sizeof expired);
  printf("timerfd: %d bytes, %llu, %lld\n", result, (unsigned long long)expired, now() - from);
  usleep(1000);
  struct pollfd one = {timer, POLLIN, 0};
  result = poll(&one, 1, 5);
  printf("poll of it: %d %d\n", result, one.revents);
  if (read(timer, &expired, sizeof expired) == sizeof expired)
    printf("timerfd after 1 ms: %llu\n", (unsigned long long)expired);
  close(timer);

  int empty_looks = 0;
  from = now();
  int ends[2];
  if (pipe(ends) != 0) return 1;
  one = (struct pollfd){ends[0], POLLIN, 0};
  while (now() - from < 1000000000) {
    poll(&one, 1, 0);
    ++empty_looks;
  }
  printf("a second of vain looks: %d\n", empty_looks);

  struct rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  struct tms ticks;
  times(&ticks);
  printf("used %ld.%06ld, clock %ld, times %ld\n", (long)usage.ru_utime.tv_sec,
         (long)usage.ru_utime.tv_usec, (long)clock(), (long)ticks.tms_utime);
  uint32_t random[4] = {0};
  int device = open("/dev/urandom", O_RDONLY);
  if (getrandom(random, 8, 0) != 8 || read(device, random + 2, 4) != 4) return 1;
  FILE* stream = fopen("/dev/urandom", "r");
  if (fread(random + 3, 4, 1, stream) != 1) return 1;
  fclose(stream);
  printf("pid %d, random %08x %08x %08x %08x\n", (int)getpid(), random[0], random[1], random[2],
         random[3]);
  fflush(stdout);
  result = system("test \"$(date +%Y)\" -gt 2000");
  printf("a child in between: %d\n", result);
  printf("ends %lld\n", now());
  return 0;
}
