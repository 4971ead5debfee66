#include "endpoint/queue_pair/outstanding_table.h"

#include <doctest/doctest.h>

#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;

namespace {

void send(OutstandingTable& table, int64_t at_us) {
  table.add(0, 0, 4096);
  table.transmitted(table.end() - 1, us(at_us), 0);
}
}  // namespace

TEST_CASE("packets in flight are known in the order of their last transmission") {
  OutstandingTable table(8);
  for (int i = 0; i < 3; ++i) send(table, i);
  CHECK(table.oldest_in_flight() == 0);
  table.mark_lost(0);
  CHECK(table.oldest_in_flight() == 1);
  table.transmitted(0, us(5), 3);
  CHECK(table.oldest_in_flight() == 1);
  CHECK(table[0].transmissions == 2);
  CHECK(table[0].ev == 3);
  table.mark_sacked(1);
  table.mark_sacked(2);
  CHECK(table.oldest_in_flight() == 0);
  CHECK(table.in_flight() == 1);
}

TEST_CASE("the oldest gap comes first, whatever the order of the losses") {
  OutstandingTable table(8);
  for (int i = 0; i < 6; ++i) send(table, i);
  table.mark_lost(4);
  CHECK(table.first_lost() == 4);
  table.mark_lost(1);
  table.mark_lost(3);
  CHECK(table.first_lost() == 1);
  CHECK(table.lost() == 3);
  table.transmitted(1, us(9), 0);
  CHECK(table.first_lost() == 3);
  table.mark_sacked(3);  // it arrived after all
  CHECK(table.first_lost() == 4);
  table.transmitted(4, us(9), 0);
  CHECK(!table.first_lost());
}

TEST_CASE("slots are used again after release, for many times its capacity") {
  OutstandingTable table(5);
  for (int i = 0; i < 5; ++i) send(table, i);
  CHECK(table.full());
  for (Sequence s = 0; s < 1000; ++s) {
    table.mark_sacked(s);
    table.release_oldest();
    CHECK(!table.full());
    send(table, s + 10);
    CHECK(table[s + 5].transmissions == 1);
    CHECK(table.oldest_in_flight() == s + 1);
  }
  CHECK(table.begin() == 1000);
  CHECK(!table.contains(999));
  CHECK(table.contains(1004));
}
