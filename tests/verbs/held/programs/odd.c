// What programs do that is hard to hold, one deed per run.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

extern char** environ;

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int c11(void* unused) {
  (void)unused;
  return now() > 0 ? 7 : 0;
}

static int children(void) {
  long long from = now();
  fflush(stdout);
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    usleep(1000);
    uint64_t tsc = 1;
#ifdef __x86_64__
    tsc = __builtin_ia32_rdtsc();
#endif
    _exit(tsc != 0 && now() > from ? 11 : 12);
  }
  waitpid(child, &status, 0);
  printf("forked: %d\n", WEXITSTATUS(status));
  child = vfork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", "exit 13", (char*)NULL);
    _exit(1);
  }
  waitpid(child, &status, 0);
  printf("executed: %d\n", WEXITSTATUS(status));
  char* arguments[] = {"sh", "-c", "exit 14", NULL};
  posix_spawn(&child, "/bin/sh", NULL, NULL, arguments, environ);
  waitpid(child, &status, 0);
  printf("spawned: %d\n", WEXITSTATUS(status));
  FILE* pipe = popen("echo fifteen", "r");
  char text[32] = {0};
  if (fgets(text, sizeof text, pipe) == NULL) return 1;
  pclose(pipe);
  printf("piped: %s", text);
  int ends[2];
  if (__builtin_expect(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0) != 0) return 1;
  child = fork();
  if (child == 0) {
    usleep(20000);
    _exit(write(ends[1], "sixteen", 7) != 7);
  }
  ssize_t n = read(ends[0], text, sizeof text);
  printf("from a child: %.*s\n", (int)n, text);
  waitpid(child, &status, 0);
  printf("took %lld\n", now() - from);
  fflush(stdout);
  execlp("echo", "echo", "became echo", (char*)NULL);
  return 1;
}

static uint32_t word;
static void* waker(void* unused) {
  usleep(40);
  __atomic_store_n(&word, 1, __ATOMIC_RELEASE);
  syscall(SYS_futex, &word, FUTEX_WAKE | FUTEX_PRIVATE_FLAG, 1, NULL, NULL, 0);
  return unused;
}

static int futexes(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, waker, NULL);
  long long from = now();
  while (__atomic_load_n(&word, __ATOMIC_ACQUIRE) == 0)
    syscall(SYS_futex, &word, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, NULL, NULL, 0);
  printf("woken after %lld\n", now() - from);
  struct timespec limit = {0, 5000000};
  from = now();
  long result = syscall(SYS_futex, &word, FUTEX_WAIT, 1, &limit, NULL, 0);
  printf("futex: %ld %d after %lld\n", result, errno == ETIMEDOUT, now() - from);
  pthread_join(thread, NULL);
  struct timespec t;
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
  printf("by number: %d\n", t.tv_sec == 0);
  return 0;
}

int main(int count, char** arguments) {
  const char* deed = count >= 2 ? arguments[1] : "";
  if (strcmp(deed, "children") == 0) return children();
  if (strcmp(deed, "futexes") == 0) return futexes();
  if (strcmp(deed, "c11") == 0) {
    thrd_t thread;
    int result = 0;
    printf("at %lld\n", now());
    thrd_create(&thread, c11, NULL);
    thrd_join(thread, &result);
    printf("result %d\n", result);
    return 0;
  }
  if (strcmp(deed, "datagram") == 0) {
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
    to.sin_addr.s_addr = htonl(0x0AFF0001);
    ssize_t n = sendto(fd, "x", 1, 0, (struct sockaddr*)&to, sizeof to);
    printf("sent %zd\n", n);
    return socket(AF_INET6, SOCK_STREAM, 0) < 0;
  }
  if (strcmp(deed, "sleeps") == 0) {
    long long last = now();
    for (int i = 0; i < 50; ++i) {
      usleep(1000);
      if (now() - last < 1000000) return 3;
      last = now();
    }
    printf("slept\n");
    return 0;
  }
  if (strcmp(deed, "ends") == 0) {
    const char* way = count == 3 ? arguments[2] : "";
    usleep(1000);  // of fabric time: the program attaches by it, and its end has an instant of its own
    if (strcmp(way, "abort") == 0) abort();
    if (strcmp(way, "fault") == 0) *(volatile int*)NULL = 1;
    if (strcmp(way, "_exit") == 0) _exit(7);
    if (strcmp(way, "exec") == 0) execlp("true", "true", (char*)NULL);
    if (strcmp(way, "no exec") == 0) return execlp("/", "x", (char*)NULL) == -1 && now() > 0 ? 0 : 1;
    if (strcmp(way, "raise") == 0) raise(SIGTERM);
    if (strcmp(way, "outside") == 0) syscall(SYS_tkill, gettid(), SIGTERM);
    return 0;
  }
  if (strcmp(deed, "locked") == 0) {
    // Reads, waits and talks without end: for a server that hangs up.
    for (int i = 0; i < 100; ++i) {
      int fd = socket(AF_INET, SOCK_STREAM, 0);
      struct sockaddr_in here = {.sin_family = AF_INET};
      bind(fd, (struct sockaddr*)&here, sizeof here);
      listen(fd, 1);
      close(fd);
    }
    printf("done\n");
    return 0;
  }
  return 2;
}
