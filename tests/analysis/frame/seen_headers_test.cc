#include "analysis/frame/seen_headers.h"

#include <doctest/doctest.h>

#include "analysis/capture/cut_frame.h"
#include "fabric/packet/trailer.h"
#include "tests/support/sample_frames.h"

namespace mrclab::analysis {
namespace {

using AnswerKind = SeenAnswer::Kind;

MrcFrameSpec with_extension(Opcode opcode, Extension extension, uint32_t psn = 500) {
  MrcFrameSpec spec = test::random_spec(opcode, 7);
  spec.bth.psn = Psn{psn};
  spec.extension = std::move(extension);
  return spec;
}

SeenAnswer answer_of(const MrcFrameSpec& spec) {
  const std::vector<uint8_t> frame = test::build_frame(spec);
  CutFrame kept;
  REQUIRE(kept.open(frame) == ParseError::kNone);
  return answer_in(kept.view());
}

TEST_CASE("the headers of a frame are those that the parser decodes, whatever the opcode") {
  for (const Opcode opcode : test::kAllOpcodes) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      CAPTURE(static_cast<int>(opcode));
      CAPTURE(seed);
      const std::vector<uint8_t> frame = test::build_frame(test::random_spec(opcode, seed, 300));
      CutFrame kept;
      REQUIRE(kept.open(frame) == ParseError::kNone);
      SeenHeaders seen;
      read_headers(kept.view(), seen);
      MrcPacket packet;
      REQUIRE(parse_mrc_frame(frame, packet) == ParseError::kNone);
      CHECK(seen.ev == packet.entropy());
      CHECK(seen.psn == packet.bth.psn);
      CHECK(seen.payload == packet.payload_length);
      CHECK(seen.opcode == opcode);
      CHECK(seen.traffic_class == packet.outer.traffic_class);
      CHECK(seen.dscp() == packet.outer.dscp());
      CHECK(seen.marked() == (packet.outer.ecn() == kEcnCe));
      CHECK(seen.retransmission == packet.bth.retransmission);
      const auto* write = std::get_if<WriteHeaders>(&packet.extension);
      const bool timed = write != nullptr && write->tseth;
      CHECK(seen.timed == timed);
      CHECK(seen.timestamp == (timed ? write->tseth->tx_timestamp : 0));
      CHECK(seen.coarse_timestamp == (timed && write->tseth->one_microsecond_units));
    }
  }
}

TEST_CASE("a trimmed frame says how long its payload was") {
  const std::vector<uint8_t> frame =
      test::trim(test::build_frame(test::random_spec(Opcode::kWriteOnly, 3, 700)));
  CutFrame kept;
  REQUIRE(kept.open(frame) == ParseError::kNone);
  SeenHeaders seen;
  read_headers(kept.view(), seen);
  CHECK(seen.trimmed);
  CHECK(seen.payload == 700);
}

TEST_CASE(
    "a SACK names the packet that it answers by its distance, a probe's answer by nothing but its "
    "id") {
  test::Numbers n{5};
  Seth seth = test::random_seth(n);
  seth.probe_response = false;
  seth.cumulative = Psn{100};
  seth.psn_offset_or_probe_id = static_cast<uint16_t>(-3);
  const SeenAnswer sack = answer_of(with_extension(Opcode::kSack, seth));
  CHECK(sack.kind == AnswerKind::kSack);
  CHECK_FALSE(sack.probe);
  CHECK(sack.trigger == Psn{97});
  CHECK(sack.cumulative == Psn{100});
  CHECK(sack.ev == seth.entropy);
  CHECK(sack.bitmap == seth.bitmap);
  CHECK(sack.bitmap_offset == seth.sack_offset);
  CHECK(sack.out_of_order == seth.out_of_order);
  CHECK(sack.timestamp == seth.tx_timestamp);
  CHECK(sack.near_id == seth.spdcid);
  CHECK(sack.far_id == seth.dpdcid);
  CHECK(sack.mark == seth.mark);
  CHECK(sack.probe_id == 0);
  seth.probe_response = true;
  const SeenAnswer probed = answer_of(with_extension(Opcode::kSack, seth));
  CHECK(probed.probe);
  CHECK(probed.trigger == Psn{100});
  CHECK(probed.probe_id == seth.psn_offset_or_probe_id);
}

