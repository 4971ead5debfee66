// Packet formats, properties: what is built reads back, and no bytes at all do harm.

#include <doctest/doctest.h>

#include "fabric/packet/headers.h"
#include "tests/support/mrc_frames.h"
#include "tests/support/property.h"
#include "tests/support/sample_frames.h"

using namespace mrclab;
using namespace mrclab::test;

namespace {

std::vector<Opcode> opcodes_of_both() {
  std::vector<Opcode> all(kAllOpcodes.begin(), kAllOpcodes.end());
  all.insert(all.end(), kRcOpcodes.begin(), kRcOpcodes.end());
  return all;
}

Opcode any_opcode() { return *rc::gen::elementOf(opcodes_of_both()); }

/// Any frame with any payload up to the production PMTU.
MrcFrameSpec any_spec() {
  return random_spec(any_opcode(), *rc::gen::arbitrary<uint64_t>(),
                     *rc::gen::inRange<size_t>(0, 4097));
}

}  // namespace

TEST_CASE("every frame that can be built reads back as it was meant") {
  CHECK(counterexample([] {
          const MrcFrameSpec spec = any_spec();
          const std::vector<uint8_t> frame = build_frame(spec);
          MrcPacket packet;
          RC_ASSERT(parse_mrc_frame(frame, packet) == ParseError::kNone);
          Bth expected = spec.bth;
          expected.pad = static_cast<uint8_t>((4 - spec.payload_length % 4) % 4);
          const auto* write = std::get_if<WriteHeaders>(&spec.extension);
          expected.has_tseth = write != nullptr && write->tseth.has_value();
          RC_ASSERT(packet.bth == expected);
          RC_ASSERT(packet.extension == spec.extension);
          RC_ASSERT(packet.ethernet.source == spec.source_mac);
          RC_ASSERT(packet.ethernet.destination == spec.destination_mac);
          RC_ASSERT(packet.outer.source == spec.outer_source);
          RC_ASSERT(packet.outer.destination == spec.carrier);
          RC_ASSERT(packet.inner.source == spec.inner_source);
          RC_ASSERT(packet.inner.destination == spec.inner_destination);
          RC_ASSERT(packet.outer.dscp() == spec.dscp);
          RC_ASSERT(packet.outer.ecn() == spec.ecn);
          RC_ASSERT(packet.outer.hop_limit == spec.hop_limit);
          RC_ASSERT(packet.entropy() == spec.ev);
          RC_ASSERT(packet.payload_length == spec.payload_length);
          RC_ASSERT(packet.payload.size() == spec.payload_length);
          RC_ASSERT(icrc_ok(frame));
        }) == "");
}

TEST_CASE("any change behind the masked fields breaks the ICRC") {
  CHECK(counterexample([] {
          std::vector<uint8_t> frame = build_frame(any_spec());
          // From the inner source address on, but not the UDP checksum or BTH byte 4.
          const size_t at = *rc::gen::inRange(kInnerOffset + 8, frame.size());
          RC_PRE(at != kUdpOffset + 6 && at != kUdpOffset + 7 && at != kBthOffset + 4);
          frame[at] = static_cast<uint8_t>(frame[at] ^ *rc::gen::inRange(1, 256));
          RC_ASSERT(!icrc_ok(frame));
        }) == "");
}

TEST_CASE("a truncated frame is refused at every length, or read up to what is there") {
  for (const Opcode opcode : opcodes_of_both()) {
    const std::vector<uint8_t> whole = build_frame(random_spec(opcode, 3, 40));
    for (size_t size = 0; size < whole.size(); ++size) {
      const std::vector<uint8_t> frame(whole.begin(), whole.begin() + size);
      MrcPacket packet;
      CHECK(parse_mrc_frame(frame, packet) != ParseError::kNone);
      CHECK_FALSE(icrc_ok(frame));
      if (parse_mrc_frame(frame, packet, {.allow_cut = true}) != ParseError::kNone) continue;
      CHECK(packet.cut);
      CHECK(packet.payload_length == (has_payload(opcode) ? 40u : 0u));
      CHECK(packet.payload.size() <= packet.payload_length);
    }
  }
}

TEST_CASE("any bytes at all are parsed without harm") {
  CHECK(counterexample(
            [] {
              const auto bytes = *rc::gen::arbitrary<std::vector<uint8_t>>();
              MrcPacket packet;
              const ParseError error =
                  parse_mrc_frame(bytes, packet, {*rc::gen::arbitrary<bool>()});
              RC_ASSERT(name_of(error) != "unknown");
              RC_ASSERT((!parse_ipv6(bytes) || bytes.size() >= kIpv6Bytes));
              icrc_ok(bytes);
            },
            2000, 200) == "");
}

TEST_CASE("a frame with any bytes changed is parsed without harm and keeps spans inside it") {
  CHECK(counterexample(
            [] {
              std::vector<uint8_t> frame = build_frame(random_spec(
                  any_opcode(), *rc::gen::arbitrary<uint64_t>(), *rc::gen::inRange<size_t>(0, 64)));
              for (int changes = *rc::gen::inRange(1, 5); changes > 0; --changes) {
                frame[*rc::gen::inRange<size_t>(0, frame.size())] = *rc::gen::arbitrary<uint8_t>();
              }
              frame.resize(*rc::gen::inRange<size_t>(0, frame.size() + 8));
              MrcPacket packet;
              icrc_ok(frame);
              if (parse_mrc_frame(frame, packet, {true}) != ParseError::kNone) return;
              RC_ASSERT((packet.payload.empty() || (packet.payload.data() >= frame.data() &&
                                                    packet.payload.data() + packet.payload.size() <=
                                                        frame.data() + frame.size())));
              RC_ASSERT(packet.payload.size() <= packet.payload_length);
            },
            5000) == "");
}
