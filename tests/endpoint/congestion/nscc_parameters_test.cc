#include "endpoint/congestion/nscc_parameters.h"

#include <doctest/doctest.h>

#include "endpoint/congestion/congestion_choice.h"
#include "endpoint/congestion/even_nscc.h"
#include "endpoint/congestion/fixed_window.h"
#include "endpoint/congestion/nscc.h"
#include "endpoint/options/profile_maker.h"
#include "tests/support/fabrics.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::ns;

namespace {

/// A topology of which only what NSCC is derived from matters.
Topology network(uint32_t planes, uint64_t gbps, FabricTime base_rtt, bool trims = true) {
  Topology t = test::octet();
  t.planes = planes;
  t.host_rate = BitRate::from_gbps(gbps);
  t.base_rtt = base_rtt;
  t.queues.trim = trims;
  return t;
}

TransportProfile profile(const Topology& topology) { return make_profile("lab", topology); }

}  // namespace

TEST_CASE("on UEC's reference network the constants are UEC's") {
  // 100 Gb/s x 12.032 us (94 x 128 ns; 12 us itself is none) = 150,400 B; a = 1.00266, MSS 4,096.
  const TransportProfile p = profile(network(1, 100, ns(12'000)));
  CHECK(p.nscc_base_rtt == ns(12'032));
  CHECK(p.nscc_target_delay == ns(9'024));  // 0.75 base RTT
  CHECK(p.nscc_max_cwnd == 225'600);        // 1.5 x 150,400
  CHECK(p.nscc_fi == 20'534);               // 5 x 4,096 x 1.00266 = 20,534.6
  CHECK(p.nscc_eta == 616);                 // 0.15 x 4,096 x 1.00266 = 616.04
  CHECK(p.nscc_pi == 12'353);  // 4 x 4,096 x 1.00266 = 16,427.7; x 9.024 / 12 = 12,353.6
  CHECK(p.nscc_fi_scale_permille == 250);  // 0.25 x 1.00266
  CHECK(p.nscc_clear_delay.ps() == 12'032'000 / 12);
  CHECK(p.nscc_adjust_bytes == 33'472);  // 8 x (4,096 + 88)
  CHECK(p.nscc_adjust_period == ns(12'032));
  CHECK(nscc_parameters(p, 1).mtu.value == 4'184);
}

TEST_CASE("gains are those of all ports of a host together, and live ports get their share") {
  // 75 Gb/s x 12.8 us = 120,000 B per port, a = 0.8 per port
  const TransportProfile p = profile(network(8, 75, ns(12'800)));
  CHECK(p.nscc_fi == 8 * 16'384);
  CHECK(p.nscc_max_cwnd == 8 * 180'000);
  CHECK(p.nscc_fi_scale_permille == 1'600);
  const NsccParameters three = nscc_parameters(p, 3);
  CHECK(three.fi.value == 3 * 16'384);
  CHECK(three.fi_scale_permille == 600);
  CHECK(three.max_window.value == 3 * 180'000);
  CHECK(nscc_parameters(p, 0).max_window.value == 4'184);
}

TEST_CASE(
    "where switches do not trim T is a whole base RTT, and 4 T of delay quick adapt's reason") {
  const TransportProfile trims = profile(network(1, 100, ns(12'800)));
  CHECK(trims.nscc_qa_threshold == ns(1'280'000));
  const TransportProfile drops = profile(network(1, 100, ns(12'800), false));
  CHECK(drops.nscc_target_delay == ns(12'800));
  CHECK(drops.nscc_qa_threshold == ns(51'200));
}

TEST_CASE("a rate beyond all reason does not wrap the constants around") {
  Topology t = network(32, 100'000, FabricTime::from_ms(100));
  const TransportProfile p = profile(t);
  CHECK(p.nscc_max_cwnd == 0xFFFF'FFFF);
  CHECK(p.nscc_pi == 0xFFFF'FFFF);
}

TEST_CASE("a profile says which congestion control is made") {
  TransportProfile p = profile(network(8, 100, ns(12'800)));
  const auto nscc = make_congestion_control(p, BitRate::from_gbps(100), 8);
  CHECK(dynamic_cast<EvenNscc*>(nscc.get()) != nullptr);
  CHECK(nscc->window().value == 1'920'000);
  p.nscc_rules = NsccRules::kUec;
  const auto uec = make_congestion_control(p, BitRate::from_gbps(100), 8);
  CHECK(dynamic_cast<Nscc*>(uec.get()) != nullptr);
  p.congestion_control = CongestionAlgorithm::kFixed;
  p.window_percent = 100;
  const auto fixed = make_congestion_control(p, BitRate::from_gbps(100), 8);
  CHECK(dynamic_cast<FixedWindow*>(fixed.get()) != nullptr);
  CHECK(fixed->window().value == 1'280'000);
}
