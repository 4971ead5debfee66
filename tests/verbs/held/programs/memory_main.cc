// A program with verbs' link: its memory changes by itself, and it looks at it in every way.
#include <dlfcn.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "verbs/protocol/messages.h"

// As in verbs/client/program_link.h and verbs/protocol/messages.h.
struct link {
  uint32_t version, size;
  int (*attach)(const void**, void**, int*);
  int (*call)(const void*, void*, uint32_t, int*);
  uint64_t (*now_ps)(void);
  void (*spend)(uint64_t);
  int (*broken)(void);
  int (*mode)(void);
};
constexpr auto kRegister = static_cast<uint32_t>(mrclab::verbs::Op::kRegisterMemory);
constexpr auto kCreateChannel = static_cast<uint32_t>(mrclab::verbs::Op::kCreateChannel);
constexpr auto kArm = static_cast<uint32_t>(mrclab::verbs::Op::kArmCq);
constexpr auto kPollEmpty = static_cast<uint32_t>(mrclab::verbs::Op::kPollEmpty);

static long long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static volatile uint64_t word __attribute__((aligned(64)));

static const struct link* the_link;
static int ask(uint32_t op, const void* body, uint32_t size, uint32_t room, int* descriptors) {
  char request[64] = {0}, reply[64];
  uint32_t head[2] = {op, 24 + size};
  memcpy(request, head, 8);
  memcpy(request + 24, body, size);
  return the_link->call(request, reply, 32 + room, descriptors);
}

int main(void) {
  const struct link* (*find)(void) =
      (const struct link* (*)(void))dlsym(RTLD_DEFAULT, "mrclab_program_link");
  if (find == NULL) return 2;
  the_link = find();
  const void* hello;
  void* work;
  int events;
  printf("attached: %d, held: %d, at %llu\n", the_link->attach(&hello, &work, &events),
         the_link->mode(), (unsigned long long)the_link->now_ps());
  struct {
    uint64_t address, length, iova;
    uint32_t access, domain;
  } region = {(uint64_t)(uintptr_t)&word, 64, 0, 1, 0};
  printf("registered: %d\n", ask(kRegister, &region, sizeof region, 16, NULL));
  for (uint64_t seen = 0; seen < 20;) {
    while (word == seen) {
    }
    seen = word;
    printf("%llu at %lld\n", (unsigned long long)seen, now());
  }
  for (int i = 0; i < 3; ++i) {
    uint64_t before = word;
    uint32_t polls = 0;
    while (word == before) {
      uint32_t poll_request[2] = {1, polls++};
      if (ask(kPollEmpty, poll_request, 8, 0, NULL) != 0) return 3;
    }
    printf("%u polls, at %lld\n", polls, now());
  }
  int descriptors[4];
  if (ask(kCreateChannel, "", 0, 8, descriptors) != 0) return 4;
  uint32_t arm[2] = {1, 0}, event[2];
  ask(kArm, arm, 8, 0, NULL);
  ssize_t n = read(descriptors[0], event, sizeof event);
  printf("event: %zd bytes, %u, at %lld\n", n, event[0], now());
  // One in a hundred looks at the channel is interrupted by a tick.
  for (int i = 0; i < 1000; ++i) {
    ask(kArm, arm, 8, 0, NULL);
    if (read(descriptors[0], event, sizeof event) != sizeof event) return 5;
  }
  printf("a thousand events, at %lld\n", now());
  ask(kArm, arm, 8, 0, NULL);
  struct pollfd one = {descriptors[0], POLLIN, 0};
  int ready = poll(&one, 1, -1);
  printf("poll: %d, at %lld\n", ready, now());
  the_link->spend(5000000000ull);
  printf("5 ms spent: %lld\n", now());
  return 0;
}
