// A receiver that is slower than its ports, on whole fabrics: it slows its senders down before it
// refuses anything, no path is blamed, and everything arrives.

#include <doctest/doctest.h>

#include <map>

#include "endpoint/base/connection_attributes.h"
#include "endpoint/host/host_node.h"
#include "endpoint/options/profile_maker.h"
#include "fabric/packet/headers.h"
#include "tests/support/fabrics.h"
#include "tests/support/nightly.h"
#include "tests/support/sim_fabric.h"
#include "tests/support/times.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using mrclab::test::endless;
using mrclab::test::SimFabric;
using mrclab::test::us;

namespace {

constexpr uint64_t kLine = 800'000'000'000;  // eight ports

WriteSpec messages(uint32_t from, uint32_t to, uint64_t size, uint32_t count) {
  WriteSpec spec;
  spec.from = from;
  spec.to = to;
  spec.size = {size};
  spec.count = count;
  return spec;
}

SimFabric::Options writers(std::initializer_list<uint32_t> from, uint32_t to) {
  SimFabric::Options options;
  for (const uint32_t host : from) options.workloads.push_back(endless(host, to));
  return options;
}

/// Payload that a host took between two instants, as a share of `rate`.
double taken(SimFabric& fabric, uint32_t host, BitRate rate, FabricTime from, FabricTime to) {
  fabric.stop_when_finished = false;
  fabric.run_until(from);
  const uint64_t before = fabric.stats(host).goodput_bytes();
  fabric.run_until(to);
  return static_cast<double>(fabric.stats(host).goodput_bytes() - before) /
         static_cast<double>(bytes_in(rate, to - from).value);
}

void check_paths_unblamed(SimFabric& fabric) {
  for (uint32_t h = 0; h < fabric.topology.host_count(); ++h) {
    CHECK(fabric.stats(h).losses_detected == 0);
    CHECK(fabric.stats(h).evs_bad == 0);
    CHECK(fabric.stats(h).qps_in_error == 0);
    CHECK(fabric.stats(h).bytes_mismatched == 0);
  }
}

HostDrain slow(const SimFabric& fabric, uint32_t host, BitRate rate) {
  return {fabric.topology.host(host), DrainKind::kSlow, rate};
}
HostDrain stalled(const SimFabric& fabric, uint32_t host) {
  return {fabric.topology.host(host), DrainKind::kStalled, {}};
}
HostDrain as_built(const SimFabric& fabric, uint32_t host) {
  return {fabric.topology.host(host), DrainKind::kAsBuilt, {}};
}

}  // namespace

TEST_CASE(
    "senders keep to what a slow receiver drains, one or seven of them, and it refuses little") {
  const std::vector<uint64_t> all{10, 25, 50, 80}, ends{10, 80};
  for (const uint64_t percent : test::nightly() ? all : ends) {
    for (const bool alone : {true, false}) {
      CAPTURE(percent);
      CAPTURE(alone);
      SimFabric fabric(test::octet(), alone ? writers({4}, 0) : writers({1, 2, 3, 4, 5, 6, 7}, 0));
      const BitRate rate{kLine * percent / 100};
      fabric.apply(us(0), slow(fabric, 0, rate));
      fabric.stop_when_finished = false;
      fabric.run_until(us(500));  // the start at line rate is more than the buffer takes
      const uint64_t before = fabric.stats(0).refused_for(Refusal::kNoPacketBuffer);
      const double share = taken(fabric, 0, rate, us(500), us(1500));
      const HostStats receiver = fabric.stats(0);
      const double refused =
          static_cast<double>(receiver.refused_for(Refusal::kNoPacketBuffer) - before) /
          static_cast<double>(bytes_in(rate, us(1000)).value / 4096);
      MESSAGE("taken " << share << " refused " << refused << " trims " << receiver.trims_seen);
      CHECK(share > 0.9);
      CHECK(share < 1.05);  // what the buffer holds varies
      CHECK(refused < 0.01);
      // Seven that start at once are trimmed at the last hop, and some headers are lost with that.
      if (alone) check_paths_unblamed(fabric);
    }
  }
}

