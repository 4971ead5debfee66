// Two RC queue pairs against each other: what is lost on the way, and how it is found again.

#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "tests/support/rc_pair.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::RcPair;
using mrclab::test::us;
using Words = std::vector<std::string>;

namespace {

constexpr uint64_t kOnePacket = RcPair::kPmtu;

/// Loses the packets with these PSNs, each once.
std::function<bool(const RcPacket&)> losing(std::vector<uint32_t> psns) {
  return [psns = std::move(psns)](const RcPacket& packet) mutable {
    return std::erase(psns, packet.psn.value()) != 0;
  };
}

RcPair::Options with(RcRecovery recovery, uint32_t reorder = 0) {
  RcPair::Options options;
  options.rc.recovery = recovery;
  options.rc.reorder = reorder;
  return options;
}

}  // namespace

TEST_CASE(
    "messages both ways arrive whole and in order, with an ACK for each 16th packet and last") {
  RcPair pair;
  CHECK(pair.post(1, 0, 40 * kOnePacket));
  CHECK(pair.post(2, 50'000, 100));
  CHECK(pair.far().qp->post(RcPair::request(pair.far(), 3, 0, 5000), pair.now()));
  pair.run_until(us(200));
  CHECK(pair.near().completed == std::vector<uint64_t>{1, 2});
  CHECK(pair.far().completed == std::vector<uint64_t>{3});
  CHECK(pair.far().said == Words{"ack 115", "ack 131", "ack 139", "ack 140"});
  CHECK(pair.near().said == Words{"ack 104"});
  CHECK(pair.is_copied(0, 40 * kOnePacket));
  CHECK(pair.is_copied(50'000, 100));
  CHECK(pair.far().placed == 40 * kOnePacket + 100);
  CHECK(pair.near().qp->ledger().out_of_order() == 0);
}

TEST_CASE("a loss is one NAK and one way back, however many packets were behind it") {
  RcPair pair;
  pair.near().loses_packet = losing({110});
  CHECK(pair.post(1, 0, 60 * kOnePacket));
  pair.run_until(us(300));
  CHECK(pair.near().completed == std::vector<uint64_t>{1});
  CHECK(pair.near().losses == Words{"nak 110"});
  CHECK(std::count(pair.far().said.begin(), pair.far().said.end(), "nak 110") == 1);
  // Sent at 10 us; 111 arrives at 16, the NAK at 21: with that instant, 110 to 120 were for nothing.
  CHECK(pair.near().sent[20] == 120);
  CHECK(pair.near().sent[21] == 110);
  CHECK(pair.near().sent.size() == 60 + 11);
  CHECK(pair.near().stats.retransmissions == 11);
  CHECK(pair.far().refused(Refusal::kOutOfOrder) == 10);
  CHECK(pair.far().placed == 60 * kOnePacket);
  CHECK(pair.is_copied(0, 60 * kOnePacket));
}

TEST_CASE("a selective pair sends again what was lost and nothing else") {
  RcPair pair(with(RcRecovery::kSelective));
  pair.near().loses_packet = losing({110, 112, 130});
  CHECK(pair.post(1, 0, 60 * kOnePacket));
  pair.run_until(us(300));
  CHECK(pair.near().completed == std::vector<uint64_t>{1});
  CHECK(pair.near().losses == Words{"nak 110", "nak 112", "nak 130"});
  CHECK(pair.near().stats.retransmissions == 3);
  CHECK(pair.near().stats.timeouts == 0);
  CHECK(pair.far().placed == 60 * kOnePacket);
  CHECK(pair.is_copied(0, 60 * kOnePacket));
}

TEST_CASE("a selective pair repairs a burst of 40 in six round trips") {
  RcPair pair(with(RcRecovery::kSelective));
  std::vector<uint32_t> burst;
  for (uint32_t psn = 110; psn < 150; ++psn) burst.push_back(psn);
  pair.near().loses_packet = losing(burst);
  CHECK(pair.post(1, 0, 60 * kOnePacket));
  pair.run_until(us(300));
  CHECK(pair.near().completed == std::vector<uint64_t>{1});
  // 1, 2, 4, 8, 16 and of 32 what was sent at all.
  CHECK(pair.near().losses ==
        Words{"nak 110", "nak 111", "nak 113", "nak 117", "nak 125", "nak 141"});
  CHECK(pair.near().stats.retransmissions >= 40);
  CHECK(pair.near().stats.retransmissions <= 50);
  CHECK(pair.near().stats.timeouts == 0);
  CHECK(pair.is_copied(0, 60 * kOnePacket));
}

TEST_CASE("where packets only overtake each other, patience saves every retransmission") {
  RcPair::Options options = with(RcRecovery::kSelective, 32);
  options.spread_us = 10;
  RcPair patient(options);
  options.rc.reorder = 0;
  RcPair hasty(options);
  options.rc.recovery = RcRecovery::kGoBackN;
  RcPair strict(options);
  for (RcPair* pair : {&patient, &hasty, &strict}) {
    CHECK(pair->post(1, 0, 200 * kOnePacket));
    pair->run_until(us(20'000));
    CHECK(pair->near().completed == std::vector<uint64_t>{1});
    CHECK(pair->is_copied(0, 200 * kOnePacket));
    CHECK(pair->far().placed == 200 * kOnePacket);
  }
  CHECK(patient.near().stats.retransmissions == 0);
  CHECK(hasty.near().stats.retransmissions > 20);
  CHECK(strict.near().stats.retransmissions > 200);
}

TEST_CASE("what NAKs cannot tell is found by the timer") {
  RcPair pair;
  const auto sent = [&] { return pair.near().sent; };
  SUBCASE("the last packet was lost") {
    pair.near().loses_packet = losing({109});
    pair.post(1, 0, 10 * kOnePacket);
    pair.run_until(us(100));
    CHECK(sent().size() == 10);  // no answer to it, nor to the others
    pair.run_until(us(200));
    CHECK(pair.near().losses == Words{"timeout 100"});
    CHECK(pair.far().refused(Refusal::kDuplicate) == 9);
  }
  SUBCASE("the ACK was lost") {
    int lost = 0;
    pair.far().loses_reply = [&](const RcReply&) { return lost++ == 0; };
    pair.post(1, 0, 10 * kOnePacket);
    pair.run_until(us(101));
    CHECK(sent().back() == 100);
    pair.run_until(us(150));
    // The first duplicate brings the ACK back, which covers the rest.
    CHECK(pair.far().refused(Refusal::kDuplicate) == 10);
    CHECK(pair.far().said.size() == 11);
  }
  SUBCASE("the NAK was lost") {
    pair.near().loses_packet = losing({103});
    int lost = 0;
    pair.far().loses_reply = [&](const RcReply& r) {
      return r.aeth.syndrome == 0x60 && lost++ == 0;
    };
    pair.post(1, 0, 10 * kOnePacket);
    pair.run_until(us(150));
    CHECK(pair.near().losses == Words{"timeout 100"});
    CHECK(pair.far().said.front() == "nak 103");
    CHECK(pair.far().said[1] == "ack 102");
  }
  pair.run_until(us(400));
  CHECK(pair.near().completed == std::vector<uint64_t>{1});
  CHECK(pair.is_copied(0, 10 * kOnePacket));
  CHECK(pair.near().stats.timeouts == 1);
  CHECK(pair.far().placed == 10 * kOnePacket);
}

TEST_CASE("a peer that says nothing is given up after the retries, and the work says why") {
  RcPair pair;
  pair.far().loses_reply = [](const RcReply&) { return true; };
  pair.post(1, 0, 100);
  pair.post(2, 0, 100);
  pair.near().qp->post_receive({9, {}});
  pair.run_until(us(2'000));
  CHECK(pair.near().failure == "Retry Counter Exceeded");
  CHECK(pair.near().stats.timeouts == 8);
  CHECK(pair.near().failed_work.size() == 2);
  CHECK(pair.near().failed_work[0].second == "Retry Counter Exceeded");
  CHECK(pair.near().flushed_receives == std::vector<uint64_t>{9});
  CHECK(pair.far().placed == 200);  // it may have happened all the same
}

TEST_CASE("an access that is not allowed ends both ends, and nothing is written") {
  RcPair pair;
  pair.far().qp->post_receive({4, {}});
  WriteRequest request = RcPair::request(pair.near(), 1, 0, 5000);
  request.rkey ^= 0x100;
  pair.post(request);
  pair.post(2, 0, 5000);
  pair.run_until(us(100));
  CHECK(pair.near().failure == "Remote Access Error");
  CHECK(pair.near().failed_work[0].second == "Remote Access Error");
  CHECK(pair.near().failed_work[1].second == kFlushed);
  CHECK(pair.far().failure == "Local Access Violation");
  CHECK(pair.far().flushed_receives == std::vector<uint64_t>{4});
  CHECK(pair.far().placed == 0);
}

TEST_CASE("SENDs wait for the receives that take them, in order") {
  RcPair pair;
  std::vector<uint8_t> buffers[3];
  for (auto& buffer : buffers) buffer.resize(3'000);
  CHECK(pair.far().qp->post_receive({0, buffers[0]}));
  for (uint64_t id = 0; id < 3; ++id) {
    WriteRequest request = RcPair::request(pair.near(), id, 10'000 * id, 2'500);
    request.kind = WorkKind::kSend;
    request.immediate = static_cast<uint32_t>(id + 70);
    CHECK(pair.post(request));
  }
  pair.run_until(us(100));
  CHECK(pair.near().completed == std::vector<uint64_t>{0});
  CHECK(std::count(pair.far().said.begin(), pair.far().said.end(), "rnr 103") > 2);
  for (uint64_t id = 1; id < 3; ++id) CHECK(pair.far().qp->post_receive({id, buffers[id]}));
  pair.run_for(us(100));
  CHECK(pair.near().completed == std::vector<uint64_t>{0, 1, 2});
  REQUIRE(pair.far().received.size() == 3);
  for (uint64_t id = 0; id < 3; ++id) {
    CHECK(pair.far().received[id].id == id);
    CHECK(pair.far().received[id].immediate == id + 70);
    CHECK(pair.far().received[id].bytes == 2'500);
    const auto from = pair.near().source.begin() + static_cast<int64_t>(10'000 * id);
    CHECK(std::equal(from, from + 2'500, buffers[id].begin()));
  }
}

TEST_CASE("the goodput of go-back-N is (1-p)/(1-p+pW), W its packets per round trip") {
  for (const uint32_t every : {50u, 100u, 256u}) {
    CAPTURE(every);
    RcPair pair;
    // What goes again is not lost again: as there is one NAK per gap, that would take a timeout.
    uint64_t count = 0;
    Psn lost;
    pair.near().loses_packet = [&](const RcPacket& packet) {
      if (packet.psn == lost || below(mix64(++count), every) != 0) return false;
      lost = packet.psn;
      return true;
    };
    uint64_t posted = 0;
    for (; posted < 20; ++posted) pair.post(posted, 0, 1'000 * kOnePacket);
    while (pair.near().completed.size() < 20 && pair.now() < us(60'000)) pair.run_for(us(1));
    REQUIRE(pair.near().completed.size() == 20);
    // A packet each us. The next one arrives 6 us later, its NAK 5 us after that: 11 packets go again.
    const double p = 1.0 / every;
    const double expected = (1 - p) / (1 - p + p * 11);
    const double goodput = 20'000 / (static_cast<double>(pair.now().ps()) / 1e6);
    CHECK(goodput == doctest::Approx(expected).epsilon(0.02));
    CHECK(pair.far().placed == 20'000 * kOnePacket);
  }
}
