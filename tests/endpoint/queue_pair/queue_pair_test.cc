// Two queue pairs against each other over a bad network: what a message means at both ends.

#include "endpoint/queue_pair/queue_pair.h"

#include <doctest/doctest.h>

#include "tests/endpoint/queue_pair/qp_pair.h"
#include "tests/support/nightly.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::QpPair;
using mrclab::test::us;

namespace {

QpPair::Options bad_network(uint64_t seed) {
  QpPair::Options o;
  o.seed = seed;
  o.lose_percent = 5;
  o.repeat_percent = 5;
  o.trim_percent = 5;
  o.spread_us = 25;
  return o;
}

/// Posts messages of all kinds at both ends; sizes from one byte to many packets.
constexpr uint32_t kMessages = 60;
uint64_t size_of(uint32_t number) {
  constexpr uint64_t kSizes[] = {1, 4095, 4096, 4097, 40'000, 8192, 12'289};
  return kSizes[number % 7];
}
void post_all(QpPair& pair, QpPair::End& from) {
  uint64_t offset = 0;
  for (uint32_t i = 0; i < kMessages; ++i) {
    const bool immediate = i % 3 != 1;
    REQUIRE(pair.post(from, i, offset, size_of(i),
                      immediate ? std::optional<uint32_t>(0x1000 + i) : std::nullopt));
    offset += size_of(i);
  }
}
void check_all(QpPair::End& from, QpPair::End& to) {
  CHECK(from.failure.empty());
  REQUIRE(from.completed.size() == kMessages);
  std::vector<uint32_t> immediates, bytes, expected, lengths;
  uint64_t total = 0;
  for (uint32_t i = 0; i < kMessages; ++i) {
    CHECK(from.completed[i] == i);
    total += size_of(i);
    if (i % 3 == 1) continue;
    expected.push_back(0x1000 + i);
    lengths.push_back(static_cast<uint32_t>(size_of(i)));
  }
  for (const ReceiveCompletion& c : to.received) {
    immediates.push_back(c.immediate);
    bytes.push_back(c.bytes);
  }
  CHECK(immediates == expected);
  CHECK(bytes == lengths);
  CHECK(std::equal(from.source.begin(), from.source.begin() + static_cast<std::ptrdiff_t>(total),
                   to.bytes.begin()));
  CHECK(std::all_of(to.bytes.begin() + static_cast<std::ptrdiff_t>(total), to.bytes.end(),
                    [](uint8_t b) { return b == 0; }));
}

}  // namespace

