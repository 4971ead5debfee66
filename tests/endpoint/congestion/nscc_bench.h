#pragma once
// An Nscc whose numbers are easy to compute by hand. Unless a case sets others:
//
//   8 ports, base RTT 12.8 us, PMTU 912 => MTU 1,000 B, largest and first window 225,000 B
//   T 8 us    fi 5,000 B    pi = alpha x T 4,000 B    eta 100 B    fast increase 0.25 B per byte
//   adjust_bytes 8,000 B    adjust_period 12.8 us     clear delay 1 us

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "endpoint/congestion/nscc.h"
#include "endpoint/options/profile_maker.h"
#include "tests/support/fabrics.h"
#include "tests/support/times.h"

namespace mrclab::endpoint::test_nscc {

using test::ns;

inline constexpr int64_t kBase = 12'800;  // ns

inline TransportProfile round_numbers() {
  TransportProfile p = make_profile("lab", mrclab::test::octet());
  p.pmtu = 912;
  p.sack_threshold = 4'000;
  p.nscc_base_rtt = ns(kBase);
  p.nscc_target_delay = ns(8'000);
  p.nscc_max_cwnd = 225'000;
  p.nscc_fi = 5'000;
  p.nscc_pi = 4'000;
  p.nscc_eta = 100;
  p.nscc_fi_scale_permille = 250;
  p.nscc_adjust_bytes = 8'000;
  p.nscc_adjust_period = ns(kBase);
  p.nscc_clear_delay = ns(1'000);
  return p;
}

using TrimmedAt = CongestionControl::TrimmedAt;

/// A window by these rules, on eight ports, with packets of any size in flight. Times in ns.
template <class Rules>
struct WindowBench {
  explicit WindowBench(const std::function<void(TransportProfile&)>& change = {})
      : profile(changed(change)), nscc(profile, 8) {}
  static TransportProfile changed(const std::function<void(TransportProfile&)>& change) {
    TransportProfile p = round_numbers();
    if (change) change(p);
    return p;
  }
  /// Brings the window down to `bytes` by losses so long ago that they have no other effect any more.
  void shrink_to(uint64_t bytes) {
    while (window() > bytes) {
      const Bytes lost{std::min(window() - bytes, window() / 2)};
      nscc.on_sent(lost, ns(-100'000'000));
      nscc.on_lost({lost}, ns(-100'000'000));
    }
    REQUIRE(window() == bytes);
  }
  void sack(int64_t now, uint64_t bytes, int64_t delay, bool marked = false, uint8_t penalty = 0,
            bool restore = false) {
    nscc.on_sent({bytes}, ns(now));
    Acknowledgement news;
    news.arrived = news.left_flight = {bytes};
    news.marked = marked;
    news.rtt = RttSample{nscc.base_rtt() + ns(delay), true};
    news.receiver_penalty = penalty;
    news.restore_cwnd = restore;
    nscc.on_acknowledged(news, ns(now));
  }
  void trim(int64_t now, uint64_t bytes, TrimmedAt where = TrimmedAt::kLastHop) {
    nscc.on_sent({bytes}, ns(now));
    nscc.on_trimmed({{bytes}}, where, ns(now));
  }
  void trim(int64_t now, TrimmedAt where) { trim(now, 1'000, where); }
  void lose(int64_t now) {
    nscc.on_sent({1'000}, ns(now));
    nscc.on_lost({{1'000}}, ns(now));
  }
  uint64_t window() const { return nscc.window().value; }

  TransportProfile profile;
  Rules nscc;
};

using NsccBench = WindowBench<Nscc>;

inline constexpr bool kMarked = true;

}  // namespace mrclab::endpoint::test_nscc