TEST_CASE("a NACK names its packet and the reason") {
  Neth neth;
  neth.entropy = {0xABCD'0001};
  neth.psn = Psn{77};
  neth.reason = 3;
  const SeenAnswer nack = answer_of(with_extension(Opcode::kNack, neth));
  CHECK(nack.kind == AnswerKind::kNack);
  CHECK(nack.trigger == Psn{77});
  CHECK(nack.nack_reason == 3);
  CHECK(nack.ev == neth.entropy);
}

TEST_CASE(
    "an acknowledgement covers its PSN, a NAK of RC and \"receiver not ready\" what is before it") {
  struct Row {
    Opcode opcode;
    uint8_t syndrome;
    AnswerKind kind;
    uint32_t covered;
  };
  for (const Row& row : {Row{Opcode::kAcknowledge, 0x1F, AnswerKind::kAck, 500},
                         Row{Opcode::kAcknowledge, 0x60, AnswerKind::kNone, 500},
                         Row{Opcode::kRcAcknowledge, 0x1F, AnswerKind::kRcAck, 500},
                         Row{Opcode::kRcAcknowledge, 0x60, AnswerKind::kRcSequenceNak, 499},
                         Row{Opcode::kRcAcknowledge, 0x63, AnswerKind::kRcNak, 499},
                         Row{Opcode::kRcAcknowledge, 0x2E, AnswerKind::kRcNotReady, 499}}) {
    CAPTURE(static_cast<int>(row.syndrome));
    const MrcFrameSpec spec = with_extension(row.opcode, Aeth{row.syndrome, 9});
    const SeenAnswer answer = answer_of(spec);
    CHECK(answer.kind == row.kind);
    CHECK(answer.cumulative == Psn{row.covered});
    CHECK(answer.is_rc() == (row.opcode == Opcode::kRcAcknowledge));
    CHECK(answer.is_rc_nak() == (row.covered == 499));
    if (answer.is_rc()) CHECK(answer.trigger == answer.cumulative);
  }
}

TEST_CASE("probes of queue pairs and of paths are probes, a port status is none") {
  Peth peth;
  peth.probe_id = 41;
  CHECK(answer_of(with_extension(Opcode::kProbeRequest, peth)).probe);
  CHECK(answer_of(with_extension(Opcode::kProbeRequest, peth)).probe_id == 41);
  for (const EndpointOp op : {EndpointOp::kEvProbe, EndpointOp::kPortStatusUpdate}) {
    Erth erth;
    erth.op = op;
    Eeth eeth;
    eeth.op = op;
    const bool probe = op == EndpointOp::kEvProbe;
    CHECK(answer_of(with_extension(Opcode::kEndpointRequest, erth)).probe == probe);
    CHECK(answer_of(with_extension(Opcode::kEndpointResponse, eeth)).probe == probe);
    CHECK(answer_of(with_extension(Opcode::kEndpointRequest, erth)).kind == AnswerKind::kNone);
  }
}

TEST_CASE("a void frame gives the lost frame's headers, however the capture cut it") {
  FramePool pool;
  const std::vector<uint8_t> lost =
      test::build_frame(test::random_spec(Opcode::kWriteOnly, 9, 700));
  const Frame voided = make_void_frame(pool, pool.copy(lost));
  const std::span<const uint8_t> all = voided.bytes();
  for (size_t size = 0; size <= all.size(); ++size) {
    const auto inner = without_void(all.first(size));
    CAPTURE(size);
    if (size < kEthernetBytes + 2) {
      CHECK(inner.size() == size);
      continue;
    }
    REQUIRE(inner.size() == size - kEthernetBytes - 2);
    CHECK(std::equal(inner.begin(), inner.end(), lost.begin()));
  }
  CHECK(without_void(lost).data() == lost.data());
  CutFrame kept;
  REQUIRE(kept.open(without_void(all)) == ParseError::kNone);
  SeenHeaders seen;
  read_headers(kept.view(), seen);
  CHECK(seen.payload == 700);
}

}  // namespace
}  // namespace mrclab::analysis
