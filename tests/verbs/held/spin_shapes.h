#pragma once
// Loops that wait for memory to change, as programs write them: each compiled without and with optimization. C linkage,
// because half of them are in C.

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct spin_words {
  volatile uint64_t word[4];
  unsigned char block[96], wanted[96];
  uint64_t plain;
  void (*yield)(void); /* a call into the library */
};

/* Each returns what it saw, which depends on where in its loop it was when the memory changed. */
typedef uint64_t (*spin_shape)(struct spin_words*);

uint64_t spin_load(struct spin_words* words);
uint64_t spin_pause(struct spin_words* words);
uint64_t spin_function(struct spin_words* words);
uint64_t spin_compare(struct spin_words* words);
uint64_t spin_turns(struct spin_words* words);
uint64_t spin_scratch(struct spin_words* words);
uint64_t spin_yield(struct spin_words* words);
uint64_t spin_pause_then_yield(struct spin_words* words);
uint64_t spin_for_ever_counting(struct spin_words* words);
uint64_t spin_acquire(struct spin_words* words);
uint64_t spin_exchange(struct spin_words* words);
uint64_t spin_vector(struct spin_words* words);
uint64_t spin_float(struct spin_words* words);

#ifdef __cplusplus
}
#endif
