#include <string.h>

#include "tests/verbs/held/spin_shapes.h"

uint64_t spin_load(struct spin_words* words) {
  while (words->word[0] == 0) {
  }
  return words->word[0];
}

uint64_t spin_pause(struct spin_words* words) {
  while (words->word[0] == 0) __builtin_ia32_pause();
  return words->word[0];
}

static __attribute__((noinline)) int is_there(const volatile uint64_t* word) { return *word != 0; }

uint64_t spin_function(struct spin_words* words) {
  while (!is_there(&words->word[1])) {
  }
  return words->word[1];
}

uint64_t spin_compare(struct spin_words* words) {
  /* Through a pointer, so that it is the library's memcmp in whatever way this processor does it best. */
  int (*volatile compare)(const void*, const void*, size_t) = &memcmp;
  while (compare(words->block, words->wanted, sizeof(words->block)) != 0) {
  }
  return words->block[95];
}

/* Four addresses by turns: all four change at once, and which is seen first is where the loop stood. */
uint64_t spin_turns(struct spin_words* words) {
  volatile unsigned turn = 0;
  while (words->word[turn] == 0) turn = (turn + 3) & 3;
  return words->word[turn] * 4 + turn;
}

/* Writes to its stack in every round: a string operation and a vector, or what the compiler makes of them. */
uint64_t spin_scratch(struct spin_words* words) {
  unsigned char scratch[200];
  uint64_t sum = 0;
  do {
    unsigned char* volatile to = scratch;
    const unsigned char* from = words->block;
    size_t left = 48;
    sum = 0;
    __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(left) : : "memory");
    memset(scratch + 64, (int)words->word[2] + 1, 100);
    for (unsigned i = 0; i < 8; ++i) sum += scratch[i * 12 + 64];
  } while (words->word[2] == 0);
  return sum;
}

uint64_t spin_yield(struct spin_words* words) {
  uint64_t rounds = 0;
  while (words->word[0] == 0) {
    words->yield();
    ++rounds;
  }
  return rounds;
}

uint64_t spin_pause_then_yield(struct spin_words* words) {
  uint64_t rounds = 0;
  while (words->word[0] == 0) {
    for (int i = 0; i < 1000 && words->word[0] == 0; ++i) __builtin_ia32_pause();
    words->yield();
    ++rounds;
  }
  return rounds;
}

uint64_t spin_for_ever_counting(struct spin_words* words) {
  uint64_t rounds = 0;
  while (words->word[0] == 0) ++rounds;
  return rounds;
}
