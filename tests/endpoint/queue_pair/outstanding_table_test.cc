#include "endpoint/queue_pair/outstanding_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "endpoint/base/connection_attributes.h"
#include "fabric/base/random.h"

#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::us;

namespace {

void send(OutstandingTable& table, int64_t at_us) {
  table.append_packet(0, 0, 4096);
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

TEST_CASE("the order of transmission is kept whatever is lost, sacked and sent again") {
  constexpr size_t kAll = size_t{kMaxMprUnits} * kMprUnit;
  OutstandingTable table(kAll);
  std::vector<Sequence> order;  // of those in flight, the oldest first
  const auto take_out = [&](uint64_t random) {
    const auto at = order.begin() + static_cast<std::ptrdiff_t>(below(random, order.size()));
    const Sequence s = *at;
    order.erase(at);
    return s;
  };
  for (uint64_t i = 0; i < 4'000; ++i) {
    const uint64_t random = mix64(i);
    const uint64_t what = order.empty() ? 9 : below(random, 10);
    if (what < 2) {
      table.mark_sacked(take_out(mix64(random)));
    } else if (what < 4) {
      table.mark_lost(take_out(mix64(random)));
    } else if (const auto lost = table.first_lost(); what < 7 && lost) {
      table.transmitted(*lost, us(1), 1);
      order.push_back(*lost);
    } else if (!table.full()) {
      send(table, 1);
      order.push_back(table.end() - 1);
    }
    while (table.size() > 0 && table[table.begin()].state == SentPacket::State::kSacked) {
      table.release_oldest();
    }
    REQUIRE(table.in_flight() == order.size());
    REQUIRE(table.oldest_in_flight() ==
            (order.empty() ? std::nullopt : std::optional(order.front())));
  }
}

TEST_CASE("neighbours in the order of transmission may be as far apart as the table is long") {
  constexpr Sequence kAll = Sequence{kMaxMprUnits} * kMprUnit;
  OutstandingTable table(static_cast<size_t>(kAll));
  for (Sequence s = 0; s < kAll; ++s) send(table, s);
  CHECK(table.full());
  table.mark_lost(0);
  table.transmitted(0, us(1), 0);  // behind the last one
  for (Sequence s = 1; s < kAll - 1; ++s) table.mark_sacked(s);
  CHECK(table.oldest_in_flight() == kAll - 1);
  table.mark_sacked(kAll - 1);
  CHECK(table.oldest_in_flight() == 0);
  table.mark_sacked(0);
  CHECK(!table.oldest_in_flight());
}

TEST_CASE("what was declared lost is remembered by packet until it is looked at again") {
  OutstandingTable table(1'000);
  for (uint32_t i = 0; i < 40; ++i) {
    table.append_packet(i, i, 4096);
    table.transmitted(i, us(i), i);
    if (i % 3 == 0) table.declare_lost(i);
  }
  table.transmitted(3, us(100), 77);
  table.declare_lost(3);
  for (uint32_t i = 0; i < 40; ++i) {
    CHECK(table[i].declared_lost == (i == 3 ? 2 : i % 3 == 0 ? 1 : 0));
    if (i % 3 != 0) continue;
    CHECK(table.declared_loss(i).ev == (i == 3 ? 77 : i));
    CHECK(table.declared_loss(i).sent == us(i == 3 ? 100 : i));
  }
  table.forget_declared(3);
  CHECK(table[3].declared_lost == 0);
  // Long after, when the window has moved far beyond those.
  for (Sequence s = 0; s < 5'000; ++s) {
    table.mark_sacked(s);
    table.release_oldest();
    send(table, s);
  }
  const Sequence newest = table.end() - 1;
  CHECK(table[newest].declared_lost == 0);
  table.declare_lost(newest);
  CHECK(table.declared_loss(newest).sent == us(4'999));
}

TEST_CASE("a packet that is sent for ever counts as far as it can and stays there") {
  OutstandingTable table(4);
  send(table, 0);
  for (int i = 0; i < 300; ++i) {
    table.declare_lost(0);
    table.transmitted(0, us(i), 0);
  }
  CHECK(table[0].transmissions == SentPacket::kMany);
  CHECK(table[0].declared_lost == SentPacket::kMany);
}
