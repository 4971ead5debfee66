// Entropy values of emitters that are not ours: a responder copies and reflects what it gets, whatever
// it means (MRC specification §7.5.2.1), and a trimmed packet is one by its lengths, whatever its DSCP.

#include <doctest/doctest.h>

#include "endpoint/options/profile_maker.h"
#include "endpoint/paths/ev_format.h"
#include "tests/support/attack_table.h"
#include "tests/support/bytes.h"
#include "tests/support/forgery.h"

using namespace mrclab;
using namespace mrclab::endpoint;
using namespace mrclab::test;

namespace {

using A = PacketAttack;
using F = PacketAttack::Frames;

/// BTH, METH, TSETH, RETH of WRITE_ONLY and four bytes of payload, with room for an ICRC that is
/// not checked here.
constexpr const char* kWriteOnlyFrame =
    "ca00ffff00000123 90000456 00000007 12340001 1122334455667788aabbccdd00000004 c0ffee00 "
    "00000000";
constexpr const char* kMacs = "020000000002 020000000001";
constexpr const char* kAddresses =
    "fd000000000000000000000000000001 fd000000000000000000000000000002";

/// With a carrier: outer and inner header have the label.
F srv6_frame(const std::string& label, const std::string& port) {
  const std::string first = "610" + label;  // version 6, DSCP 4, no ECN
  return from_hex(std::string(kMacs) + "86dd" + first + "005c 2940" +
                  "fd000000000000000000000000000001 5f000000e00000000000000000000000" + first +
                  "0034 1140" + kAddresses + port + "12b7 0034 0000" + kWriteOnlyFrame);
}

F ipv4_frame(const std::string& port) {
  F frame = from_hex(std::string(kMacs) + "0800 45100048 00004000 4011 0000 0a000001 0a000002" +
                     port + "12b7 0034 0000" + kWriteOnlyFrame);
  const uint16_t checksum = ipv4_checksum(&frame[kEthernetBytes]);
  frame[24] = static_cast<uint8_t>(checksum >> 8);
  frame[25] = static_cast<uint8_t>(checksum);
  return frame;
}

}  // namespace

