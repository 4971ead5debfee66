#include "netio/runtime/egress_queue.h"

#include <doctest/doctest.h>

#include "fabric/packet/headers.h"
#include "fabric/packet/trailer.h"
#include "tests/netio/two_processes.h"
#include "tests/support/mrc_frames.h"
#include "tests/support/sample_frames.h"

namespace mrclab::netio {
namespace {

constexpr uint32_t kIfindex = 5;

/// What h0 sends to t0.
struct HostEgress : TwoProcesses {
  explicit HostEgress(uint32_t leaf_process = 1) : processes{0, {0, leaf_process}} {
    line = queue.add_line();
  }

  void put(int64_t start_ns, int64_t end_ns, DropCause lost = DropCause::kNone) {
    std::vector<uint8_t> bytes = ipv6_frame();
    bytes.resize(kPlainFrameBytes);
    queue.queue_transmission(line, host_port(), kIfindex,
                             {PortId{0}, frames.copy(bytes), FabricTime::from_ns(start_ns),
                              FabricTime::from_ns(end_ns), FabricTime::from_ns(500), lost});
  }
  /// The trailers of what is due, in order; they leave.
  std::vector<TimeTrailer> leave(FabricTime clock = FabricTime::zero()) {
    std::vector<TimeTrailer> trailers;
    for (EgressQueue::Outgoing& outgoing : queue.due(line, clock)) {
      CHECK(outgoing.ifindex == kIfindex);
      const std::span<const uint8_t> bytes = outgoing.pieces().head;
      const std::optional<size_t> offset = trailer_offset(bytes);
      REQUIRE(offset);
      CHECK(bytes.size() == *offset + kTrailerBytes);
      const std::optional<TimeTrailer> trailer = parse_trailer(bytes.subspan(*offset));
      REQUIRE(trailer);
      trailers.push_back(*trailer);
    }
    queue.clear(line);
    return trailers;
  }
  uint64_t published() const { return page->sent[host_port().out.value].load(); }
  uint64_t announced() const { return page->slot(0).frames_sent.load(); }

  ProcessMap processes;
  FramePool frames;
  EgressQueue queue{*page, topology, processes, 3, frames};
  size_t line = 0;
};

}  // namespace

TEST_CASE(
    "frames leave at once, in order, each with the number of its wire and its times behind it") {
  HostEgress of;
  of.put(10, 20);
  of.put(20, 30);
  const std::vector<TimeTrailer> trailers = of.leave();
  REQUIRE(trailers.size() == 2);
  const TimeTrailer expected{of.page->lab,
                             of.host_port().out,
                             3,
                             kPlainFrameBytes,
                             1,
                             FabricTime::from_ns(20),
                             FabricTime::from_ns(30),
                             FabricTime::from_ns(500),
                             DropCause::kNone};
  CHECK(trailers[0].sequence == 0);
  CHECK(trailers[1] == expected);
  CHECK(of.leave().empty());
  CHECK(of.queue.frames() == 2);
  CHECK(of.frames.in_use() == 0);
}

TEST_CASE("the lab is told before frames leave, their receivers are told afterwards") {
  HostEgress of;
  of.put(10, 20);
  of.put(20, 30);
  CHECK(of.announced() == 0);
  of.queue.announce();
  CHECK(of.announced() == 2);
  CHECK(of.leave().size() == 2);
  CHECK(of.published() == 0);
  of.queue.publish();
  CHECK(of.published() == 2);
}

TEST_CASE("a frame for a neighbour that is not ours waits until its last bit has left") {
  HostEgress of(kNoProcess);
  of.put(10, 20);
  of.put(20, 30);
  CHECK(of.leave(FabricTime::from_ns(20) - kPicosecond).empty());
  REQUIRE(of.leave(FabricTime::from_ns(20)).size() == 1);
  const std::vector<TimeTrailer> second = of.leave(FabricTime::from_ns(40));
  REQUIRE(second.size() == 1);
  CHECK(second[0].sequence == 1);
  of.queue.announce();
  CHECK(of.announced() == 0);  // no process takes it
  of.queue.publish();
  CHECK(of.published() == 2);
}

TEST_CASE("what a frame was lent is read as it leaves, at once for a neighbour that is not ours") {
  for (const bool ours : {true, false}) {
    CAPTURE(ours);
    HostEgress of(ours ? 1 : kNoProcess);
    const MrcFrameSpec spec = mrclab::test::random_spec(Opcode::kWriteOnly, 3, 64);
    std::vector<uint8_t> memory(64, 1);
    Frame frame = of.frames.make(mrc_header_size(spec));
    write_mrc_headers(spec, frame.writable_bytes());
    frame.set_modelled_size({mrc_frame_size(spec)});
    frame.lend({memory.data(), 64, true});
    of.queue.queue_transmission(
        of.line, of.host_port(), kIfindex,
        {PortId{0}, std::move(frame), FabricTime::from_ns(10), FabricTime::from_ns(20),
         FabricTime::from_ns(500), DropCause::kNone});
    memory.assign(64, 2);
    const std::span<EgressQueue::Outgoing> due = of.queue.due(of.line, FabricTime::from_ns(20));
    REQUIRE(due.size() == 1);
    const FramePieces pieces = due[0].pieces();
    std::vector<uint8_t> bytes;
    for (const auto& piece : {pieces.head, pieces.payload, pieces.tail}) {
      bytes.insert(bytes.end(), piece.begin(), piece.end());
    }
    const std::optional<size_t> end = trailer_offset(bytes);
    REQUIRE(end == mrc_frame_size(spec));
    CHECK(parse_trailer(std::span(bytes).subspan(*end))->modelled_size == mrc_frame_size(spec));
    CHECK(icrc_ok(std::span(bytes).first(*end)));
    CHECK(bytes[mrc_header_size(spec)] == (ours ? 2 : 1));
  }
}

TEST_CASE("a transmission that is known to be lost leaves as a void frame of the same number") {
  HostEgress of;
  of.put(10, 20, DropCause::kWireDown);
  of.put(20, 30);
  const std::span<EgressQueue::Outgoing> due = of.queue.due(of.line, FabricTime::zero());
  REQUIRE(due.size() == 2);
  CHECK(due[0].frame.bytes()[12] == kVoidEthertype >> 8);
  const std::vector<TimeTrailer> trailers = of.leave();
  REQUIRE(trailers.size() == 2);
  CHECK(trailers[0].lost == DropCause::kWireDown);
  CHECK(trailers[0].modelled_size == kPlainFrameBytes);
  CHECK(trailers[0].sequence == 0);
  CHECK(trailers[1].sequence == 1);
}

TEST_CASE("a successor goes on with the numbers and counts of its predecessor") {
  HostEgress of;
  of.page->sent[of.host_port().out.value].store(5);
  of.page->slot(0).frames_sent.store(9);
  of.queue.resume(of.host);
  of.put(10, 20);
  const std::vector<TimeTrailer> trailers = of.leave();
  REQUIRE(trailers.size() == 1);
  CHECK(trailers[0].sequence == 5);
  of.queue.announce();
  CHECK(of.announced() == 10);
  CHECK(of.queue.take_sequence(of.host_port().out) == 6);
}

}  // namespace mrclab::netio
