#include "fabric/history/record_watch.h"
#include "fabric/topology/build_topology.h"

#include <doctest/doctest.h>

#include "fabric/packet/headers.h"
#include "fabric/topology/path.h"
#include "tests/support/mrc_frames.h"

using namespace mrclab;
using namespace mrclab::netio;

namespace {

constexpr Qpn kLocal{0x111};
constexpr Qpn kPeer{0x222};

/// Two hosts on one T0; h0's queue pair 0x111 sends to h1's 0x222.
struct RecordedWires {
  Topology topology = build_topology({.name = "two", .t1 = 0, .hosts_per_t0 = 2});
  FramePool frames;
  std::atomic<uint64_t> matches{99};

  Frame packet(uint32_t from, uint32_t to, Qpn destination) {
    MrcFrameSpec spec;
    spec.inner_source = host_address(topology, from);
    spec.inner_destination = host_address(topology, to);
    spec.ev = ev_of({0, kT0LocalUplink});
    spec.bth.opcode = Opcode::kWriteMiddle;
    spec.bth.destination_qp = destination;
    spec.bth.psn = Psn{42};
    spec.extension = WriteHeaders{.meth = {}, .tseth = {}, .reth = Reth{}, .immediate = {}};
    spec.payload_length = 64;
    Frame frame = frames.make(mrc_frame_size(spec));
    write_mrc_headers(spec, frame.writable_bytes());
    finish_mrc_frame(frame.writable_bytes());
    return frame;
  }

  PacketRecord record(const Frame& frame, Direction direction) const {
    return {FabricTime::from_us(5), PortId{0},         direction, PacketEvent::kPassed,
            DropCause::kNone,       QueueClass::kNone, frame};
  }
};

}  // namespace

TEST_CASE("a queue pair's records are what it gets and what it sends, at its own host") {
  RecordedWires wires;
  RecordFilter filter;
  filter.node = wires.topology.host(0);
  filter.qp = {kLocal, kPeer, host_address(wires.topology, 1)};
  RecordWatch watch(wires.topology, filter, wires.matches);
  CHECK(wires.matches == 0);
  struct Row {
    uint32_t from, to;
    Qpn destination;
    Direction direction;
    uint32_t seen_at;
    bool counts;
  };
  for (const Row& row : {Row{1, 0, kLocal, Direction::kIngress, 0, true},
                         Row{0, 1, kPeer, Direction::kEgress, 0, true},
                         Row{0, 1, kPeer, Direction::kIngress, 1, false},  // at the peer
                         Row{0, 1, kLocal, Direction::kEgress, 0, false},  // another one's number
                         Row{1, 0, kPeer, Direction::kIngress, 0, false}}) {
    const Frame frame = wires.packet(row.from, row.to, row.destination);
    const uint64_t before = wires.matches;
    watch.packet(wires.topology.host(row.seen_at), wires.record(frame, row.direction));
    CHECK(wires.matches - before == uint64_t{row.counts});
  }
  EventRecord event{FabricTime::from_us(6), "loss_detected", {}, kLocal, {}, Psn{1}, "rack", {}};
  watch.event(wires.topology.host(0), event);
  event.qp = kPeer;
  watch.event(wires.topology.host(0), event);
  CHECK(wires.matches == 3);
  CHECK(watch.take_records().at("records").size() == 3);
  CHECK(watch.take_records().at("records").empty());
}

TEST_CASE("a record says what the packet was, also if it was none of ours") {
  RecordedWires wires;
  RecordWatch watch(wires.topology, {}, wires.matches);
  const Frame frame = wires.packet(0, 1, kPeer);
  watch.packet(wires.topology.host(0), wires.record(frame, Direction::kEgress));
  Frame other = wires.frames.make(60);
  std::fill(other.writable_bytes().begin(), other.writable_bytes().end(), uint8_t{0});
  watch.packet(wires.topology.host(1), wires.record(other, Direction::kIngress));
  const nlohmann::json records = watch.take_records().at("records");
  REQUIRE(records.size() == 2);
  CHECK(records[0].at("packet") == "write_middle");
  CHECK(records[0].at("path") == "p0/-");
  CHECK(records[0].at("from") == "h0");
  CHECK(records[0].at("to") == "h1");
  CHECK(records[0].at("psn") == 42);
  CHECK(records[1].at("packet") == "other");
  CHECK_FALSE(records[1].contains("qp"));
}

TEST_CASE("only so many records are kept, all are counted") {
  RecordedWires wires;
  RecordWatch watch(wires.topology, {}, wires.matches);
  const Frame frame = wires.packet(0, 1, kPeer);
  for (size_t i = 0; i < RecordWatch::kMaxRecords + 7; ++i) {
    watch.packet(wires.topology.host(0), wires.record(frame, Direction::kEgress));
  }
  CHECK(wires.matches == RecordWatch::kMaxRecords + 7);
  const nlohmann::json taken = watch.take_records();
  CHECK(taken.at("records").size() == RecordWatch::kMaxRecords);
  CHECK(taken.at("left_out") == 7);
}
