// RC keeps its promise whatever the way does: every byte is placed once and completions come in order, or the
// queue pair fails and reports it.

#include <doctest/doctest.h>

#include <numeric>

#include "tests/support/nightly.h"
#include "tests/support/property.h"
#include "tests/support/rc_pair.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::counterexample;
using mrclab::test::RcPair;
using mrclab::test::us;

namespace {

struct RcTransfer {
  RcPair::Options options;
  std::vector<uint32_t> sizes;
  std::vector<uint32_t> sends;  ///< one bit: that message is a SEND
  bool receives_late = false;
};

void showValue(const RcTransfer& t, std::ostream& out) {  // rapidcheck finds it by its name
  const RcParameters& rc = t.options.rc;
  out << (rc.recovery == RcRecovery::kSelective ? "selective" : "go-back-N") << ", reorder "
      << rc.reorder << ", window " << rc.window << ", first PSN " << t.options.first_psn.value()
      << ", loss " << t.options.lose_percent << " %, repeats " << t.options.repeat_percent
      << " %, spread " << t.options.spread_us << " us, seed " << t.options.seed
      << (t.receives_late ? ", receives late" : "") << ", messages";
  for (size_t i = 0; i < t.sizes.size(); ++i) {
    out << (t.sends[i] == 1 ? " SEND " : " ") << t.sizes[i];
  }
}

rc::Gen<RcTransfer> rc_transfers() {
  return rc::gen::exec([] {
    const auto in = [](uint32_t from, uint32_t below) {
      return *rc::gen::inRange<uint32_t>(from, below);
    };
    RcTransfer t;
    t.options.seed = in(1, 100'000);
    t.options.first_psn = Psn{*rc::gen::element(0u, 100u, 0xFF'FFFFu, 0xFF'FFF0u, 0x7F'FFF8u)};
    const uint32_t weather = in(0, 8);  // mostly rain, seldom a storm
    t.options.lose_percent = weather == 0 ? in(30, 70) : weather < 3 ? 0 : in(0, 25);
    t.options.repeat_percent = in(0, 3) == 0 ? 0 : in(0, 30);
    t.options.spread_us = in(0, 2) == 0 ? 0 : in(0, 60);
    RcParameters& rc = t.options.rc;
    rc.recovery = in(0, 2) == 0 ? RcRecovery::kGoBackN : RcRecovery::kSelective;
    rc.reorder = in(0, 2) == 0 ? 0 : in(0, 64);
    rc.window = *rc::gen::element(1u, 2u, 16u, 128u, 200u);
    rc.ack_every = std::min(in(1, 33), rc.window);
    rc.times.regular = us(200);
    t.receives_late = in(0, 4) == 0;
    for (uint32_t messages = in(1, 6); messages > 0; --messages) {
      t.sizes.push_back(std::max(1u, in(0, 60) * RcPair::kPmtu + in(0, RcPair::kPmtu)));
      t.sends.push_back(in(0, 2));
    }
    return t;
  });
}

struct RcOutcomes {
  uint64_t losses = 0, naks = 0, timeouts = 0, failures = 0, completed = 0;
};

/// What is wrong with it, or nothing.
std::string run_rc(const RcTransfer& t, RcOutcomes& outcomes) {
  constexpr uint64_t kRoom = 64 * RcPair::kPmtu;
  RcPair pair(t.options);
  std::vector<std::vector<uint8_t>> buffers(t.sizes.size(), std::vector<uint8_t>(kRoom));
  const auto post_receives = [&] {
    for (size_t i = 0; i < t.sizes.size(); ++i) {
      if (t.sends[i] == 1) pair.far().qp->post_receive({i, buffers[i]});
    }
  };
  if (t.receives_late) pair.far().qp->responder.receives().stop_replenishing();
  if (!t.receives_late) post_receives();
  uint64_t bytes = 0;
  for (uint64_t i = 0; i < t.sizes.size(); ++i) {
    WriteRequest request = RcPair::request(pair.near(), i, i * kRoom, t.sizes[i]);
    if (t.sends[i] == 1) request.kind = WorkKind::kSend;
    if (!pair.post(request)) return "a message was not taken";
    bytes += t.sizes[i];
  }
  pair.run_until(us(300));
  if (t.receives_late) post_receives();
  while (pair.now() < us(1'000'000) && pair.near().completed.size() < t.sizes.size() &&
         pair.near().failure.empty()) {
    pair.run_for(us(1'000));
  }
  const RcPair::End &near = pair.near(), &far = pair.far();
  outcomes.losses += near.losses.size();
  outcomes.naks += near.stats.sequence_naks_received;
  outcomes.timeouts += near.stats.timeouts;
  outcomes.completed += near.completed.size();
  for (size_t i = 0; i < near.completed.size(); ++i) {
    if (near.completed[i] != i) return "completions out of order";
  }
  if (near.qp->ledger().out_of_order() != 0) return "work answered out of order";
  if (!far.failure.empty()) return "the receiver refused a good request";
  if (!near.failure.empty()) {
    ++outcomes.failures;
    if (near.failure != "Retry Counter Exceeded") return "failed by " + near.failure;
    if (near.completed.size() + near.failed_work.size() != t.sizes.size()) return "work forgotten";
    if (t.options.lose_percent < 8 && t.options.spread_us == 0) return "failed too easily";
  } else if (near.completed.size() != t.sizes.size()) {
    return "neither done nor failed";
  } else if (far.placed != bytes) {
    return "a byte placed twice, or not at all";
  }
  for (size_t i = 0; i < near.completed.size(); ++i) {
    const auto meant = std::span(near.source).subspan(i * kRoom, t.sizes[i]);
    const auto there =
        t.sends[i] == 1 ? std::span(buffers[i]) : far.bytes.subspan(i * kRoom, t.sizes[i]);
    if (!std::equal(meant.begin(), meant.end(), there.begin())) {
      return "a wrong byte";
    }
  }
  if (t.options.lose_percent == 0 && t.options.spread_us == 0 && !t.receives_late &&
      near.stats.retransmissions != 0) {
    return "a retransmission without a loss";
  }
  const auto sends = std::accumulate(t.sends.begin(), t.sends.end(), size_t{0});
  if (near.failure.empty() && far.received.size() != sends) return "a SEND was not told";
  for (const ReceiveCompletion& received : far.received) {
    if (received.bytes != t.sizes[received.id]) return "a SEND was told with a wrong length";
  }
  return "";
}

}  // namespace

TEST_CASE("RC: every byte is placed once and in order, or the queue pair fails and says so") {
  const uint32_t transfers_tried = test::nightly() ? 400 : 160;
  RcOutcomes outcomes;
  CHECK(counterexample(
            [&] {
              const RcTransfer t = *rc_transfers();
              const std::string problem = run_rc(t, outcomes);
              if (!problem.empty()) RC_FAIL(problem);
            },
            static_cast<int>(transfers_tried)) == "");
  // On average for each transfer.
  CHECK(outcomes.losses > transfers_tried * 15 / 2);
  CHECK(outcomes.naks > transfers_tried * 5 / 2);
  CHECK(outcomes.timeouts > transfers_tried * 5 / 4);
  CHECK(outcomes.failures > 0);
  CHECK(outcomes.completed > transfers_tried * 3 / 2);
}
