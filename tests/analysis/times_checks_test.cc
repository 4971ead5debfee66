// How long messages, pings and iterations take, and what is open when it should have ended.

#include <doctest/doctest.h>

#include <fstream>

#include "analysis/checks/checks.h"
#include "analysis/measure/message_times.h"
#include "tests/support/synthetic_traffic.h"

namespace mrclab::analysis {
namespace {

using test::kFault;
using test::kHeal;
using test::percent;
using test::SyntheticRun;
using test::us;

/// Nothing but what a test sends, on four hosts; h2:p0 fails at 400us.
struct Messages : test::TrafficStory {
  explicit Messages(const char* name) : TrafficStory(name) {
    traffic.flows = {};
    run.add_link_fault("h2:p0", kFault, kHeal);
    run.inputs.faults[0].impairments.clear();
  }
  static SyntheticRun::Sent packet(uint32_t source, uint32_t destination, uint32_t psn,
                                   FabricTime start, size_t payload = 2) {
    SyntheticRun::Sent sent;
    sent.source = source;
    sent.destination = destination;
    sent.psn = psn;
    sent.payload = payload;
    sent.start = start;
    return sent;
  }
  /// A ping from h0 to h2 and, so much later, its pong.
  void ping(uint32_t number, FabricTime at, bool answered = true) {
    run.run.delivered(packet(0, 2, number, at));
    if (answered) run.run.delivered(packet(2, 0, number, at + FabricTime::from_ns(6500)));
  }
};

}  // namespace

TEST_CASE("latency is half of the time from one ping to the next") {
  Messages story("latency");
  for (uint32_t n = 0; n < 10; ++n) story.ping(n, us(100) + us(13) * n);
  ExpectLatency expect{"h0", "h2"};
  expect.at_most = FabricTime::from_ns(6600);
  const CheckResult check = story.check(expect);
  CHECK(check.note == "");
  CHECK(check.result == Result::kPass);
  REQUIRE(check.measured);
  CHECK(*check.measured == doctest::Approx(6.5).epsilon(0.001));
  REQUIRE(check.looked);
  CHECK(to_string(*check.looked) == "10 pings by packets, 0s to 1ms");
  expect.at_most = FabricTime::from_ns(6400);
  CHECK(story.result(expect) == Result::kFail);
  expect.at_most = FabricTime::never();
  expect.at_least = us(7);
  CHECK(story.result(expect) == Result::kFail);
  CHECK(story.result(ExpectLatency{"h1", "h2", us(1)}) == Result::kInconclusive);
}

TEST_CASE("a ping that nobody answers counts with the time so far") {
  Messages story("latency-dead");
  for (uint32_t n = 0; n < 10; ++n) story.ping(n, us(100) + us(13) * n, n < 9);
  ExpectLatency expect{"h0", "h2", {}, us(7)};
  const CheckResult check = story.check(expect);
  CHECK(check.result == Result::kFail);
  CHECK(check.note.find("us; the ping at 2") != std::string::npos);
  CHECK(check.note.find(" is open for 78") != std::string::npos);
  // Whatever the bound: it is open how long it takes.
  expect.at_most = us(500);
  CHECK(story.result(expect) == Result::kInconclusive);
  // One that was sent a moment before the end is no sign.
  expect = {"h0", "h2", {}, us(7), {}, us(225)};
  CHECK(story.result(expect) == Result::kPass);
}

TEST_CASE("what is no ping-pong has no latency") {
  Messages one_way("latency-of-writes");
  for (uint32_t n = 0; n < 10; ++n) one_way.ping(n, us(100) + us(2) * n, false);
  const ExpectLatency expect{"h0", "h2", {}, us(100)};
  const CheckResult writes = one_way.check(expect);
  CHECK(writes.result == Result::kInconclusive);
  CHECK(writes.note.find("this is no ping-pong: the message at ") == 0);
  // Both ways, but the answers do not wait.
  Messages both_ways("latency-of-both-ways");
  for (uint32_t n = 0; n < 10; ++n) both_ways.ping(n, us(100) + us(3) * n);
  CHECK(both_ways.result(expect) == Result::kInconclusive);
}

TEST_CASE("a message takes from its first packet's leaving to its last packet's coming") {
  Messages story("message-time");
  const auto write = [&](uint32_t psn, FabricTime at, size_t packets, FabricTime late = {}) {
    for (size_t i = 0; i < packets; ++i) {
      auto sent = Messages::packet(0, 2, psn + static_cast<uint32_t>(i), at, 4096);
      sent.opcode = packets == 1       ? Opcode::kWriteOnly
                    : i == 0           ? Opcode::kWriteFirst
                    : i + 1 == packets ? Opcode::kWriteLast
                                       : Opcode::kWriteMiddle;
      sent.message = static_cast<uint32_t>(4096 * packets);
      sent.start = at + us(1) * static_cast<int64_t>(i) + (i == 1 ? late : FabricTime::zero());
      story.run.run.delivered(sent);
    }
  };
  write(0, us(100), 1);
  const double alone = *story.check(ExpectMessageTime{us(100)}).measured;
  CHECK(alone > 1);
  write(1, us(200), 4);
  CHECK(*story.check(ExpectMessageTime{us(100)}).measured == doctest::Approx(alone + 3));
  write(5, us(300), 4, us(50));  // its second packet comes last
  ExpectMessageTime expect{us(40)};
  const CheckResult slow = story.check(expect);
  CHECK(slow.result == Result::kFail);
  CHECK(*slow.measured == doctest::Approx(alone + 51));
  expect.by = MessageTimeMeasure::kP50;
  CHECK(*story.check(expect).measured == doctest::Approx(alone + 3));
  expect = {us(40)};
  expect.until = us(250);
  CHECK(story.check(expect).looked->count() == 2);
  expect.until = FabricTime::never();
  expect.max_size = Bytes{4096};
  CHECK(*story.check(expect).measured == doctest::Approx(alone));
  expect.max_size.reset();
  expect.flows.source = "h1";
  CHECK(story.result(expect) == Result::kInconclusive);
  const Verdict verdict = story.run.analyze().verdict;
  REQUIRE(verdict.metrics.messages);
  CHECK(verdict.metrics.messages->messages == 3);
  CHECK(verdict.metrics.messages->open == 0);
  CHECK(verdict.metrics.messages->max.us() == doctest::Approx(alone + 51));
}

TEST_CASE("a message that does not end has taken the time so far") {
  Messages story("message-open");
  for (uint32_t n = 0; n < 9; ++n)
    story.run.run.delivered(Messages::packet(0, 2, n, us(100 + 10 * n)));
  story.run.run.lost(Messages::packet(0, 2, 9, us(200)), "p0.t0-1:d0", "wire_down");
  const CheckResult check = story.check(ExpectMessageTime{us(20)});
  CHECK(check.result == Result::kFail);
  CHECK(*check.measured == doctest::Approx(800));
  CHECK(check.note.find("1 open at the end, the longest for ") != std::string::npos);
  // Not even a bound that the time so far keeps: it goes on. Half of all messages have a time.
  CHECK(story.result(ExpectMessageTime{us(900)}) == Result::kInconclusive);
  CHECK(story.result(ExpectMessageTime{us(20), MessageTimeMeasure::kP99}) == Result::kFail);
  CHECK(story.result(ExpectMessageTime{us(20), MessageTimeMeasure::kP50}) == Result::kPass);
}

TEST_CASE("collectives may take so much longer than before the first fault") {
  Messages story("completion");
  const test::ScratchFile events("completion.jsonl");
  std::ofstream out(events.path());
  for (const int64_t t : {100, 200, 300, 402, 512, 622}) {  // 100 before, then 102, 110, 110
    out << "{\"t_ps\":" << t * 1'000'000
        << ",\"node\":\"h0\",\"kind\":\"collective_done\",\"detail\":\"iteration\"}\n";
  }
  out.close();
  story.run.inputs.events = events.path();
  CHECK(story.result(ExpectCompletionTime{percent(8)}) == Result::kPass);  // 107.3 on the average
  const CheckResult check = story.check(ExpectCompletionTime{percent(8), us(500)});
  CHECK(check.result == Result::kFail);
  CHECK(*check.measured == doctest::Approx(10));
  CHECK(story.result(ExpectCompletionTime{percent(8), us(700)}) == Result::kInconclusive);

  // A message of its host has no end: the iteration hangs, and 378us so far are no 108.
  story.run.inputs.hosts.hosts[0].queues = {{Qpn{7}, Qpn{8}, 2, 5, 4, 0, 0, false}};
  const CheckResult hangs = story.check(ExpectCompletionTime{percent(8)});
  CHECK(hangs.result == Result::kFail);
  CHECK(hangs.note.find("1 open at 1ms, the longest for 378us") != std::string::npos);
  CHECK(story.result(ExpectCompletionTime{Probability{Probability::kOne}, us(700)}) ==
        Result::kFail);
  CHECK(story.result(ExpectCompletionTime{Probability{Probability::kOne}}) ==
        Result::kInconclusive);
  // Before the window ends it was ordinary work.
  CHECK(story.result(ExpectCompletionTime{percent(8), {}, us(630)}) == Result::kPass);
}

TEST_CASE("no check can be made to pass without what it looked at") {
  static_assert(!std::is_constructible_v<Outcome, Result>);
  static_assert(!std::is_assignable_v<Outcome&, Result>);
  static_assert(!std::is_invocable_v<decltype(&passed), CheckResult>);
  static_assert(!std::is_default_constructible_v<Looked>);
  CheckResult check;
  check.measured = 0;
  const Looked nothing(0, "ping", us(1), us(2), Source::kPackets);
  const CheckResult open = passed(check, nothing);
  CHECK(open.result == Result::kInconclusive);
  CHECK_FALSE(open.measured);
  CHECK(open.note == "nothing was looked at: there were no pings by packets, 1us to 2us");
  CHECK(passed(check, {1, "ping", us(1), us(2), Source::kPackets}).result == Result::kPass);
}

}  // namespace mrclab::analysis
