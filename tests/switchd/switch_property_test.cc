// Properties that hold for any load, any faults and any order of calls.

#include <doctest/doctest.h>

#include <set>

#include "fabric/base/random.h"
#include "fixture.h"

using namespace mrclab;
using namespace mrclab::switchd;
using namespace mrclab::switchd::testing;

namespace {

class Dice {
 public:
  explicit Dice(uint64_t seed) : seed_(seed) {}
  uint64_t below(uint64_t bound) { return mrclab::below(mix64(seed_ ^ mix64(n_++)), bound); }
  template <class T>
  void shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) std::swap(items[i - 1], items[below(i)]);
  }

 private:
  uint64_t seed_;
  uint64_t n_ = 0;
};

struct Input {
  FabricTime at;  ///< when the node acts on it
  bool is_frame = false;
  PortId port;
  FabricTime start, arrival;
  uint64_t sequence = 0;
  DropCause lost = DropCause::kNone;
  std::vector<uint8_t> bytes;
  Effect effect;
};

// Two crowded destinations (a host, an uplink) and a little of everything else.
const char* const kCrowded[] = {"5f00:0:2000:e001::", "5f00:0:2000:1000:2001:e000::"};
const char* const kOthers[] = {
    "5f00:0:2000:e000::", "5f00:0:2000:1001:2001:e000::", "5f00:0:1000:2001:e000::",
    "5f00:0:2000::",      "5f00:0:2000:1009::",           "fd01::1",
};
constexpr uint8_t kDscps[] = {kDscpTrimmable, kDscpTrimmable, kDscpTrimmable, kDscpTrimmableRetx,
                              kDscpNoTrim,    kDscpNoTrim,    kDscpControl,   kDscpTrimmed};
constexpr size_t kSizes[] = {4226, 4226, 4226, 4226, 4226, 1000, 200, 118, 60};

Input random_frame(Dice& dice, PortId port, FabricTime start, uint64_t sequence) {
  Input input;
  input.is_frame = true;
  input.port = port;
  const char* const carrier = dice.below(4) == 0 ? kOthers[dice.below(std::size(kOthers))]
                                                 : kCrowded[dice.below(std::size(kCrowded))];
  FrameText text{.carrier = carrier,
                 .dscp = kDscps[dice.below(std::size(kDscps))],
                 .ecn = static_cast<uint8_t>(dice.below(4)),
                 .hop_limit = static_cast<uint8_t>(dice.below(40) == 0 ? 1 : 64),
                 .size = kSizes[dice.below(std::size(kSizes))],
                 .filling = static_cast<uint8_t>(sequence)};
  input.bytes = bytes_of(text);
  input.start = start;
  input.arrival =
      start + serialization_time(wire_length({text.size}), BitRate::from_gbps(100)) + kPropagation;
  input.at = input.arrival + kLatency;
  input.sequence = sequence;
  if (dice.below(50) == 0) input.lost = DropCause::kWireLoss;
  return input;
}

Effect random_effect(Dice& dice, const Topology& topology, NodeId self) {
  const PortRef port{self, PortId{static_cast<uint32_t>(dice.below(4))}};
  switch (dice.below(3)) {
    case 0: return WireState{topology.port(port).in, dice.below(4) != 0};
    case 1: return PortCarrier{port, dice.below(4) != 0};
    default:
      return random_loss(topology.port(port).out,
                         {static_cast<uint32_t>(dice.below(3) * (Probability::kOne / 4))});
  }
}

