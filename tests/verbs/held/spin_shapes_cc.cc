#include <immintrin.h>

#include <atomic>

#include "tests/verbs/held/spin_shapes.h"

extern "C" {

uint64_t spin_acquire(spin_words* words) {
  std::atomic_ref<uint64_t> word(words->plain);
  while (word.load(std::memory_order_acquire) == 0) {
  }
  return words->plain;
}

uint64_t spin_exchange(spin_words* words) {
  std::atomic_ref<uint64_t> word(words->plain);
  uint64_t expected = 7;
  while (!word.compare_exchange_weak(expected, 9)) expected = 7;
  return words->plain;
}

// Its state is in a vector register alone: the general registers recur every round, the state every third.
__attribute__((target("sse4.1"))) uint64_t spin_vector(spin_words* words) {
  __m128i turn = _mm_set_epi32(4, 3, 2, 1);
  while (words->word[0] == 0) {
    turn = _mm_shuffle_epi32(turn, _MM_SHUFFLE(3, 0, 2, 1));
    asm volatile("" : "+x"(turn));
  }
  return words->word[0] * 16 + static_cast<uint64_t>(_mm_extract_epi32(turn, 0));
}

uint64_t spin_float(spin_words* words) {
  long double level = 1;
  while (static_cast<long double>(words->word[3]) < level) {
    level = level + 0.5L;
    level = level - 0.5L;
  }
  return words->word[3];
}
}
