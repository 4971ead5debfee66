#include "fabric/base/fifo.h"

#include <doctest/doctest.h>

using mrclab::Fifo;

using Outside = Fifo<int>;
using Inside = Fifo<int, 5, true>;

TEST_CASE_TEMPLATE("a queue goes round whatever room it has", Queue, Outside, Inside) {
  for (size_t bound = 1; bound < 20; ++bound) {
    Queue queue(bound);
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

TEST_CASE_TEMPLATE("a queue keeps its order across growth and refuses what is over its bound",
                   Queue, Outside, Inside) {
  Queue queue(150);
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
