#include "fabric/base/fifo.h"

#include <doctest/doctest.h>

using mrclab::Fifo;

TEST_CASE("a queue goes round whatever room it has") {
  for (size_t bound = 1; bound < 20; ++bound) {
    Fifo<int> queue(bound);
    int in = 0, out = 0;
    while (queue.push(in)) ++in;
    CHECK(queue.size() == bound);
    for (int round = 0; round < 50; ++round) {
      CHECK(queue.front() == out);
      CHECK(queue.pop() == out++);
      CHECK(queue.push(in++));
      CHECK_FALSE(queue.push(-1));
    }
  }
}

TEST_CASE("a queue keeps its order across growth and refuses what is over its bound") {
  Fifo<int> queue(150);
  int in = 0, out = 0;
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < 7 && queue.size() < queue.bound(); ++i) CHECK(queue.push(in++));
    for (int i = 0; i < 3; ++i) CHECK(queue.pop() == out++);
  }
  while (queue.size() < 150) CHECK(queue.push(in++));
  CHECK_FALSE(queue.push(-1));
  while (!queue.empty()) CHECK(queue.pop() == out++);
  CHECK(in == out);
}