TEST_CASE("the penalty comes before the first refusal, and a refusal is answered by waiting") {
  SimFabric fabric(test::octet(), writers({4}, 0));
  FabricTime penalty = FabricTime::never(), refusal = FabricTime::never();
  uint64_t again = 0;
  FabricTime soonest = FabricTime::never();
  std::map<uint32_t, FabricTime> refused;  // by PSN
  fabric.observer(4).on_packet = [&](const PacketRecord& record) {
    MrcPacket packet;
    if (record.event != PacketEvent::kPassed ||
        parse_mrc_frame(record.frame.bytes(), packet) != ParseError::kNone) {
      return;
    }
    if (const auto* seth = std::get_if<Seth>(&packet.extension)) {
      if (seth->receiver_penalty > 0) penalty = std::min(penalty, record.t);
    } else if (const auto* neth = std::get_if<Neth>(&packet.extension)) {
      CHECK(neth->reason == static_cast<uint8_t>(NackReason::kNoPacketBuffer));
      refusal = std::min(refusal, record.t);
      refused[neth->psn.value()] = record.t;
    } else if (record.direction == Direction::kEgress && packet.bth.retransmission) {
      const auto at = refused.find(packet.bth.psn.value());
      REQUIRE(at != refused.end());
      ++again;
      soonest = std::min(soonest, record.t);
    }
  };
  fabric.apply(us(50), stalled(fabric, 0));
  fabric.apply(us(150), as_built(fabric, 0));
  fabric.stop_when_finished = false;
  fabric.run_until(us(600));
  const TransportProfile profile = make_profile("lab", fabric.topology);
  CHECK(penalty < refusal);
  CHECK(refusal > us(50));
  CHECK(fabric.stats(4).resource_nacks_received > 0);
  CHECK(again > 0);
  CHECK(soonest - refusal >= profile.ack_timeout);
  check_paths_unblamed(fabric);
}

TEST_CASE("after a stall the window is what it was") {
  SimFabric fabric(test::octet(), writers({4}, 0));
  fabric.stop_when_finished = false;
  fabric.run_until(us(50));
  const uint64_t before = fabric.stats(4).window_bytes;
  fabric.apply(us(51), stalled(fabric, 0));
  fabric.apply(us(120), as_built(fabric, 0));
  fabric.run_until(us(119));
  CHECK(fabric.stats(4).window_bytes < before / 10);
  CHECK(taken(fabric, 0, {kLine}, us(170), us(250)) > 0.85);
  CHECK(fabric.stats(4).window_bytes > before / 2);
  check_paths_unblamed(fabric);
}

