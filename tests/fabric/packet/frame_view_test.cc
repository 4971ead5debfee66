// A view of a frame's bytes has the same fields as the packet that is decoded from it.

#include "fabric/packet/frame_view.h"

#include <doctest/doctest.h>

#include <random>

#include "tests/support/sample_frames.h"

namespace mrclab {
namespace {

/// `used` has held other packets before.
void check_nothing_stays(const MrcPacket& fresh, const MrcPacket& used) {
  CHECK(used.ethernet == fresh.ethernet);
  CHECK(used.encapsulation == fresh.encapsulation);
  CHECK(used.outer == fresh.outer);
  CHECK(used.inner == fresh.inner);
  CHECK(used.udp == fresh.udp);
  CHECK(used.bth == fresh.bth);
  CHECK(used.extension == fresh.extension);
  CHECK(used.trimmed == fresh.trimmed);
  CHECK(used.cut == fresh.cut);
  CHECK(used.payload.data() == fresh.payload.data());
  CHECK(used.payload.size() == fresh.payload.size());
  CHECK(used.payload_length == fresh.payload_length);
}

void check_alike(std::span<const uint8_t> frame, ParseOptions options, MrcPacket& used) {
  FrameView view;
  MrcPacket packet;
  const ParseError error = view.open(frame, options);
  REQUIRE(error == parse_mrc_frame(frame, packet, options));
  REQUIRE(error == parse_mrc_frame(frame, used, options));
  check_nothing_stays(packet, used);
  if (error != ParseError::kNone) return;
  CHECK(view.encapsulation() == packet.encapsulation);
  CHECK(view.opcode() == packet.bth.opcode);
  CHECK(view.is_roce() == is_rc(packet.bth.opcode));
  CHECK(view.psn() == packet.bth.psn);
  CHECK(view.destination_qp() == packet.bth.destination_qp);
  CHECK(view.retransmission() == packet.bth.retransmission);
  CHECK(view.has_tseth() == packet.bth.has_tseth);
  CHECK(view.trimmed() == packet.trimmed);
  CHECK(view.payload_length() == packet.payload_length);
  CHECK(view.payload().data() == packet.payload.data());
  CHECK(view.payload().size() == packet.payload.size());
  CHECK(view.traffic_class() == packet.outer.traffic_class);
  CHECK(view.hop_limit() == packet.outer.hop_limit);
  CHECK(view.source() == packet.inner.source);
  CHECK(view.destination() == packet.inner.destination);
  CHECK(view.entropy() == packet.entropy());
  if (packet.encapsulation == Encapsulation::kSrv6) {
    CHECK(view.carrier() == packet.outer.destination);
  }
  Extension extension;
  view.read_extension(extension);
  CHECK(extension == packet.extension);
  if (const auto* write = std::get_if<WriteHeaders>(&packet.extension)) {
    CHECK(view.meth() == write->meth);
    if (write->tseth) CHECK(view.tseth() == *write->tseth);
    if (write->reth) CHECK(view.reth() == *write->reth);
  }
}

}  // namespace

TEST_CASE("a frame view says what the decoded packet says, also of odd frames") {
  std::mt19937 random(1);
  MrcPacket used;
  std::vector<Opcode> opcodes(test::kAllOpcodes.begin(), test::kAllOpcodes.end());
  opcodes.insert(opcodes.end(), test::kRcOpcodes.begin(), test::kRcOpcodes.end());
  for (const Encapsulation encapsulation :
       {Encapsulation::kSrv6, Encapsulation::kIpv6, Encapsulation::kIpv4}) {
    for (const Opcode opcode : opcodes) {
      for (uint64_t seed = 0; seed < 4; ++seed) {
        MrcFrameSpec spec = test::random_spec(opcode, seed, 30 + seed);
        spec.encapsulation = encapsulation;
        if (encapsulation == Encapsulation::kIpv4) {
          spec.inner_source = FrameView::mapped_ipv4({10, 0, 0, 1});
          spec.inner_destination = FrameView::mapped_ipv4({10, 0, 0, 2});
        }
        const std::vector<uint8_t> frame = test::build_frame(spec);
        check_alike(frame, {}, used);
        check_alike(test::trim(frame, frame.size() - 8), {}, used);
        for (size_t size = 0; size < frame.size(); ++size) {
          check_alike(std::span(frame).first(size), {.allow_cut = true}, used);
        }
        for (int i = 0; i < 200; ++i) {
          std::vector<uint8_t> odd = frame;
          odd[random() % odd.size()] = static_cast<uint8_t>(random());
          check_alike(odd, {.allow_cut = (i % 2) != 0}, used);
        }
      }
    }
  }
}

}  // namespace mrclab
