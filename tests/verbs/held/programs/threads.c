// Threads that wait for each other in every way of pthreads: who ran when.
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}
#define SAY(...) (printf("%lld ", now()), printf(__VA_ARGS__), printf("\n"))

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int turn, counter, ends[2];
static volatile int flag;

static void* work(void* argument) {
  const int me = (int)(long)argument;
  for (int round = 0; round < 3; ++round) {
    pthread_mutex_lock(&mutex);
    while (turn % 4 != me) pthread_cond_wait(&condition, &mutex);
    ++turn;
    ++counter;
    SAY("thread %d round %d", me, round);
    usleep((useconds_t)(10 * (me + 1)));
    pthread_cond_broadcast(&condition);
    pthread_mutex_unlock(&mutex);
  }
  int last = pthread_barrier_wait(&barrier) == PTHREAD_BARRIER_SERIAL_THREAD;
  pthread_rwlock_rdlock(&lock);
  usleep(50);
  SAY("thread %d%s", me, last ? " last at the barrier" : "");
  pthread_rwlock_unlock(&lock);
  pthread_rwlock_wrlock(&lock);
  usleep(5);
  SAY("thread %d writes", me);
  pthread_rwlock_unlock(&lock);
  sem_post(&semaphore);
  return argument;
}

static void* echo(void* unused) {
  char text[8];
  ssize_t n = read(ends[0], text, sizeof text);
  SAY("pipe: %zd %.4s", n, text);
  struct pollfd one = {ends[0], POLLIN, 0};
  int ready = poll(&one, 1, 1);
  SAY("pipe in 1 ms: %d", ready);
  flag = 1;
  return unused;
}

static void clean(void* of) {
  pthread_mutex_unlock(of);
  counter = -1;
}

static void* forever(void* unused) {
  pthread_mutex_lock(&mutex);
  pthread_cleanup_push(clean, &mutex);
  for (;;) pthread_cond_wait(&condition, &mutex);
  pthread_cleanup_pop(1);
  return unused;
}

int main(void) {
  pthread_t threads[4];
  pthread_barrier_init(&barrier, NULL, 4);
  sem_init(&semaphore, 0, 0);
  for (long i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, work, (void*)i);
  SAY("all begun");
  for (int i = 0; i < 4; ++i) sem_wait(&semaphore);
  SAY("all posted");
  for (int i = 0; i < 4; ++i) {
    void* result;
    pthread_join(threads[i], &result);
    if (result != (void*)(long)i) return 1;
  }
  SAY("joined, %d", counter);
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += 1;
  pthread_mutex_lock(&mutex);
  int error = pthread_cond_timedwait(&condition, &mutex, &until);
  pthread_mutex_unlock(&mutex);
  SAY("timed out: %d", error == ETIMEDOUT);
  if (pipe(ends) != 0) return 1;
  pthread_create(&threads[0], NULL, echo, NULL);
  usleep(123);
  if (write(ends[1], "text", 4) != 4) return 1;
  while (!flag) sched_yield();
  SAY("flag seen");
  pthread_join(threads[0], NULL);
  pthread_create(&threads[0], NULL, forever, NULL);
  usleep(10);
  pthread_cancel(threads[0]);
  void* result;
  pthread_join(threads[0], &result);
  SAY("cancelled: %d, cleaned %d", result == PTHREAD_CANCELED, counter);
  pthread_mutex_lock(&mutex);
  SAY("ends");
  return 0;
}
