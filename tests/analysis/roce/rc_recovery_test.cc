// Why flows of RC retransmitted, out of packet histories made by hand.

#include "analysis/measure/rc_recovery.h"

#include <doctest/doctest.h>

#include <map>

using namespace mrclab;
using namespace mrclab::analysis;

namespace {

FabricTime at_us(int64_t t) { return FabricTime::from_us(t); }

/// One flow of RC whose packets leave one in each microsecond from 1 us on, in this order.
PacketHistory sent_in_order(const std::vector<uint32_t>& psns, RcAnswers answers,
                            bool roce = true) {
  PacketTables tables;
  tables.flows.push_back({0, 4, Qpn{7}, roce});
  std::map<uint32_t, uint32_t> packets;
  for (size_t i = 0; i < psns.size(); ++i) {
    const auto [packet, fresh] =
        packets.try_emplace(psns[i], static_cast<uint32_t>(tables.packets.size()));
    if (fresh) tables.packets.emplace_back().psn = Psn{psns[i]};
    Attempt attempt;
    attempt.start = at_us(static_cast<int64_t>(i) + 1);
    attempt.packet = packet->second;
    attempt.attempt = tables.packets[packet->second].attempts++;
    tables.attempts.push_back(attempt);
  }
  tables.rc_answers = {std::move(answers)};
  return PacketHistory(std::move(tables));
}

using Counts = std::array<uint64_t, kRcCauses>;

}  // namespace

TEST_CASE("each round of going back has the cause of the answer that named its first packet") {
  // 0 1 2 3, NAK 1: 1 2 3, not ready 3: 3, and again by the timer.
  const PacketHistory history = sent_in_order(
      {0, 1, 2, 3, 1, 2, 3, 3, 3, 4}, {5, 0, {{at_us(4), Psn{1}}, {at_us(7), Psn{3}, true}}});
  const std::vector<RcRecovery> all = rc_recoveries(history);
  REQUIRE(all.size() == 1);
  CHECK(all[0].packets == 5);
  CHECK(all[0].rounds == Counts{1, 1, 1});
  CHECK(all[0].resent == Counts{3, 1, 1});
  CHECK(all[0].naks == 1);
  CHECK(all[0].not_ready == 1);
  CHECK(all[0].cnps == 5);
}

TEST_CASE("an answer about another packet, of later, or of a round before, is no cause") {
  CHECK(rc_recoveries(sent_in_order({0, 1, 0}, {0, 0, {{at_us(2), Psn{1}}}}))[0].rounds ==
        Counts{0, 0, 1});
  CHECK(rc_recoveries(sent_in_order({0, 1, 0}, {0, 0, {{at_us(4), Psn{0}}}}))[0].rounds ==
        Counts{0, 0, 1});
  CHECK(rc_recoveries(sent_in_order({0, 0, 0}, {0, 0, {{at_us(1), Psn{0}}}}))[0].rounds ==
        Counts{1, 0, 1});
}

TEST_CASE("a round goes on over new packets' gap in order, and PSNs may wrap") {
  const auto wrapped = rc_recoveries(sent_in_order(
      {0xFFFFFE, 0xFFFFFF, 0, 0xFFFFFE, 0xFFFFFF, 0, 1}, {0, 0, {{at_us(3), Psn{0xFFFFFE}}}}));
  CHECK(wrapped[0].rounds == Counts{1, 0, 0});
  CHECK(wrapped[0].resent == Counts{3, 0, 0});
}

TEST_CASE(
    "with selective repeat a round goes on over what need not go again, until something new") {
  const auto one =
      rc_recoveries(sent_in_order({0, 1, 2, 3, 1, 3, 4}, {0, 0, {{at_us(4), Psn{1}}}}));
  CHECK(one[0].rounds == Counts{1, 0, 0});
  CHECK(one[0].resent == Counts{2, 0, 0});
  CHECK(one[0].packets == 5);
  // 5 goes again behind a new packet that is before it: that is a round of its own.
  const auto two = rc_recoveries(sent_in_order({0, 5, 0, 2, 5}, {0, 0, {{at_us(2), Psn{0}}}}));
  CHECK(two[0].rounds == Counts{1, 0, 1});
  CHECK(two[0].resent == Counts{1, 0, 1});
}

TEST_CASE(
    "an answer that arrives as its packet goes again is the cause, and of two the later one") {
  CHECK(rc_recoveries(sent_in_order({0, 1, 0}, {0, 0, {{at_us(3), Psn{0}}}}))[0].rounds ==
        Counts{1, 0, 0});
  CHECK(rc_recoveries(
            sent_in_order({0, 1, 0}, {0, 0, {{at_us(3) + FabricTime::from_ps(1), Psn{0}}}}))[0]
            .rounds == Counts{0, 0, 1});
  CHECK(rc_recoveries(
            sent_in_order({0, 1, 0}, {0, 0, {{at_us(2), Psn{0}}, {at_us(3), Psn{0}, true}}}))[0]
            .rounds == Counts{0, 1, 0});
  // What named it in a round before is used up.
  CHECK(rc_recoveries(sent_in_order({0, 1, 0, 1, 0}, {0, 0, {{at_us(2), Psn{0}}}}))[0].rounds ==
        Counts{1, 0, 1});
}

TEST_CASE("each flow has its own rounds, and one without answers has timeouts") {
  PacketTables tables;
  tables.flows = {{1, 5, Qpn{6}, false}, {0, 4, Qpn{7}, true}, {4, 0, Qpn{8}, true}};
  const auto send = [&](uint32_t packet, int64_t at, uint16_t attempt, bool start_seen = true) {
    Attempt& sent = tables.attempts.emplace_back();
    sent.packet = packet;
    sent.start = at_us(at);
    sent.attempt = attempt;
    sent.start_seen = start_seen;
  };
  for (uint32_t flow = 0; flow < 3; ++flow) tables.packets.emplace_back().flow = flow;
  send(0, 1, 0), send(1, 2, 0), send(2, 3, 0);
  send(2, 4, 1), send(0, 5, 1), send(1, 6, 1), send(2, 7, 2);
  send(1, 8, 2, false);  // seen to arrive only: when it left was not seen
  tables.rc_answers = {{}, {0, 0, {{at_us(5), Psn{}}}}};
  const auto all = rc_recoveries(PacketHistory(std::move(tables)));
  REQUIRE(all.size() == 2);
  CHECK(all[0].flow == 1);
  CHECK(all[0].packets == 1);
  CHECK(all[0].rounds == Counts{1, 0, 0});
  CHECK(all[1].flow == 2);
  CHECK(all[1].packets == 1);
  CHECK(all[1].rounds == Counts{0, 0, 2});
}

TEST_CASE("causes have names") {
  CHECK(name_of(RcCause::kNak) == "NAK");
  CHECK(name_of(RcCause::kNotReady) == "not ready");
  CHECK(name_of(RcCause::kTimeout) == "timeout");
}

TEST_CASE("flows of MRC are left out") {
  CHECK(rc_recoveries(sent_in_order({0, 0}, {}, false)).empty());
}
