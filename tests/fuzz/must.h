#pragma once
// A fuzz target's own assertion: libFuzzer reports the input that broke it.

#include <cstdio>
#include <cstdlib>

#define MUST(condition)                                                          \
  do {                                                                           \
    if (!(condition)) {                                                          \
      std::fprintf(stderr, "%s:%d: MUST(%s)\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                              \
    }                                                                            \
  } while (false)
