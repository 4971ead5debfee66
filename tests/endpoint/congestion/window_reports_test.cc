// Reports of a window: each cut under its cause, each answer in its quadrant, and not too often.
// The numbers are those of nscc_bench.h: first and largest window 225,000 B, base RTT 12.8 us, T 8 us.

#include "endpoint/congestion/window_reports.h"

#include <cmath>

#include "endpoint/congestion/even_nscc.h"
#include "tests/endpoint/congestion/nscc_bench.h"
#include "tests/support/sim_fabric.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using namespace mrclab::endpoint::test_nscc;
using test::ns;

namespace {

using TrimmedAt = CongestionControl::TrimmedAt;

/// A window, and what is reported to it by hand.
template <class Rules>
struct ToldWindow {
  TransportProfile profile = round_numbers();
  Rules window{profile, 8};

  void answer(int64_t now, uint64_t bytes, int64_t delay, bool marked = false,
              uint8_t penalty = 0) {
    window.on_sent({bytes}, ns(now));
    Acknowledgement news;
    news.arrived = news.left_flight = {bytes};
    news.marked = marked;
    news.rtt = RttSample{window.base_rtt() + ns(delay), true};
    news.receiver_penalty = penalty;
    window.on_acknowledged(news, ns(now));
  }
  void trim(int64_t now, TrimmedAt where) {
    window.on_sent({1'000}, ns(now));
    window.on_trimmed({{1'000}}, where, ns(now));
  }
  void lose(int64_t now) {
    window.on_sent({1'000}, ns(now));
    window.on_lost({{1'000}}, ns(now));
  }
};
using EvenWindow = ToldWindow<EvenNscc>;
using UecWindow = ToldWindow<Nscc>;

WindowRecord::Cuts cuts_for(const WindowRecord& record, WindowCut cause) {
  return record.cuts[static_cast<size_t>(cause)];
}

/// The window was cut for this cause alone: so often, by so much.
void check_cut(CongestionControl& window, WindowCut cause, uint32_t times, uint64_t taken) {
  const WindowRecord record = window.take_record();
  CHECK(record.cut == cause);
  for (size_t i = 0; i < record.cuts.size(); ++i) {
    CAPTURE(std::string(kCutWords[i]));
    const bool asked = i == static_cast<size_t>(cause);
    CHECK(record.cuts[i].times == (asked ? times : 0));
    CHECK(record.cuts[i].taken == Bytes{asked ? taken : 0});
  }
}

}  // namespace

TEST_CASE("with even shares each cut counts under what caused it, with what it took") {
  EvenWindow b;
  SUBCASE("a trim of the last hop") {
    b.trim(0, TrimmedAt::kLastHop);
    check_cut(b.window, WindowCut::kLastHopTrims, 1, 1'000);
  }
  SUBCASE("a loss") {
    b.lose(0);
    check_cut(b.window, WindowCut::kLosses, 1, 1'000);
  }
  SUBCASE("delay above the target, without a mark") {
    b.answer(0, 10'000, 16'000);
    check_cut(b.window, WindowCut::kDelay, 1, 1'499);
  }
  SUBCASE("the receiver's penalty") {
    b.answer(0, 12'800, 8'000, false, 16);
    check_cut(b.window, WindowCut::kPenalty, 1, 1'600);
  }
  SUBCASE("a refusal for want of resources") {
    b.window.on_sent({1'000}, ns(0));
    b.window.on_refused({1'000}, ns(0));
    check_cut(b.window, WindowCut::kRefusals, 1, 1'000);
  }
  SUBCASE("ports that are gone") {
    b.window.on_live_ports(4);
    CHECK(b.window.window() == Bytes{112'500});
    check_cut(b.window, WindowCut::kPorts, 1, 112'500);
  }
  SUBCASE("a base RTT that is lower than what was assumed") {
    b.answer(0, 1'000, -3'200);
    CHECK(b.window.window() == Bytes{168'750});
    check_cut(b.window, WindowCut::kBaseRtt, 1, 56'250);
  }
}

TEST_CASE(
    "marks that cut are marks, and trims inside the fabric are trims though they cut as marks do") {
  EvenWindow marked;
  for (int i = 0; i < 40; ++i) marked.answer(i * 100, 1'000, 20'000, kMarked);
  marked.window.take_record();
  for (int i = 40; i < 600; ++i) marked.answer(i * 100, 1'000, 20'000, kMarked);
  const WindowRecord late = marked.window.take_record();
  CHECK(cuts_for(late, WindowCut::kMarks).times > 0);
  CHECK(cuts_for(late, WindowCut::kDelay).times == 0);
  CHECK(cuts_for(late, WindowCut::kTrims).times == 0);
  EvenWindow trimmed;
  for (int i = 0; i < 2'000; ++i) trimmed.trim(i * 50, TrimmedAt::kFabric);
  const WindowRecord record = trimmed.window.take_record();
  CHECK(cuts_for(record, WindowCut::kTrims).times > 0);
  CHECK(cuts_for(record, WindowCut::kMarks).times == 0);
  CHECK(cuts_for(record, WindowCut::kTrims).taken == Bytes{225'000} - trimmed.window.window());
}

TEST_CASE("by UEC's letter quick adapt is a cause of its own, and a trim otherwise") {
  UecWindow b;
  b.trim(0, TrimmedAt::kLastHop);
  b.answer(1, 1'000, 0);  // the first period of quick adapt begins
  const WindowRecord first = b.window.take_record();
  CHECK(first.cut == WindowCut::kLastHopTrims);
  CHECK(cuts_for(first, WindowCut::kLastHopTrims).taken == Bytes{1'000});
  b.trim(30'000, TrimmedAt::kFabric);  // little arrived in it
  const WindowRecord adapted = b.window.take_record();
  CHECK(adapted.cut == WindowCut::kQuickAdapt);
  CHECK(cuts_for(adapted, WindowCut::kTrims).times == 0);
  CHECK(first.window - adapted.window == cuts_for(adapted, WindowCut::kQuickAdapt).taken);
}

TEST_CASE("answers are counted in their quadrant, and the delay is that of the queues") {
  const auto answers = [](auto window) {
    window.answer(0, 1'000, 0);
    window.answer(1, 1'000, 9'000);
    window.answer(2, 1'000, 10'000);
    window.answer(3, 1'000, 7'000, kMarked);
    window.answer(4, 1'000, 8'000, kMarked);
    return window.window.take_record();
  };
  for (const WindowRecord& record : {answers(EvenWindow()), answers(UecWindow())}) {
    CHECK(record.answers == std::array<uint32_t, 4>{1, 2, 1, 1});
    CHECK(record.quadrant == WindowQuadrant::kMarkedLate);
    CHECK(record.delay == ns(8'000));
    CHECK(record.most_delay == ns(10'000));
    CHECK(record.target == ns(8'000));
    CHECK(record.base_rtt == ns(kBase));
    CHECK(record.largest == Bytes{225'000});
  }
}

TEST_CASE("what was taken is forgotten, and nothing measured is nothing, not zero") {
  EvenWindow b;
  b.lose(0);
  b.window.take_record();
  const WindowRecord record = b.window.take_record();
  CHECK_FALSE(record.cut);
  CHECK_FALSE(record.quadrant);
  CHECK_FALSE(record.delay);
  CHECK_FALSE(record.most_delay);
}

TEST_CASE("a record comes at most once in a base RTT, and once more when nothing is in flight") {
  EvenWindow b;
  WindowReports reports(ns(kBase), b.window.window());
  CHECK_FALSE(reports.due(b.window, ns(0)));  // nothing has happened
  b.window.on_sent({2'000}, ns(1));
  CHECK(reports.due(b.window, ns(1)));
  b.answer(2, 1'000, 0);
  CHECK_FALSE(reports.due(b.window, ns(2)));
  CHECK_FALSE(reports.due(b.window, ns(kBase)));
  const auto second = reports.due(b.window, ns(kBase + 1));
  REQUIRE(second);
  CHECK(second->answers[0] == 1);  // of the answer in between
  CHECK(second->t == ns(kBase + 1));
  Acknowledgement last;
  last.arrived = last.left_flight = {2'000};
  b.window.on_acknowledged(last, ns(kBase + 2));
  REQUIRE(b.window.in_flight() == Bytes{});
  b.trim(kBase + 3, TrimmedAt::kLastHop);
  const auto idle = reports.due(b.window, ns(kBase + 3));
  REQUIRE(idle);
  CHECK(idle->in_flight == Bytes{});
  b.lose(kBase + 4);
  CHECK_FALSE(reports.due(b.window, ns(kBase + 4)));
  CHECK(reports.due(b.window, ns(kBase * 2 + 3)));
  CHECK_FALSE(reports.due(b.window, ns(kBase * 9)));  // nothing has happened since
}

TEST_CASE("a long run leaves few records: the interval doubles") {
  EvenWindow b;
  WindowReports reports(ns(kBase), b.window.window());
  constexpr int64_t kRoundTrips = 20'000;
  uint32_t records = 0;
  WindowRecord::Cuts cuts;
  for (int64_t at = 0; at < kRoundTrips * kBase; at += kBase / 4) {
    b.window.on_sent({10}, ns(at));
    b.answer(at, 1'000, 16'000);
    const auto record = reports.due(b.window, ns(at));
    if (!record) continue;
    ++records;
    cuts.times += cuts_for(*record, WindowCut::kDelay).times;
  }
  const double bound = WindowReports::kPerInterval *
                       (1 + std::log2(1 + kRoundTrips / (WindowReports::kPerInterval / 2.0)));
  CHECK(records <= bound);
  CHECK(records > 5 * WindowReports::kPerInterval);
  // Nothing is lost by that but time: all cuts are in some record, or in the next one.
  cuts.times += cuts_for(b.window.take_record(), WindowCut::kDelay).times;
  CHECK(cuts.times > kRoundTrips);
}
