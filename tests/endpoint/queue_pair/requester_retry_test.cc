// Retries of a requester: how many timeouts it takes until a queue pair fails, and what sets them back.

#include "endpoint/queue_pair/requester.h"

#include <doctest/doctest.h>

#include "tests/endpoint/queue_pair/requester_bench.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::kAll;
using mrclab::test::RequesterBench;
using mrclab::test::us;

TEST_CASE("with no answer at all: seven linear timeouts, three exponential ones, then an error") {
  RequesterBench b;
  b.post(4096);
  b.send(0);
  std::vector<int64_t> timeouts;
  uint64_t seen = 0;
  while (!b.requester.failed()) {
    const FabricTime now = b.requester.deadline(FabricTime{});
    REQUIRE(now < us(100'000));
    b.requester.on_timer(now);
    while (b.requester.next_probe(now)) continue;
    if (b.stats.timeouts > seen) timeouts.push_back(now.ns() / 1000);
    seen = b.stats.timeouts;
    b.requester.next_packet(kAll, now);
  }
  CHECK(timeouts == std::vector<int64_t>{80, 160, 240, 320, 400, 480, 560, 640, 800, 1120, 1760});
  CHECK(b.failure == "Retry Counter Exceeded");
  CHECK(b.requester.deadline(FabricTime{}) == FabricTime::never());
  CHECK(!b.post(1));
  CHECK(!b.send(2000));
  CHECK(b.window.in_flight().value == 0);
}

TEST_CASE("without any port the retries run out as well") {
  RequesterBench b;
  b.post(4096);
  b.send(0);
  b.requester.set_live_ports({0}, us(1));
  for (int i = 0; i < 1000 && !b.requester.failed(); ++i) {
    const FabricTime now = b.requester.deadline(FabricTime{});
    b.requester.on_timer(now);
    while (b.requester.next_probe(now)) continue;
    CHECK(!b.requester.next_packet(kAll, now));
  }
  CHECK(b.failure == "Retry Counter Exceeded");
}

TEST_CASE("work that was posted when no path is left fails too, and does not if one comes back") {
  for (const bool comes_back : {false, true}) {
    RequesterBench b;
    b.requester.set_live_ports({0}, us(1));
    CHECK(b.requester.deadline(FabricTime{}) == FabricTime::never());
    b.post(4096);
    CHECK(b.requester.deadline(FabricTime{}) == us(80));
    if (comes_back) {
      b.requester.on_timer(us(80));
      b.requester.set_live_ports({0b01}, us(100));
      CHECK(b.requester.deadline(FabricTime{}) == FabricTime::never());
      CHECK(b.send(100));
      continue;
    }
    for (int i = 0; i < 100 && !b.requester.failed(); ++i) {
      b.requester.on_timer(b.requester.deadline(FabricTime{}));
    }
    CHECK(b.failure == "Retry Counter Exceeded");
  }
}

TEST_CASE("a packet that waits for its turn in the window is not overdue") {
  for (const bool trimmed : {true, false}) {
    CAPTURE(trimmed);
    RequesterBench b;
    b.window.on_live_ports(0);  // one packet at a time
    b.post(4096 * 2);
    const auto first = b.send(0);
    if (trimmed) {
      b.nack(0, first->ev, 0, NackReason::kTrimmedLastHop, 5);
    } else {
      b.sack(0, 0, first->ev, 0, 0, 5);
      b.ack(0, 5);
    }
    const Bytes of_another_queue_pair{4096};
    b.window.on_sent(of_another_queue_pair, us(5));
    CHECK(!b.send(5));
    CHECK(b.requester.deadline(FabricTime{}) == FabricTime::never());
    b.window.on_withdrawn(of_another_queue_pair);
    CHECK(b.send(1000)->psn == b.first_psn + (trimmed ? 0 : 1));
    CHECK(b.requester.deadline(FabricTime{}) == us(1040));  // its tail probe
    CHECK(b.stats.timeouts == 0);
  }
}

TEST_CASE("where the peer was silent the retries run out, though the window is taken by others") {
  RequesterBench b;
  b.window.on_live_ports(0);
  b.post(4096);
  b.send(0);
  FabricTime now;
  for (int i = 0; i < 10 && b.stats.timeouts == 0; ++i) now = b.next_retry(now);
  REQUIRE(b.stats.timeouts == 1);
  b.window.on_sent(Bytes{4096}, now);
  for (int i = 0; i < 1000 && !b.requester.failed(); ++i) {
    CHECK(!b.requester.next_packet(kAll, now));
    REQUIRE(b.requester.deadline(now) < us(100'000));
    now = b.next_retry(now);
  }
  CHECK(b.failure == "Retry Counter Exceeded");
}

TEST_CASE("25 exponential retries mean for ever") {
  RequesterBench b(Psn{100}, 1024, [](ConnectionLimits& l) { l.retry.exponential_retries = 25; });
  b.post(4096);
  b.send(0);
  while (b.stats.timeouts < 20) {
    const FabricTime now = b.requester.deadline(FabricTime{});
    REQUIRE(now != FabricTime::never());
    b.requester.on_timer(now);
    while (b.requester.next_probe(now)) continue;
    b.requester.next_packet(kAll, now);
  }
  CHECK(b.failure.empty());
}

TEST_CASE("the longest timeout with all of its doublings stays within fabric time") {
  RequesterBench b(Psn{100}, 1024, [](ConnectionLimits& l) {
    l.retry = {FabricTime::from_ns(1024) * (int64_t{1} << 24), 7, 25};
  });
  b.post(4096);
  b.send(0);
  for (int64_t hour = 1; hour <= 60; ++hour) {
    const FabricTime now = FabricTime::from_ms(3'600'000) * hour;
    b.requester.on_timer(now);
    while (b.requester.next_probe(now)) continue;
    b.requester.next_packet(kAll, now);
    REQUIRE(b.requester.deadline(FabricTime{}) > now);
    REQUIRE(b.requester.deadline(FabricTime{}) < FabricTime::from_ms(3'600'000) * (hour + 3));
  }
  CHECK(b.stats.timeouts > 30);
}

TEST_CASE("progress sets the retry counter back") {
  RequesterBench b;
  b.post(4096 * 2);
  b.send(0);
  for (int i = 1; i <= 8; ++i) {
    b.requester.on_timer(us(80 * i));
    while (b.requester.next_probe(us(80 * i))) continue;
    b.requester.next_packet(kAll, us(80 * i));
  }
  CHECK(!b.requester.failed());
  CHECK(b.ack(0, 641) == Refusal::kNone);
  const auto p = b.send(700);
  REQUIRE(p);
  // Fresh again: the first timeout of the new packet comes after 80 us.
  b.requester.on_timer(us(779));
  CHECK(b.stats.timeouts == 8);
  b.requester.on_timer(us(780));
  CHECK(b.stats.timeouts == 9);
}

TEST_CASE("refusals and timeouts share one retry counter") {
  RequesterBench b;
  b.post(4096);
  FabricTime now;
  for (int i = 0; i < 5; now = b.next_retry(now)) {
    const auto p = b.requester.next_packet(kAll, now);
    if (!p) continue;
    const int64_t at = now.ns() / 1000;
    b.nack(0, p->ev, at, NackReason::kNoResource, at + 5);
    now += us(5);
    ++i;
  }
  int timeouts = 0;
  while (b.failure.empty()) {
    REQUIRE(now < us(100'000));
    const uint64_t before = b.stats.timeouts;
    b.requester.next_packet(kAll, now);
    now = b.next_retry(now);
    if (b.stats.timeouts > before) ++timeouts;
  }
  CHECK(timeouts == 6);
}