TEST_CASE("messages both ways over a bad network, with every number about to wrap") {
  for (uint64_t seed = 1; seed <= (test::nightly() ? 12u : 4u); ++seed) {
    INFO(seed);
    auto o = bad_network(seed);
    o.first_psn = Psn{seed % 3 == 0 ? 0x7F'FFF0u : 0xFF'FFC0u + static_cast<uint32_t>(seed)};
    // METH.msn and RQMSN wrap at 2^16, AETH.msn at 2^24.
    o.profile = [&](TransportProfile& p) {
      p.first_msn = seed % 2 == 0 ? 0xFF'FFE0u : 0x7FF0u;
      p.sack_base = static_cast<SackBase>(seed % 3);
      if (seed % 4 == 0) p.max_psn_range = 128;
    };
    QpPair pair(o);
    post_all(pair, pair.near());
    post_all(pair, pair.far());
    pair.run_until(us(20'000));
    check_all(pair.near(), pair.far());
    check_all(pair.far(), pair.near());
    CHECK(pair.near().stats.retransmissions > 0);
  }
}

TEST_CASE("no write completes before its transport ACK could have come, however many SACKs come") {
  QpPair pair(QpPair::Options{});
  pair.post(pair.near(), 1, 0, 4096 * 8);
  pair.run_until(us(16));
  // The eighth packet leaves at 7 us, arrives at 12, its ACK is here at 17.
  CHECK(pair.near().completed.empty());
  pair.run_until(us(18));
  CHECK(pair.near().completed == std::vector<uint64_t>{1});
}

TEST_CASE("more immediates in flight than the destination agreed to: both ends fail, and say why") {
  QpPair::Options o;
  o.limits = [](ConnectionLimits& near, ConnectionLimits&) { near.sending.max_immediates = 64; };
  QpPair pair(o);
  // The first one is missing, so the others wait for it at the destination, 32 at most.
  pair.near().loses = [&](const DataPacket& p) { return p.psn == o.first_psn; };
  for (uint32_t i = 0; i < 64; ++i) pair.post(pair.near(), i, i, 1, i);
  pair.post(pair.far(), 100, 0, 4096 * 200);
  pair.run_until(us(100));
  CHECK(pair.far().failure == "Inflight WriteImm Limit Exceeded");
  CHECK(pair.near().failure == "Inflight WriteImm Limit Exceeded");
  CHECK(pair.far().received.empty());
  REQUIRE(pair.near().failed_writes.size() == 64);
  for (uint32_t i = 0; i < 64; ++i) {
    CHECK(pair.near().failed_writes[i].first == i);
    CHECK((pair.near().failed_writes[i].second == "flushed") == (i != 32));
  }
  CHECK(pair.far().failed_writes ==
        std::vector<std::pair<uint64_t, std::string>>{{100, "flushed"}});
  CHECK(pair.near().peer->window->in_flight().value == 0);
  CHECK(pair.far().peer->window->in_flight().value == 0);
}

TEST_CASE("a sender that keeps to the limit is never told that it did not") {
  QpPair pair(bad_network(3));
  for (uint32_t i = 0; i < 500; ++i) REQUIRE(pair.post(pair.near(), i, i, 1, i));
  pair.run_until(us(20'000));
  CHECK(pair.near().completed.size() == 500);
  CHECK(pair.near().failure.empty());
}

TEST_CASE("a Write-with-Immediate without a receive ends both, after what was before it is done") {
  QpPair pair(QpPair::Options{});
  for (uint64_t id = 1; id <= 3; ++id) pair.far().qp->responder.receives().post({id, {}});
  pair.near().qp->responder.receives().post({9, {}});
  for (uint32_t i = 0; i < 5; ++i) pair.post(pair.near(), i, i, 1, i);
  pair.run_until(us(40));
  CHECK(pair.far().failure == "Write With Immediate Without Receive");
  CHECK(pair.near().failure == "Remote Operation Error");
  CHECK(pair.far().received.size() == 3);
  CHECK(pair.near().completed == std::vector<uint64_t>{0, 1, 2});
  CHECK(pair.near().failed_writes == std::vector<std::pair<uint64_t, std::string>>{
                                         {3, "Remote Operation Error"}, {4, "flushed"}});
  CHECK(pair.near().flushed_receives == std::vector<uint64_t>{9});
}

TEST_CASE("a queue pair that failed tells whoever still writes to it, at once") {
  QpPair pair(QpPair::Options{});
  pair.far().qp->requester.fail("Remote Access Error");
  pair.post(pair.near(), 7, 0, 100);
  pair.run_until(us(12));
  CHECK(pair.near().failure == "Remote Operation Error");
  CHECK(pair.near().failed_writes.size() == 1);
}

TEST_CASE("a destination narrows and widens the range of its sender while it sends") {
  QpPair::Options o;
  o.delay_us = 200;
  o.first_psn = Psn{0xFF'FF00};
  o.profile = [](TransportProfile& p) {
    p.dynamic_mpr = true;
    p.ack_timeout = p.tail_probe = us(5000);
    p.reorder_window = p.reorder_window_max = us(3000);
  };
  QpPair pair(o);
  pair.post(pair.near(), 1, 0, 7 << 20);
  const auto in_flight = [&] { return pair.near().qp->requester.outstanding().size(); };
  pair.run_until(us(390));
  CHECK(in_flight() > 300);
  pair.far().qp->responder.ask_for_range(1);
  pair.run_until(us(1300));
  CHECK(in_flight() <= 128);
  CHECK(in_flight() > 100);
  pair.far().qp->responder.ask_for_range(255);  // more than was agreed is what was agreed
  pair.run_until(us(2300));
  CHECK(in_flight() > 300);
  pair.run_until(us(8000));
  CHECK(pair.near().completed.size() == 1);
  CHECK(pair.near().stats.retransmissions == 0);
  CHECK(std::equal(pair.near().source.begin(), pair.near().source.begin() + (7 << 20),
                   pair.far().bytes.begin()));
}