TEST_CASE("golden packets: what a responder reflects of each emitter's entropy values") {
  struct Row {
    const char* emitter;
    F frame;
    uint32_t reflected;
  };
  for (const Row& row : {
           Row{"MRC emulator, 16 bits: plane 3 << 8 | spine 2 in the source port",
               srv6_frame("00000", "0302"), 0x0000'0302},
           Row{"the same with the value in the label as well", srv6_frame("00302", "0302"),
               0x0302'0302},
           Row{"32 bits, low half in the port: 0x00030007", srv6_frame("00003", "0007"),
               0x0003'0007},
           Row{"structured, first hop (3) in the port, second (7) in the label",
               srv6_frame("00007", "0003"), 0x0007'0003},
           Row{"a hash of all bits: 16 of the label's 20 are a part of the value",
               srv6_frame("fabcd", "d3f1"), 0xABCD'D3F1},
           Row{"all ones, which looks like one of ours on IPv4", srv6_frame("fffff", "ffff"),
               0xFFFF'FFFF},
           Row{"nothing: the carrier alone names the path", srv6_frame("00000", "0000"), 0},
           Row{"our own bits with a plane that no fabric here has", srv6_frame("000c8", "c001"),
               0x00C8'C001},
           Row{"IPv4: 16 bits, zeros for the rest", ipv4_frame("0302"), 0x0000'0302},
           Row{"IPv4 with a port out of RoCEv2's range", ipv4_frame("fffe"), 0x0000'FFFE},
       }) {
    CAPTURE(row.emitter);
    MrcPacket packet;
    CHECK(parse_mrc_frame(row.frame, packet) == ParseError::kNone);
    CHECK(packet.bth.psn == Psn{0x456});
    CHECK(packet.entropy_to_reflect().value == row.reflected);
  }
}

TEST_CASE("a host takes writes with any entropy value and reflects it") {
  const auto again_with = [](EntropyValue ev) {
    return [ev](A& a) {
      MrcFrameSpec spec = a.spec(1, Opcode::kWriteLast);
      spec.ev = ev;
      return build_frame(spec);
    };
  };
  for (const uint32_t value :
       {0x0000'0302u, 0x0007'0003u, 0xFFFF'FFFFu, 0u, 0x00C8'C001u, 0x0001'FFFFu, 0x1234'5678u}) {
    CAPTURE(value);
    check_attack(false, {"a replay with the value of somebody else",
                         1,
                         Refusal::kDuplicate,
                         {Opcode::kSack, Opcode::kAcknowledge},
                         again_with({value}),
                         [value](const MrcPacket& packet, const A&) {
                           const auto* seth = std::get_if<Seth>(&packet.extension);
                           return seth == nullptr || seth->entropy.value == value;
                         }});
  }
}

TEST_CASE("a new packet with a foreign value is placed, and says nothing of the way back") {
  PacketAttack attacked;
  attacked.run_until_idle();
  MrcFrameSpec spec = attacked.next_write();
  spec.ev = {0x0000'0302};
  const uint64_t before = attacked.stats(1).goodput_bytes();
  const F frame = build_frame(spec);
  attacked.inject(1, frame, port_of(frame));
  attacked.run_until(attacked.now() + A::rtt());
  CHECK(attacked.stats(1).goodput_bytes() == before + 64);
  CHECK(attacked.stats(1).refused_for(Refusal::kUnknownEv) == 0);
}

TEST_CASE("a trimmed packet of any DSCP is a trim: NACKed, and not one of the last hop") {
  for (const uint8_t dscp : {kDscpTrimmable, kDscpControl, uint8_t{20}, kMaxDscp}) {
    CAPTURE(dscp);
    check_attack(false,
                 {"the next write, trimmed",
                  1,
                  Refusal::kNone,
                  {Opcode::kNack},
                  [dscp](A& a) { return trimmed_by_switch(build_frame(a.next_write()), dscp); },
                  [](const MrcPacket& packet, const A&) {
                    return std::get<Neth>(packet.extension).reason ==
                           static_cast<uint8_t>(NackReason::kTrimmed);
                  }});
  }
}

TEST_CASE("DSCPs are the fabric's: what a host sends, and which trim is the last hop's") {
  TransportProfile profile = make_profile("lab", A::topology());
  profile.dscps = {10, 11, 13, 20, 22, 48};
  PacketAttack attacked(profile);
  attacked.run_until_idle();
  uint64_t seen = 0;
  for (const PacketAttack::Sent& sent : attacked.sent()) {
    MrcPacket packet;
    REQUIRE(parse_mrc_frame(sent.bytes, packet) == ParseError::kNone);
    CHECK(packet.outer.dscp() == (is_write(packet.bth.opcode) ? 11 : 48));
    CHECK(packet.inner.dscp() == packet.outer.dscp());
    ++seen;
  }
  CHECK(seen > 48);
  for (const uint8_t dscp : {uint8_t{20}, uint8_t{22}}) {
    const F frame = build_frame(attacked.next_write());
    attacked.inject(1, trimmed_by_switch(frame, static_cast<uint8_t>(dscp)), port_of(frame));
    attacked.run_until(attacked.now() + FabricTime::from_us(1));
    CHECK(std::get<Neth>(attacked.spec(0, Opcode::kNack).extension).reason ==
          static_cast<uint8_t>(dscp == 22 ? NackReason::kTrimmedLastHop : NackReason::kTrimmed));
  }
}

TEST_CASE("our own values in any format are found again, in either order of their halves") {
  for (const EvFormat format : {EvFormat::kNative, EvFormat::kPort, EvFormat::kStructured}) {
    for (const bool local : {true, false}) {
      for (uint32_t plane = 0; plane < 16; ++plane) {
        for (uint32_t place = 0; place < (local ? 1u : 128u); ++place) {
          const EntropyValue ev = ev_of({plane, local ? kT0LocalUplink : place});
          const EntropyValue wire = on_wire(format, ev);
          CHECK(from_wire(format, wire, local) == ev);
          if (format == EvFormat::kPort) {
            CHECK(wire.value == (plane << 8 | place));
          } else {
            CHECK(from_wire(format, {wire.value << 16 | wire.value >> 16}, local) == ev);
          }
        }
      }
    }
  }
  CHECK(on_wire(EvFormat::kStructured, ev_of({3, 7})).value == 0x0007'C003);
  for (const uint32_t foreign : {0x1234'5678u, 0x0001'0302u, 0xFFFF'FFFFu}) {
    CHECK(from_wire(EvFormat::kPort, {foreign}, false).value == foreign);
    CHECK(from_wire(EvFormat::kStructured, {foreign}, true).value == foreign);
  }
}