/// Four ports at full rate towards few destinations, with faults: everything happens.
std::vector<Input> random_inputs(uint64_t seed, const Topology& topology, NodeId self) {
  Dice dice(seed);
  std::vector<Input> inputs;
  for (uint32_t port = 0; port < 4; ++port) {
    FabricTime start = ps(static_cast<int64_t>(dice.below(4)) * 85'000);
    for (uint64_t sequence = 0; sequence < 100; ++sequence) {
      inputs.push_back(random_frame(dice, PortId{port}, start, sequence));
      start = inputs.back().arrival - kPropagation;
      if (dice.below(40) == 0) start += ps(static_cast<int64_t>(dice.below(20)) * 170'000);
    }
  }
  for (uint64_t sequence = 0; sequence < 12; ++sequence) {
    Input input;
    input.at = ps(static_cast<int64_t>(dice.below(200)) * 85'000);
    input.effect = random_effect(dice, topology, self);
    input.sequence = sequence;
    inputs.push_back(std::move(input));
  }
  return inputs;
}

Topology small_queues() {
  Topology fabric = bench_fabric();
  fabric.queues = fabric.fabric_queues = {true,     true,     {4'000}, {16'000}, false,
                                          {12'000}, {18'000}, {1'200}, {1'200},  {20'000},
                                          {},       {},       {},      {},       {}};
  return fabric;
}

void insert(Bench& bench, const Input& input) {
  if (!input.is_frame) {
    bench.node.apply({input.at, input.effect, input.sequence});
    return;
  }
  Arrival arrival;
  arrival.frame = bench.pool.copy(input.bytes);
  arrival.start = input.start;
  arrival.arrival = input.arrival;
  arrival.sequence = input.sequence;
  arrival.lost = input.lost;
  bench.node.receive(input.port, std::move(arrival));
}

const FabricTime kEnd = FabricTime::from_us(100);

}  // namespace

TEST_CASE("the history does not depend on the order of calls, nor on how the time is cut up") {
  size_t trims = 0, marks = 0;
  std::set<DropCause> causes;
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    INFO("seed " << seed);
    Bench straight("p0.t0-0", small_queues(), seed);
    std::vector<Input> inputs = random_inputs(seed, straight.topology, straight.self);
    for (const Input& input : inputs) insert(straight, input);
    straight.run(kEnd);

    Bench stepwise("p0.t0-0", small_queues(), seed);
    Dice dice(seed + 1'000);
    dice.shuffle(inputs);
    FabricTime committed;
    while (committed < kEnd) {
      committed = std::min(kEnd, committed + ps(1 + static_cast<int64_t>(dice.below(3'000'000))));
      std::vector<Input> later;
      for (Input& input : inputs) {  // everything that is due, and some of the rest, in any order
        if (input.at <= committed || dice.below(4) == 0) {
          insert(stepwise, input);
        } else {
          later.push_back(std::move(input));
        }
      }
      inputs = std::move(later);
      dice.shuffle(inputs);
      stepwise.run(committed);
      CHECK(stepwise.node.next_event() > committed);
    }
    REQUIRE(inputs.empty());
    CHECK(straight.notes.packets == stepwise.notes.packets);
    CHECK(straight.notes.sent == stepwise.notes.sent);
    CHECK(straight.notes.events == stepwise.notes.events);
    CHECK(straight.node.named_counters() == stepwise.node.named_counters());

    trims += straight.node.counters().total().trimmed;
    marks += straight.node.counters().total().ecn_marked;
    for (const SeenPacket& drop : straight.notes.drops()) causes.insert(drop.cause);
  }
  // The property would prove nothing if nothing had happened.
  CHECK(trims > 100);
  CHECK(marks > 100);
  for (const DropCause cause :
       {DropCause::kWireDown, DropCause::kWireLoss, DropCause::kPortDown, DropCause::kQueueFull,
        DropCause::kControlQueueFull, DropCause::kTrimmedQueueFull, DropCause::kUnknownUsid,
        DropCause::kEndOfCarrier, DropCause::kHopLimit, DropCause::kForeignCarrier}) {
    INFO(name_of(cause));
    CHECK(causes.count(cause) == 1);
  }
}

TEST_CASE("at every instant what came in has left, was dropped under a name, or waits") {
  for (uint64_t seed = 100; seed < 130; ++seed) {
    INFO("seed " << seed);
    Bench bench("p0.t0-0", small_queues(), seed);
    const std::vector<Input> inputs = random_inputs(seed, bench.topology, bench.self);
    for (const Input& input : inputs) insert(bench, input);
    for (FabricTime t; t <= kEnd; t += FabricTime::from_ns(777)) {
      bench.run(t);
      const PortCounters total = bench.node.counters().total();
      uint64_t dropped = 0;
      for (const uint64_t count : total.drops) dropped += count;
      uint64_t processed = 0;
      for (const Input& input : inputs) processed += input.is_frame && input.at <= t;
      CHECK(total.rx + total.arrivals_lost == processed);
      CHECK(total.rx == total.tx + (dropped - total.arrivals_lost) + total.queued);
      CHECK(total.tx == bench.notes.sent.size());
      CHECK(dropped == bench.notes.drops().size());
      CHECK((total.queued == 0) ==
            (total.data_depth + total.control_depth + total.trimmed_depth == Bytes{0}));
      // Every frame that is still held is one that waits or has not been acted upon.
      CHECK(bench.pool.in_use() ==
            1 + total.queued + (inputs.size() - 12 - static_cast<size_t>(processed)));
    }
    CHECK(bench.node.counters().total().queued == 0);
  }
}

TEST_CASE("a port never sends two frames at once and never idles while a frame waits") {
  for (uint64_t seed = 200; seed < 220; ++seed) {
    INFO("seed " << seed);
    Bench bench("p0.t0-0", small_queues(), seed);
    for (const Input& input : random_inputs(seed, bench.topology, bench.self)) {
      insert(bench, input);
    }
    bench.run(kEnd);
    std::array<FabricTime, 4> free_at{};
    for (const Sent& sent : bench.notes.sent) {
      CHECK(sent.start >= free_at[sent.port.value]);
      const bool waited = sent.start == free_at[sent.port.value];
      const bool just_came = std::any_of(
          bench.notes.packets.begin(), bench.notes.packets.end(), [&](const SeenPacket& p) {
            return p.direction == Direction::kIngress && p.t + kLatency == sent.start;
          });
      CHECK((waited || just_came));
      free_at[sent.port.value] = sent.end;
    }
  }
}

TEST_CASE("any bytes at all are taken without harm and accounted for") {
  Bench bench;
  Dice dice(7);
  constexpr uint64_t kFrames = 20'000;
  for (uint64_t i = 0; i < kFrames; ++i) {
    std::vector<uint8_t> bytes = bytes_of({.size = 54 + dice.below(300)});
    for (uint64_t flips = dice.below(6); flips > 0; --flips) {
      bytes[dice.below(bytes.size())] = static_cast<uint8_t>(dice.below(256));
    }
    bytes.resize(dice.below(8) == 0 ? dice.below(bytes.size() + 1) : bytes.size());
    const FabricTime at = FabricTime::from_ns(static_cast<int64_t>(i * 40));
    bench.arrive_bytes(PortId{static_cast<uint32_t>(dice.below(4))}, at, bytes);
    bench.run(at);
  }
  bench.run();
  const PortCounters total = bench.node.counters().total();
  uint64_t dropped = 0;
  for (const uint64_t count : total.drops) dropped += count;
  CHECK(total.rx == kFrames);
  CHECK(total.tx + dropped == kFrames);
  CHECK(total.tx > kFrames / 4);
  CHECK(dropped > kFrames / 10);
}
