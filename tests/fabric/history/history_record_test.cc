#include "fabric/history/history_record.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "tests/support/fabrics.h"
#include "tests/support/property.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;
using namespace mrclab::test;

namespace {

HistoryBytes sample_record() {
  MrcFrameSpec spec = random_spec(Opcode::kWriteOnly, 1, 100);
  spec.ev = {0x0003C001};
  spec.dscp = kDscpTrimmable;
  spec.ecn = kEcnCe;
  spec.bth.psn = Psn{0x456};
  spec.bth.destination_qp = {0xABCDEF};
  FramePool pool;
  const Frame frame = pool.copy(build_frame(spec));
  return history_record({FabricTime::from_ps(0x1122), PortId{0}, Direction::kEgress,
                         PacketEvent::kDropped, DropCause::kQueueFull, QueueClass::kControl,
                         frame});
}

}  // namespace

TEST_CASE("a kept record says when, where, what happened and to which packet") {
  const auto record = parse_compact(compact_bytes(sample_record(), 7), 8);
  REQUIRE(record);
  CHECK(record->t == FabricTime::from_ps(0x1122));
  CHECK(record->stream == 7);
  CHECK(record->event == PacketEvent::kDropped);
  CHECK(record->cause == DropCause::kQueueFull);
  CHECK(record->queue == QueueClass::kControl);
  CHECK(record->traffic_class == 0x13);  // DSCP 4 with CE
  CHECK(record->opcode == static_cast<uint8_t>(Opcode::kWriteOnly));
  CHECK(record->wire_length > 200);
  CHECK(record->psn == Psn{0x456});
  CHECK(record->qpn == Qpn{0xABCDEF});
  CHECK(record->ev == EntropyValue{0x0003C001});
}

TEST_CASE("a kept record tells apart hosts whose probes have the same number, and nothing else") {
  const HistoryBytes full = sample_record();
  const auto peers_with = [&full](size_t at) {
    HistoryBytes other = full;
    other[at] ^= 0x01;
    return parse_compact(compact_bytes(other, 7), 8)->peers;
  };
  const uint32_t peers = parse_compact(compact_bytes(full, 7), 8)->peers;
  CHECK(peers_with(47) != peers);  // the source's last byte
  CHECK(peers_with(63) != peers);  // the destination's
  CHECK(peers_with(31) == peers);  // the carrier's, which each switch shifts
  CHECK(peers_with(7) == peers);   // the time
}

TEST_CASE("whatever the digest takes shows in a kept record, be it in the fingerprint alone") {
  const HistoryBytes full = sample_record();
  const CompactBytes kept = compact_bytes(full, 7);
  for (size_t i = 0; i < full.size(); ++i) {
    HistoryBytes other = full;
    other[i] ^= 0x01;
    CAPTURE(i);
    CHECK(compact_bytes(other, 7) != kept);
  }
}

TEST_CASE("bytes that are no record are refused") {
  const CompactBytes good = compact_bytes(sample_record(), 7);
  CHECK(parse_compact(good, 8));
  CHECK_FALSE(parse_compact(good, 7));  // a stream that the fabric does not have
  const auto with = [&good](size_t at, uint8_t value) {
    CompactBytes bytes = good;
    bytes[at] = value;
    return parse_compact(bytes, 8);
  };
  CHECK_FALSE(with(0, 0x80));   // before time began
  CHECK_FALSE(with(12, 0x03));  // no such event
  CHECK_FALSE(with(12, 0x60));  // no such queue
  CHECK_FALSE(with(13, 0xFF));  // no such cause
  CHECK(counterexample([] {
          CompactBytes bytes;
          for (uint8_t& byte : bytes) byte = *rc::gen::arbitrary<uint8_t>();
          parse_compact(bytes, *rc::gen::arbitrary<uint32_t>());
        }) == "");
}

TEST_CASE("a file's header survives the way through bytes, and no other version does") {
  const HistoryFileHeader header{
      .streams = 512, .records = 17, .left_out = 3, .complete = FabricTime::from_us(5)};
  std::string problem;
  const auto bytes = header_bytes(header);
  CHECK(parse_history_header(bytes, problem) == header);
  for (const size_t at : {0, 7, 11, 15, 23, 40}) {
    auto broken = bytes;
    broken[at] ^= 0x80;
    CAPTURE(at);
    problem.clear();
    CHECK_FALSE(parse_history_header(broken, problem));
    CHECK_FALSE(problem.empty());
  }
}

TEST_CASE("streams are numbered through the fabric in the order of their names' list") {
  const Topology topology = octet();
  const std::vector<std::string> names = stream_names(topology);
  CHECK(names.size() == stream_count(topology));
  CHECK(names.size() == 2 * topology.all_wires().size());
  CHECK(names[0] == "h0:p0/in");
  CHECK(names[1] == "h0:p0/out");
  const uint32_t first = first_stream(topology, topology.t0(1, 1));
  CHECK(names[first] == "p1.t0-1:d0/in");
  CHECK(names[first + 2 * 3 + 1] == "p1.t0-1:d3/out");
}
