#include "netio/runtime/arrival_reader.h"

#include <doctest/doctest.h>

#include "tests/netio/two_processes.h"

namespace mrclab::netio {
namespace {

/// t0, which reads what its port to h0 receives.
struct LeafReader : TwoProcesses {
  LeafReader() { ledger.add_node(leaf); }

  /// As h0 writes it: starts at 10 ns, ends at 20 ns, and flies for 500 ns.
  TimeTrailer trailer(uint64_t sequence) const {
    return {page->lab,
            leaf_port().in,
            1,
            1000,
            sequence,
            FabricTime::from_ns(10),
            FabricTime::from_ns(20),
            FabricTime::from_ns(500),
            DropCause::kNone};
  }
  std::optional<Arrival> read(const TimeTrailer& written) {
    std::vector<uint8_t> frame = ipv6_frame();
    write_trailer(written, std::span(frame).subspan(kPlainFrameBytes).first<kTrailerBytes>());
    return read(frame);
  }
  std::optional<Arrival> read(const std::vector<uint8_t>& frame, LabTime received = LabTime{1}) {
    return reader.read({leaf, PortId{0}}, frame, received);
  }

  ProcessMap processes = seen_by(1);
  FramePool frames;
  IngressLedger ledger{*page, topology, processes};
  ArrivalReader reader{*page, topology, 1, frames, ledger};
};

constexpr FabricTime kArrival = FabricTime::from_ns(520);

}  // namespace

TEST_CASE("a frame with its wire's trailer arrives when the trailer says, as large as it says") {
  LeafReader leaf;
  leaf.reader.begin_tick(LabTime{1}, FabricTime::zero(), FabricTime::zero());
  CHECK(leaf.reader.earliest_need() == FabricTime::never());
  const std::optional<Arrival> arrival = leaf.read(leaf.trailer(0));
  REQUIRE(arrival);
  CHECK(arrival->start == FabricTime::from_ns(10));
  CHECK(arrival->arrival == kArrival);
  CHECK(arrival->sequence == 0);
  CHECK_FALSE(arrival->foreign);
  CHECK(arrival->lost == DropCause::kNone);
  CHECK(arrival->frame.size() == kPlainFrameBytes);
  CHECK(arrival->frame.modelled_size().value == 1000);
  CHECK(leaf.ledger.taken() == 1);
  CHECK(leaf.reader.earliest_need() == kArrival + leaf.topology.switch_latency);
  CHECK(leaf.reader.counts().carried == 1);
  CHECK(leaf.reader.counts().late == 0);
}

TEST_CASE("a frame is late if its node has committed the instant at which it needs it") {
  for (const bool late : {false, true}) {
    CAPTURE(late);
    LeafReader leaf;
    const FabricTime need = kArrival + leaf.topology.switch_latency;
    leaf.reader.begin_tick(LabTime{1}, need, late ? need : need - kPicosecond);
    CHECK(leaf.read(leaf.trailer(0)));
    CHECK(leaf.reader.counts().late == (late ? 1 : 0));
    CHECK(leaf.page->slot(1).late_frames.load() == (late ? 1 : 0));
  }
}

TEST_CASE("a switch that cuts through needs a frame sooner, and one that was lost no sooner") {
  for (const bool lost : {false, true}) {
    CAPTURE(lost);
    LeafReader leaf;
    leaf.topology.switching = Switching::kCutThrough;
    leaf.reader.begin_tick(LabTime{1}, FabricTime::zero(), FabricTime::zero());
    TimeTrailer trailer = leaf.trailer(0);
    // 1,024 bytes on the wire less the 136 that a lookup needs.
    const FabricTime lead = serialization_time({888}, leaf.topology.wire(trailer.wire).rate);
    std::vector<uint8_t> bytes = LeafReader::ipv6_frame();
    if (lost) {
      trailer.lost = DropCause::kWireLoss;
      bytes.resize(kPlainFrameBytes);
      const Frame in_its_place = make_void_frame(leaf.frames, leaf.frames.copy(bytes));
      bytes.assign(in_its_place.bytes().begin(), in_its_place.bytes().end());
      bytes.resize(bytes.size() + kTrailerBytes);
    }
    write_trailer(trailer, std::span(bytes).last<kTrailerBytes>());
    CHECK(leaf.read(bytes));
    CHECK(leaf.reader.earliest_need() ==
          kArrival + leaf.topology.switch_latency - (lost ? FabricTime::zero() : lead));
  }
}

TEST_CASE("another lab's frame, another wire's, a silent process's and a duplicate are dropped") {
  LeafReader leaf;
  leaf.reader.begin_tick(LabTime{1}, FabricTime::zero(), FabricTime::zero());
  TimeTrailer other_lab = leaf.trailer(0), other_wire = leaf.trailer(0);
  other_lab.lab = 8;
  other_wire.wire = leaf.leaf_port().out;
  CHECK_FALSE(leaf.read(other_lab));
  CHECK_FALSE(leaf.read(other_wire));
  leaf.page->set_state(0, ProcessState::kReleased);
  CHECK_FALSE(leaf.read(leaf.trailer(0)));
  CHECK(leaf.ledger.taken() == 0);
  leaf.page->set_state(0, ProcessState::kReady);
  CHECK(leaf.read(leaf.trailer(0)));
  CHECK(leaf.reader.counts().unknown == 3);
  CHECK_FALSE(leaf.read(leaf.trailer(0)));
  CHECK(leaf.reader.counts().unknown == 4);
  CHECK(leaf.reader.counts().carried == 2);
  CHECK(leaf.ledger.taken() == 1);
}

TEST_CASE("a void frame counts as the frame that it stands for, although its ring is read first") {
  LeafReader leaf;
  leaf.reader.begin_tick(LabTime{1}, FabricTime::zero(), FabricTime::zero());
  Frame lost = leaf.frames.copy(TwoProcesses::ipv6_frame());
  lost.resize(kPlainFrameBytes);
  Frame standing = make_void_frame(leaf.frames, lost);
  TimeTrailer trailer = leaf.trailer(1);
  trailer.lost = DropCause::kWireLoss;
  std::vector<uint8_t> bytes(standing.bytes().begin(), standing.bytes().end());
  bytes.resize(bytes.size() + kTrailerBytes);
  write_trailer(trailer, std::span(bytes).last<kTrailerBytes>());
  const std::optional<Arrival> arrival = leaf.read(bytes);
  REQUIRE(arrival);
  CHECK(arrival->lost == DropCause::kWireLoss);
  CHECK(arrival->frame.size() == kVoidHeaderBytes);
  CHECK(arrival->frame.modelled_size().value == 1000);
  CHECK(leaf.read(leaf.trailer(0)));  // sent before it
  CHECK(leaf.ledger.taken() == 2);
  CHECK(leaf.reader.counts().unknown == 0);
}

TEST_CASE("a frame without a trailer arrives by the clock, and never before what is committed") {
  LeafReader leaf;
  std::vector<uint8_t> frame = TwoProcesses::ipv6_frame();
  frame.resize(kPlainFrameBytes);
  leaf.page->clock.reset(FabricTime::zero(), LabTime{0});
  leaf.page->clock.set_dilation({1000}, LabTime{0});
  const LabTime now{50'000'000};
  const FabricTime clock = leaf.page->clock.fabric_at(now);
  leaf.reader.begin_tick(now, clock, FabricTime::from_us(2));
  const LabTime came{20'000'000};
  const std::optional<Arrival> early = leaf.read(frame, LabTime{0}),
                               by_clock = leaf.read(frame, came),
                               ahead = leaf.read(frame, now + 1'000'000);
  REQUIRE(by_clock);
  CHECK(by_clock->foreign);
  CHECK(by_clock->arrival == leaf.page->clock.fabric_at(came));
  REQUIRE(early);
  CHECK(early->arrival == FabricTime::from_us(2));
  REQUIRE(ahead);
  CHECK(ahead->arrival == clock);
  CHECK(by_clock->sequence != early->sequence);
  CHECK(by_clock->sequence > UINT32_MAX);  // behind all of a wire's own
  CHECK(leaf.reader.counts().foreign == 3);
  CHECK(leaf.reader.earliest_need() == FabricTime::never());
  CHECK(leaf.ledger.taken() == 0);
}

TEST_CASE(
    "frames without a trailer arrive in the order in which they came, also past a clock that steps "
    "back") {
  LeafReader leaf;
  std::vector<uint8_t> frame = TwoProcesses::ipv6_frame();
  frame.resize(kPlainFrameBytes);
  netio::ClockPage& clock = leaf.page->clock;
  clock.reset(FabricTime::zero(), LabTime{0});
  clock.set_dilation({1000}, LabTime{0});
  const FabricTime held_at = FabricTime::from_us(7);  // by a leash
  leaf.reader.begin_tick(LabTime{50'000'000}, held_at, FabricTime::zero());
  const std::optional<Arrival> first = leaf.read(frame, LabTime{40'000'000});
  clock.set_back(FabricTime::from_us(5), {1000}, LabTime{50'000'000});
  leaf.reader.begin_tick(LabTime{51'000'000}, held_at, FabricTime::zero());
  const std::optional<Arrival> second = leaf.read(frame, LabTime{50'500'000});
  leaf.reader.begin_tick(LabTime{55'000'000}, FabricTime::from_us(9), FabricTime::zero());
  const std::optional<Arrival> third = leaf.read(frame, LabTime{53'000'000});
  REQUIRE(first);
  REQUIRE(second);
  REQUIRE(third);
  CHECK(first->arrival == held_at);
  CHECK(second->arrival == held_at);  // its stamp is 5.5 us
  CHECK(second->sequence > first->sequence);
  CHECK(third->arrival == FabricTime::from_us(8));
}

TEST_CASE("a trailer that a neighbour which is not ours passes on is cut off, and tells nothing") {
  TwoProcesses two;
  const ProcessMap processes{1, {kNoProcess, 1}};
  FramePool frames;
  IngressLedger ledger(*two.page, two.topology, processes);
  ledger.add_node(two.leaf);
  ArrivalReader reader(*two.page, two.topology, 1, frames, ledger);
  std::vector<uint8_t> frame = TwoProcesses::ipv6_frame();
  const TimeTrailer trailer{two.page->lab,
                            two.leaf_port().in,
                            1,
                            154,
                            0,
                            FabricTime::zero(),
                            FabricTime::from_ns(10),
                            FabricTime::from_ns(500),
                            DropCause::kNone};
  write_trailer(trailer, std::span(frame).subspan(kPlainFrameBytes).first<kTrailerBytes>());
  two.page->clock.reset(FabricTime::from_us(3), LabTime{0});
  reader.begin_tick(LabTime{1}, FabricTime::from_us(3), FabricTime::zero());
  const std::optional<Arrival> arrival = reader.read({two.leaf, PortId{0}}, frame, LabTime{1});
  REQUIRE(arrival);
  CHECK(arrival->foreign);
  CHECK(arrival->arrival == FabricTime::from_us(3));
  CHECK(arrival->frame.size() == kPlainFrameBytes);
}

}  // namespace mrclab::netio