TEST_CASE("a write is complete when it is in memory, not when it is acknowledged by SACK") {
  SimFabric::Options options;
  options.workloads = {messages(4, 0, 64 << 10, 1)};
  SimFabric fabric(test::octet(), options);
  fabric.stop_when_finished = false;
  fabric.apply(us(0), slow(fabric, 0, {64ull << 23}));  // 64 KiB take 977 us
  fabric.run_until(us(900));
  CHECK(fabric.stats(4).in_flight_bytes == 0);
  CHECK(fabric.stats(4).writes_completed == 0);
  CHECK(fabric.stats(0).bytes_verified == 0);
  fabric.run_until(us(1'000));
  CHECK(fabric.stats(4).writes_completed == 1);
  CHECK(fabric.stats(0).bytes_verified == 64 << 10);
  check_paths_unblamed(fabric);
}

TEST_CASE("a stall that does not end is a retry counter exceeded, where retries are counted") {
  for (const bool for_ever : {false, true}) {
    SimFabric::Options options = writers({4}, 0);
    options.profile = make_profile("lab", test::octet());
    if (for_ever) options.profile->exponential_retries = RetryPolicy::kMaxExponential;
    SimFabric fabric(test::octet(), options);
    fabric.stop_when_finished = false;
    fabric.apply(us(50), stalled(fabric, 0));
    fabric.run_until(FabricTime::from_ms(8));
    CHECK(fabric.stats(4).qps_in_error == (for_ever ? 0 : 1));
    CHECK(fabric.observer(4).count("qp_error", "Retry Counter Exceeded") == (for_ever ? 0 : 1));
    CHECK(fabric.stats(4).losses_detected == 0);
    // Each packet once per interval, and the intervals grow: a trickle.
    CHECK(fabric.stats(4).retransmissions < 4 * fabric.stats(4).data_packets_sent);
  }
}

TEST_CASE("a NIC that is slow as built stays so when a fault that asks for more ends") {
  SimFabric::Options options = writers({4}, 0);
  options.profile = make_profile("lab", test::octet());
  options.profile->receive_rate = {kLine / 4};
  SimFabric fabric(test::octet(), options);
  fabric.apply(us(20), slow(fabric, 0, {kLine / 2}));
  CHECK(taken(fabric, 0, {kLine / 4}, us(300), us(600)) < 1.06);
  fabric.apply(us(601), as_built(fabric, 0));
  CHECK(taken(fabric, 0, {kLine / 4}, us(700), us(1000)) < 1.06);
  check_paths_unblamed(fabric);
}

TEST_CASE("queue pairs that share few bitmaps are offered less, then refused, and all arrives") {
  for (const bool dynamic : {false, true}) {
    CAPTURE(dynamic);
    SimFabric::Options options;
    options.workloads = {messages(4, 0, 256 << 10, 6), messages(5, 0, 256 << 10, 6)};
    options.profile = make_profile("lab", test::octet());
    options.profile->receive_bitmaps = 1;
    options.profile->dynamic_mpr = dynamic;
    options.profile->skip_holds = false;
    SimFabric fabric(test::octet(), options);
    uint32_t least_range = 255;
    fabric.observer(4).on_packet = [&](const PacketRecord& record) {
      MrcPacket packet;
      if (parse_mrc_frame(record.frame.bytes(), packet) != ParseError::kNone) return;
      const auto* seth = std::get_if<Seth>(&packet.extension);
      if (seth != nullptr) least_range = std::min<uint32_t>(least_range, seth->mpr);
    };
    // One path is slow, so that packets come out of order.
    const Port& port = fabric.topology.port(*fabric.topology.find_port("h4:p0"));
    fabric.apply(us(0), WireDelay{port.out, us(8), {}, {Probability::kOne}, false});
    fabric.run_until(FabricTime::from_ms(20));
    CHECK(fabric.stats(0).bytes_verified == 2 * 6 * (256 << 10));
    CHECK(least_range == (dynamic ? 1 : 0));
    MESSAGE("refused " << fabric.stats(0).refused_for(Refusal::kNoBitmap));
    if (!dynamic) CHECK(fabric.stats(0).refused_for(Refusal::kNoBitmap) > 0);
    for (const uint32_t h : {0u, 4u, 5u}) CHECK(fabric.stats(h).qps_in_error == 0);
  }
}

TEST_CASE("order and earliness of calls change nothing where a receiver is slow") {
  const auto hash = [](uint32_t shuffle) {
    SimFabric::Options options = writers({1, 4}, 0);
    options.shuffle = shuffle;
    SimFabric fabric(test::octet(), options);
    fabric.stop_when_finished = false;
    fabric.apply(us(20), slow(fabric, 0, {kLine / 3}));
    fabric.apply(us(60), stalled(fabric, 0));
    fabric.apply(us(110), as_built(fabric, 0));
    fabric.run_until(us(200));
    return fabric.hash();
  };
  CHECK(hash(0) == hash(7));
}
